//! The command `daemon`: start, stop, status and log of daemons.

use std::time::Duration;

use serde::Serialize;
use serde_json::json;
use tokio::io::AsyncReadExt;
use tokio::time::timeout;

use super::Reply;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::bridges::daemon::connector::{ConnectError, Connector, DaemonConnection, connect};
use crate::bridges::daemon::folder::DaemonFolder;
use crate::bridges::daemon::preamble::{DoorName, Preamble, read_line};
use crate::bridges::daemon::status::DaemonStatus;
use crate::cli::args::CliOutputFormat;
use crate::cli::args::doors::{AllDaemons, DaemonCommand, DaemonLogsArgs};
use crate::cli::doors::DoorStartContext;
use crate::cli::exit::CliExitStatus;
use crate::cli::render::setup::daemon as render;
use crate::cli::render::terminal::json as as_json;
use crate::config::Folders;
use crate::runtime::find_workspace;
use crate::runtime::machine_status::machine_status;

pub(crate) mod logs;

/// The time limit for a daemon's status.
const DAEMON_STATUS_TIMEOUT: Duration = Duration::from_secs(20);
/// The time limit for a daemon to exit, which covers running calls, doors and servers.
const DAEMON_STOP_TIMEOUT: Duration = Duration::from_secs(40);
/// The size limit of an answer, in bytes.
const MAX_DAEMON_ANSWER_BYTES: usize = 64 << 20;

/// Runs `daemon`.
pub(crate) async fn run(arguments: DaemonCommand, start: DoorStartContext<'_>) -> Result<Reply, ToolError> {
    match arguments {
        DaemonCommand::Start => start_one(&start).await,
        DaemonCommand::Status(all) => status(all, &start).await,
        DaemonCommand::Stop(all) => stop(all, &start).await,
        DaemonCommand::Logs(arguments) => logs_of(&arguments, &start).await,
        DaemonCommand::Run => Err(ToolError::new(ErrorCode::Internal, "`daemon run` cannot run in a daemon")),
    }
}

pub(super) fn folders() -> Result<Folders, ToolError> {
    let invalid = |error: &dyn std::fmt::Display| ToolError::new(ErrorCode::InvalidArgs, error.to_string());
    let folders = Folders::find().map_err(|error| invalid(&error))?;
    folders.ensure_private().map_err(|error| invalid(&error))?;
    Ok(folders)
}

pub(super) fn connector(start: &DoorStartContext<'_>) -> Result<Connector, ToolError> {
    let workspace = find_workspace(start.global.workspace.as_deref(), &start.cwd)?;
    Connector::find(workspace.root(), &folders()?).map_err(connect_error)
}

/// Returns the folder and keys of the selected daemons.
fn chosen_daemons(
    all: AllDaemons,
    start: &DoorStartContext<'_>,
) -> Result<(DaemonFolder, Vec<String>), ToolError> {
    let folder = DaemonFolder::find(&folders()?).map_err(|error| connect_error(error.into()))?;
    let keys = if all.all {
        folder.keys().map_err(|error| connect_error(error.into()))?
    } else {
        vec![connector(start)?.identity().key().to_owned()]
    };
    Ok((folder, keys))
}

pub(super) fn connect_error(error: ConnectError) -> ToolError {
    let code = match &error {
        ConnectError::Folder(_) | ConnectError::Foreign(_) | ConnectError::Imposter { .. } => {
            ErrorCode::Denied
        }
        ConnectError::Silent { .. } => ErrorCode::Timeout,
        _ => ErrorCode::Internal,
    };
    ToolError::new(code, error.to_string())
}

async fn start_one(start: &DoorStartContext<'_>) -> Result<Reply, ToolError> {
    let connector = connector(start)?;
    let preamble = Preamble::new(DoorName::Status);
    let running = connector.connect(&preamble).await.map_err(connect_error)?;
    let was_running = running.is_some();
    let connection = match running {
        Some(connection) => connection,
        None => match connector.open(&preamble).await {
            Err(ConnectError::Settings) => return Err(unusable_settings(start)),
            opened => opened.map_err(connect_error)?,
        },
    };
    let pid = connection.welcome.pid;
    let output = json!({"ok": true, "pid": pid, "started": !was_running, "socket": connector.shown_socket()});
    let done = if was_running { "runs already" } else { "was started" };
    to_reply(start, &output, CliExitStatus::Answered, || format!("the daemon {done} (pid {pid})\n"))
}

/// Returns the error of invalid settings, as reported by every command.
pub(super) fn unusable_settings(start: &DoorStartContext<'_>) -> ToolError {
    let options = crate::runtime::RuntimeOptions {
        workspace: start.global.workspace.clone(),
        cwd: start.cwd.clone(),
        ..Default::default()
    };
    match crate::runtime::Runtime::open(options) {
        Err(error) => error,
        Ok(_) => ToolError::new(ErrorCode::Internal, "the settings were invalid a moment ago; try again"),
    }
}

