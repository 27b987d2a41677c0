//! The commands `copilot …`. [`server`] asks the language server something, [`turns`] has it work, [`open`] is how both get at
//! it, `host` is about the other program.

mod host;
mod open;
mod server;
mod turns;

use super::DoorStartContext;
use crate::cli::args::copilot::{CopilotCommand, CopilotCommandArgs, CopilotStatus};
use crate::cli::reply::Reply;
use crate::tools::error::ToolError;

/// Runs one of the words of `copilot`.
pub(crate) async fn run(
    copilot: CopilotCommandArgs,
    start: DoorStartContext<'_>,
) -> Result<Reply, ToolError> {
    match copilot.command.unwrap_or(CopilotCommand::Status(CopilotStatus::default())) {
        CopilotCommand::Status(arguments) => server::status(arguments, start).await,
        CopilotCommand::Tools(arguments) => server::tools(arguments, start).await,
        CopilotCommand::Agent(arguments) => turns::agent(arguments, start).await,
        CopilotCommand::Chat(arguments) => turns::chat(arguments, start).await,
        CopilotCommand::Undo(arguments) => server::undo(arguments, start).await,
        CopilotCommand::SignIn => server::sign_in(start).await,
        CopilotCommand::Host(arguments) => host::run(arguments, start).await,
    }
}
