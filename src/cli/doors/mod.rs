//! Doors that stay open: `mcp`, `lsp`, the daemon and `copilot`. All but the last speak their protocol on stdin and stdout or a
//! socket until they are told to stop, and write nothing else to stdout; `copilot` speaks to somebody else's program and tells
//! the terminal about it. The other words of `daemon` are here too: they need no runtime.

pub(super) mod copilot;
pub(super) mod daemon;
pub(super) mod lsp;
pub(super) mod mcp;

use std::path::{Path, PathBuf};

use super::args::doors::DaemonCommand;
use super::args::{Cli, CliCommand, GlobalArgs};
use super::commands::{self, Reply};
use super::console::Console;
use super::exit::CliExitStatus;
use super::logging::{self, TracingLog};
use crate::bridges::daemon::preamble::{Preamble, new_session};
use crate::config::Folders;
use crate::runtime::RuntimeOptions;
use crate::tools::error::{ErrorCode, ToolError};

/// What a door starts from.
pub(super) struct DoorStartContext<'a> {
    /// What holds for every command.
    pub(crate) global: GlobalArgs,
    /// The folder it was started in.
    pub(crate) cwd: PathBuf,
    /// The log, if one is written.
    pub(crate) log: Option<TracingLog>,
    /// What the streams look like.
    pub(crate) console: &'a Console,
}

/// How the workspace is opened for a command typed in `cwd`.
pub(super) fn options(global: &GlobalArgs, cwd: &Path) -> RuntimeOptions {
    RuntimeOptions {
        workspace: global.workspace.clone(),
        cwd: cwd.to_owned(),
        timeout: global.timeout,
        install_missing: global.install,
        trace: global.trace.clone(),
        ..RuntimeOptions::default()
    }
}

/// The name of a session of its own: what is kept for one (todo lists, what was agreed to) is nobody else's.
///
/// # Errors
/// When the system gives no random numbers.
fn own_session() -> Result<String, ToolError> {
    new_session().map_err(|error| {
        ToolError::new(ErrorCode::Internal, format!("the system gives no random numbers: {error}"))
    })
}

/// Whether `command` opens a door that stays open.
pub(super) fn is_door_command(command: &CliCommand) -> bool {
    match command {
        CliCommand::Mcp(mcp) => mcp.mounted.is_none(),
        CliCommand::Copilot(copilot) => !copilot.is_undo(),
        CliCommand::Lsp(_) | CliCommand::Daemon(_) | CliCommand::View(_) => true,
        _ => false,
    }
}

/// How `command` goes through the daemon, for doors that do: the first line that the daemon is told.
pub(super) fn daemon_preamble(command: &CliCommand) -> Option<Preamble> {
    match command {
        CliCommand::Mcp(mcp) => mcp::preamble(&mcp.serve),
        CliCommand::Lsp(_) => Some(lsp::preamble()),
        _ => None,
    }
}

/// The name of the log that `cli` writes: the daemon has one of its own.
pub(super) fn log_name(cli: &Cli, folders: &Folders) -> String {
    match &cli.command {
        CliCommand::Daemon(DaemonCommand::Run) => daemon::log_name(&cli.global, folders),
        _ => None,
    }
    .unwrap_or_else(|| logging::USUAL_NAME.to_owned())
}

/// The reply of a door that is closed again.
pub(super) fn closed_reply(status: CliExitStatus) -> Reply {
    Reply { out: String::new(), lines: Vec::new(), status }
}

/// Opens the door that `command` names in this process, and returns when it is closed.
pub(super) async fn open(command: CliCommand, start: DoorStartContext<'_>) -> Result<Reply, ToolError> {
    match command {
        CliCommand::Mcp(mcp) => mcp::serve(mcp.serve, start).await.map(closed_reply),
        CliCommand::Copilot(copilot) => copilot::run(copilot, start).await,
        CliCommand::Lsp(lsp) => lsp::serve(lsp, start).await.map(closed_reply),
        CliCommand::Daemon(DaemonCommand::Run) => daemon::run(start).await.map(closed_reply),
        CliCommand::View(arguments) => commands::view::run(arguments, start).await,
        CliCommand::Daemon(arguments) => commands::daemon::run(arguments, start).await,
        _ => Err(ToolError::new(ErrorCode::Internal, "this command opens no door")),
    }
}
