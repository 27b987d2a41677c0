//! Long-lived doors: `mcp`, `lsp`, the daemon and `copilot`.
//!
//! All but the last speak their protocol on stdin and stdout or a socket until they are stopped,
//! and write nothing else to stdout. `copilot` connects to a foreign program and shows events on
//! the terminal. The other subcommands of `daemon` are here too, since they need no runtime.

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
use crate::analysis::error::{ErrorCode, ToolError};
use crate::bridges::daemon::preamble::{Preamble, new_session};
use crate::config::Folders;
use crate::runtime::RuntimeOptions;

/// The start parameters of a door.
pub(super) struct DoorStartContext<'a> {
    /// The global arguments.
    pub(crate) global: GlobalArgs,
    /// The current folder.
    pub(crate) cwd: PathBuf,
    /// The log, if active.
    pub(crate) log: Option<TracingLog>,
    /// The display capabilities of the streams.
    pub(crate) console: &'a Console,
}

/// Returns the options to open the workspace for a command typed in `cwd`.
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

/// Creates a unique session id, so that todo lists and approvals of the session are not shared.
///
/// # Errors
/// The system provides no random numbers.
fn own_session() -> Result<String, ToolError> {
    new_session().map_err(|error| {
        ToolError::new(ErrorCode::Internal, format!("the system provides no random numbers: {error}"))
    })
}

/// Returns true if `command` opens a long-lived door.
pub(super) fn is_door_command(command: &CliCommand) -> bool {
    match command {
        CliCommand::Mcp(mcp) => mcp.mounted.is_none(),
        CliCommand::Copilot(copilot) => !copilot.is_undo(),
        CliCommand::Lsp(_) | CliCommand::Daemon(_) | CliCommand::View(_) => true,
        _ => false,
    }
}

/// Returns the preamble of `command` for the daemon, if its door can use one.
pub(super) fn daemon_preamble(command: &CliCommand) -> Option<Preamble> {
    match command {
        CliCommand::Mcp(mcp) => mcp::preamble(&mcp.serve),
        CliCommand::Lsp(_) => Some(lsp::preamble()),
        _ => None,
    }
}

/// Returns the name of the log for `cli`. The daemon has its own log.
pub(super) fn log_name(cli: &Cli, folders: &Folders) -> String {
    match &cli.command {
        CliCommand::Daemon(DaemonCommand::Run) => daemon::log_name(&cli.global, folders),
        _ => None,
    }
    .unwrap_or_else(|| logging::USUAL_NAME.to_owned())
}

/// Returns the reply of a closed door.
pub(super) fn closed_reply(status: CliExitStatus) -> Reply {
    Reply { out: String::new(), lines: Vec::new(), status }
}

/// Opens the door of `command` in this process, and returns when it is closed.
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
