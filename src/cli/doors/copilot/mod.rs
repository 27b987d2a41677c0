//! `lsp-tools copilot …`: one file per word.

mod host;
mod server;

use super::Start;
use crate::cli::args::copilot::{Copilot, CopilotCommand};
use crate::cli::reply::Reply;
use crate::tools::error::ToolError;

/// Runs one of the words of `copilot`.
pub async fn run(copilot: Copilot, start: Start<'_>) -> Result<Reply, ToolError> {
    match copilot.command {
        CopilotCommand::Status(arguments) => server::status(arguments, start).await,
        CopilotCommand::Host(arguments) => host::run(arguments, start).await,
    }
}
