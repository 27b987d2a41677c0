//! The command `completions`, which prints the completion script of a shell.

use clap::CommandFactory;

use crate::analysis::error::{ErrorCode, ToolError};
use crate::cli::args::{Cli, ShellCompletionsArgs};
use crate::cli::commands::Reply;
use crate::cli::exit::CliExitStatus;

/// Prints the completion script of a shell.
pub(crate) fn run(arguments: &ShellCompletionsArgs) -> Result<Reply, ToolError> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "lsp-tools", &mut script);
    let out = String::from_utf8(script)
        .map_err(|error| ToolError::new(ErrorCode::Internal, format!("the script is not UTF-8: {error}")))?;
    Ok(Reply { out, lines: Vec::new(), status: CliExitStatus::Answered })
}
