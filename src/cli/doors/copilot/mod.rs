//! The commands `copilot …`.
//!
//! [`server`] queries the language server, [`turns`] runs turns, `host` uses the other program,
//! [`open`] opens the workspace and our tools for all of them.

mod host;
mod open;
mod server;
mod turns;

use super::DoorStartContext;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::cli::args::copilot::{CopilotCommand, CopilotCommandArgs, CopilotStatus};
use crate::cli::reply::Reply;

/// Runs a subcommand of `copilot`.
pub(crate) async fn run(
    copilot: CopilotCommandArgs,
    start: DoorStartContext<'_>,
) -> Result<Reply, ToolError> {
    match copilot.command.unwrap_or(CopilotCommand::Status(CopilotStatus::default())) {
        CopilotCommand::Status(arguments) => server::status(arguments, start).await,
        CopilotCommand::Tools(arguments) => server::tools(arguments, start).await,
        CopilotCommand::Agent(arguments) => turns::agent(arguments, start).await,
        CopilotCommand::Chat(arguments) => turns::chat(arguments, start).await,
        CopilotCommand::Undo(_) => Err(ToolError::new(ErrorCode::Internal, "this command opens no door")),
        CopilotCommand::SignIn => server::sign_in(start).await,
        CopilotCommand::Host(arguments) => host::run(arguments, start).await,
    }
}
