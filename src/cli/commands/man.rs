//! The command `man`.

use std::path::Path;

use clap::CommandFactory;

use super::Reply;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::cli::args::{Cli, ManPageArgs};
use crate::cli::exit::CliExitStatus;
use crate::cli::render::terminal::escape;

/// Prints the manual page, or writes one page per command to a folder.
pub(super) fn run(arguments: &ManPageArgs) -> Result<Reply, ToolError> {
    let (out, lines) = match &arguments.folder {
        None => (page()?, Vec::new()),
        Some(folder) => {
            write(folder)?;
            let folder = folder.to_string_lossy();
            (String::new(), vec![format!("manual pages written to {}", escape::line(&folder))])
        }
    };
    Ok(Reply { out, lines, status: CliExitStatus::Answered })
}

fn page() -> Result<String, ToolError> {
    let mut page = Vec::new();
    let made = clap_mangen::Man::new(Cli::command()).render(&mut page).map_err(|error| error.to_string());
    made.and_then(|()| String::from_utf8(page).map_err(|error| error.to_string())).map_err(|error| {
        ToolError::new(ErrorCode::Internal, format!("the manual page cannot be generated: {error}"))
    })
}

fn write(folder: &Path) -> Result<(), ToolError> {
    std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(Cli::command(), folder)).map_err(
        |error| {
            let error = format!("the manual pages cannot be written to {}: {error}", folder.display());
            ToolError::new(ErrorCode::InvalidArgs, error).with_hint("give a writable folder")
        },
    )
}
