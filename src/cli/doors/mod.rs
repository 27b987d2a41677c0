//! Doors that stay open: `mcp`, `lsp` and the daemon. They speak their protocol on stdin and stdout or a socket until they are
//! told to stop; nothing else is written to stdout.

pub mod daemon;
pub mod lsp;
pub mod mcp;

use std::path::PathBuf;

use super::args::{Command, Global};
use super::console::Console;
use super::exit::Status;
use super::logging::Log;
use crate::tools::error::{ErrorCode, ToolError};

/// What a door starts from.
pub struct Start<'a> {
    /// What holds for every command.
    pub global: Global,
    /// The folder it was started in.
    pub cwd: PathBuf,
    /// The log, if one is written.
    pub log: Option<Log>,
    /// What the streams look like.
    pub console: &'a Console,
}

/// Whether `command` opens a door that stays open.
pub fn stays_open(command: &Command) -> bool {
    match command {
        Command::Mcp(mcp) => mcp.mounted.is_none(),
        Command::Lsp(_) => true,
        _ => false,
    }
}

/// Opens the door that `command` names, and returns when it is closed.
pub async fn open(command: Command, start: Start<'_>) -> Result<Status, ToolError> {
    match command {
        Command::Mcp(mcp) => mcp::serve(mcp.serve, start).await,
        Command::Lsp(lsp) => lsp::serve(lsp, start).await,
        _ => Err(ToolError::new(ErrorCode::Internal, "this command opens no door")),
    }
}