async fn status(all: AllDaemons, start: &DoorStartContext<'_>) -> Result<Reply, ToolError> {
    let (folder, keys) = chosen_daemons(all, start)?;
    let mut found: Vec<DaemonStatus> = Vec::new();
    let mut lines = Vec::new();
    for key in keys {
        match query_status(&folder, &key).await {
            Ok(status) => found.extend(status),
            Err(error) if all.all => {
                lines.push(format!("warning: {}: {}", folder.shown_socket(&key).display(), error.error));
            }
            Err(error) => return Err(error),
        }
    }
    let display = &start.console.out;
    let machine = if all.all { Some(machine_status(&folders()?)?) } else { None };
    let mut reply = match (found.as_slice(), all.all) {
        ([], _) => return no_daemon(all),
        ([one], false) => to_reply(start, one, CliExitStatus::Answered, || render::status(one, display))?,
        (several, _) => {
            let text = || {
                let machine = machine.iter().map(|machine| render::machine(machine, display));
                let daemons = several.iter().map(|one| render::status(one, display));
                machine.chain(daemons).collect::<Vec<_>>().join("\n")
            };
            let output = json!({"ok": true, "machine": machine, "daemons": several});
            to_reply(start, &output, CliExitStatus::Answered, text)?
        }
    };
    reply.lines.extend(lines);
    Ok(reply)
}

async fn query_status(folder: &DaemonFolder, key: &str) -> Result<Option<DaemonStatus>, ToolError> {
    let connection = connect(folder, key, &Preamble::new(DoorName::Status)).await.map_err(connect_error)?;
    let Some(DaemonConnection { mut reader, .. }) = connection else { return Ok(None) };
    let unclear = |reason: &dyn std::fmt::Display| {
        ToolError::new(ErrorCode::Internal, format!("the daemon did not report its state: {reason}"))
    };
    let line = timeout(DAEMON_STATUS_TIMEOUT, read_line(&mut reader, MAX_DAEMON_ANSWER_BYTES)).await;
    let line = line.map_err(|_| unclear(&"it does not respond in time"))?.map_err(|error| unclear(&error))?;
    serde_json::from_str(&line).map(Some).map_err(|error| unclear(&error))
}

async fn stop(all: AllDaemons, start: &DoorStartContext<'_>) -> Result<Reply, ToolError> {
    let (folder, keys) = chosen_daemons(all, start)?;
    let mut stopped = Vec::new();
    for key in keys {
        let connection =
            connect(&folder, &key, &Preamble::new(DoorName::Stop)).await.map_err(connect_error)?;
        let Some(DaemonConnection { mut reader, welcome, .. }) = connection else { continue };
        // The connection ends with the daemon.
        if timeout(DAEMON_STOP_TIMEOUT, reader.read(&mut [0])).await.is_err() {
            let error = format!(
                "the daemon (pid {}) has not ended within {} s",
                welcome.pid,
                DAEMON_STOP_TIMEOUT.as_secs()
            );
            return Err(ToolError::new(ErrorCode::Timeout, error)
                .with_hint(format!("run: kill {}; its servers end with it", welcome.pid)));
        }
        stopped.push(welcome.pid);
    }
    if stopped.is_empty() {
        return no_daemon(all);
    }
    let text = || stopped.iter().map(|pid| format!("daemon stopped (pid {pid})\n")).collect();
    to_reply(start, &json!({"ok": true, "stopped": stopped}), CliExitStatus::Answered, text)
}

async fn logs_of(arguments: &DaemonLogsArgs, start: &DoorStartContext<'_>) -> Result<Reply, ToolError> {
    let connector = connector(start)?;
    logs::run(arguments, &folders()?, connector.identity().key()).await
}

fn no_daemon(all: AllDaemons) -> Result<Reply, ToolError> {
    let error =
        if all.all { "no daemon runs" } else { "no daemon is running for this workspace and environment" };
    Err(ToolError::nothing_found(error)
        .with_hint("commands start it on demand; `lsp-tools daemon status --all` lists others"))
}

pub(super) fn to_reply(
    start: &DoorStartContext<'_>,
    output: &impl Serialize,
    status: CliExitStatus,
    text: impl FnOnce() -> String,
) -> Result<Reply, ToolError> {
    let out = if start.global.format == CliOutputFormat::Json {
        as_json::render(output, &start.console.out).map_err(|error| {
            ToolError::new(ErrorCode::Internal, format!("the answer cannot be written as JSON: {error}"))
        })?
    } else {
        text()
    };
    Ok(Reply { out, lines: Vec::new(), status })
}
