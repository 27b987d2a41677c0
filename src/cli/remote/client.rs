//! The client's side of a remote command: the process that was typed.

use std::path::Path;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::timeout;

use super::{RemoteCommandEvent, RemoteCommandRequest, is_repeatable, uses_daemon};
use crate::analysis::error::{ErrorCode, ToolError};
use crate::bridges::daemon::connector::{ConnectError, Connector, DaemonConnection};
use crate::bridges::daemon::preamble::{CommandLengths, DoorName, Preamble, read_line};
use crate::cli::args::ParsedCommandLine;
use crate::cli::console::Console;
use crate::cli::exit::CliExitStatus;
use crate::cli::input::{self, PipedInput};
use crate::cli::progress::ProgressLine;
use crate::cli::reply::Reply;
use crate::cli::signals::Signals;
use crate::config::Folders;
use crate::lsp::servers::install_advice::SpokenLanguage;
use crate::lsp::session::progress::ProgressEvent;
use crate::runtime::find_workspace;

/// The time without a message after which the daemon counts as unresponsive. It sends a heartbeat
/// every five seconds.
const DAEMON_SILENCE_TIMEOUT: Duration = Duration::from_secs(30);
/// The time without a message beyond a command's time limit: two heartbeats.
const COMMAND_SILENCE_GRACE_PERIOD: Duration = Duration::from_secs(10);
/// The length limit of a daemon's line, in bytes.
const MAX_REMOTE_EVENT_BYTES: usize = 64 << 20;
/// The number of attempts for a read-only command, since a daemon may exit during one.
const MAX_REMOTE_COMMAND_ATTEMPTS: usize = 2;

/// The outcome of a command for the daemon.
pub(crate) enum RemoteCommandOutcome {
    /// The daemon ran the command.
    Went(Result<Reply, ToolError>),
    /// The command has to run in this process, with the piped input.
    Here {
        /// The piped input.
        input: PipedInput,
        /// A warning about the reason.
        warning: Option<String>,
    },
}

/// Reasons why a remote command did not complete.
enum RemoteCommandError {
    /// No daemon is available; no request was sent.
    NoDaemon(ConnectError),
    /// The daemon exited while the command ran.
    Gone,
    /// The daemon no longer responds.
    Silent {
        /// The daemon's process id.
        pid: u32,
        /// The time without a message.
        silence: Duration,
    },
    /// The daemon's message cannot be parsed.
    Garbled(String),
}

/// Runs a command through the daemon, if the command supports it and a daemon is available. `input`
/// is the piped input if it was read already.
pub(crate) fn run_through_daemon(
    parsed: &ParsedCommandLine,
    cwd: &Path,
    console: &Console,
    input: Option<PipedInput>,
) -> RemoteCommandOutcome {
    let (global, command) = (&parsed.cli.global, &parsed.cli.command);
    let here = |input, warning| RemoteCommandOutcome::Here { input, warning };
    let unread = || input.clone().unwrap_or(PipedInput::Stdin);
    if !uses_daemon(global, command) {
        return here(unread(), None);
    }
    // The command itself reports invalid folders or workspaces.
    let Ok(folders) = Folders::find() else { return here(unread(), None) };
    let Ok(workspace) = find_workspace(global.workspace.as_deref(), cwd) else {
        return here(unread(), None);
    };
    let input = input.or_else(|| input::is_read_by(command).then(PipedInput::read));
    let given = || input.clone().unwrap_or(PipedInput::Stdin);
    let bytes = match &input {
        Some(PipedInput::Read(bytes)) => Some(bytes.as_slice()),
        Some(_) => return here(given(), None),
        None => None,
    };
    let request = RemoteCommandRequest {
        words: std::env::args_os().collect(),
        cwd: cwd.as_os_str().to_owned(),
        console: *console,
        progress: console.err.terminal,
        speech: SpokenLanguage::from_environment(),
    };
    let result = Connector::find(workspace.root(), &folders)
        .map_err(RemoteCommandError::NoDaemon)
        .and_then(|connector| run_remotely(&connector, parsed, &request, bytes));
    match result {
        Ok(went) => RemoteCommandOutcome::Went(went),
        Err(RemoteCommandError::NoDaemon(error)) => {
            let message = format!("warning: without the daemon: {error}");
            here(given(), (!error.is_expected()).then_some(message))
        }
        Err(lost) => RemoteCommandOutcome::Went(Err(lost.to_tool_error(is_repeatable(command)))),
    }
}

/// Returns the daemon's reply to a command with the piped input `input`.
fn run_remotely(
    connector: &Connector,
    parsed: &ParsedCommandLine,
    request: &RemoteCommandRequest,
    input: Option<&[u8]>,
) -> Result<Result<Reply, ToolError>, RemoteCommandError> {
    let threads = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let threads = threads.map_err(|error| RemoteCommandError::NoDaemon(error.into()))?;
    let timeout = parsed.cli.global.timeout;
    let json = serde_json::to_vec(request).map_err(|error| RemoteCommandError::Garbled(error.to_string()))?;
    let preamble = Preamble {
        client: Some(parsed.name.clone()),
        timeout_ms: timeout.and_then(|limit| u64::try_from(limit.as_millis()).ok()),
        command: Some(CommandLengths { request: json.len(), input: input.map(<[u8]>::len) }),
        ..Preamble::new(DoorName::Command)
    };
    let body = RemoteCommandBody { request: &json, input, progress: request.progress };
    let tries = if is_repeatable(&parsed.cli.command) { MAX_REMOTE_COMMAND_ATTEMPTS } else { 1 };
    let reply = threads.block_on(try_connections(connector, &preamble, body, tries));
    // A thread that still waits for a lock does not delay the exit.
    threads.shutdown_background();
    reply
}

impl RemoteCommandError {
    fn to_tool_error(&self, repeatable: bool) -> ToolError {
        let error = match self {
            Self::NoDaemon(error) => format!("no daemon is available: {error}"),
            Self::Gone => "the daemon ended while the command ran".to_owned(),
            Self::Silent { pid, silence } => {
                format!(
                    "the daemon (pid {pid}) sent nothing for {} s while the command ran",
                    silence.as_secs()
                )
            }
            Self::Garbled(what) => format!("the daemon's answer cannot be decoded: {what}"),
        };
        let hint = if repeatable {
            "repeat the command; with --no-daemon it runs without a daemon"
        } else {
            "the command may or may not have taken effect: check before you repeat it (`lsp-tools undo --list` lists edits)"
        };
        ToolError::new(ErrorCode::Internal, error).with_hint(hint)
    }
}

/// The data after the preamble.
#[derive(Clone, Copy)]
struct RemoteCommandBody<'a> {
    /// The request, as JSON.
    request: &'a [u8],
    /// The piped input.
    input: Option<&'a [u8]>,
    /// True if the user sees progress.
    progress: bool,
}

async fn try_connections(
    connector: &Connector,
    preamble: &Preamble,
    body: RemoteCommandBody<'_>,
    tries: usize,
) -> Result<Result<Reply, ToolError>, RemoteCommandError> {
    let mut signals = match Signals::listen() {
        Ok(signals) => signals,
        Err(error) => return Ok(Err(error)),
    };
    let (sender, receiver) = unbounded_channel();
    let progress = body.progress.then(|| ProgressLine::start(receiver));
    let work = async {
        let mut left = tries;
        loop {
            left -= 1;
            let connection = connector.open(preamble).await.map_err(RemoteCommandError::NoDaemon)?;
            match exchange_command(connection, body, silence_limit(preamble), &sender).await {
                Err(RemoteCommandError::Gone) if left > 0 => {}
                result => return result,
            }
        }
    };
    let result = tokio::select! {
        biased;
        // The end of the connection cancels the command.
        () = signals.next() => Ok(Reply { out: String::new(), lines: Vec::new(), status: CliExitStatus::Interrupted }),
        result = work => result,
    };
    if let Some(progress) = progress {
        progress.finish().await;
    }
    result.map(Ok)
}

/// Returns the allowed time without a message: the command's time limit with a grace period, at
/// most [`DAEMON_SILENCE_TIMEOUT`].
fn silence_limit(preamble: &Preamble) -> Duration {
    let limit = preamble.timeout_ms.map(|limit| Duration::from_millis(limit) + COMMAND_SILENCE_GRACE_PERIOD);
    limit.map_or(DAEMON_SILENCE_TIMEOUT, |limit| limit.min(DAEMON_SILENCE_TIMEOUT))
}

/// Exchanges one command on one connection.
async fn exchange_command(
    connection: DaemonConnection,
    body: RemoteCommandBody<'_>,
    silence: Duration,
    progress: &UnboundedSender<ProgressEvent>,
) -> Result<Reply, RemoteCommandError> {
    let DaemonConnection { mut reader, mut writer, welcome } = connection;
    let garbled = |error: &dyn std::fmt::Display| RemoteCommandError::Garbled(error.to_string());
    let sent = async {
        writer.write_all(body.request).await?;
        writer.write_all(body.input.unwrap_or_default()).await
    };
    let silent = RemoteCommandError::Silent { pid: welcome.pid, silence };
    match timeout(silence, sent).await {
        Ok(Ok(())) => {}
        Ok(Err(_)) => return Err(RemoteCommandError::Gone),
        Err(_) => return Err(silent),
    }
    loop {
        let event_line = match timeout(silence, read_line(&mut reader, MAX_REMOTE_EVENT_BYTES)).await {
            Ok(Ok(event_line)) => event_line,
            Ok(Err(_)) => return Err(RemoteCommandError::Gone),
            Err(_) => return Err(silent),
        };
        match serde_json::from_str(&event_line).map_err(|error| garbled(&error))? {
            RemoteCommandEvent::Alive => {}
            RemoteCommandEvent::Progress(event) => {
                // The receiver may be closed.
                let _ignored = progress.send(event);
            }
            RemoteCommandEvent::Reply { lines, status, out } => {
                let mut bytes = vec![0; out];
                match timeout(silence, reader.read_exact(&mut bytes)).await {
                    Ok(Ok(_)) => {}
                    Ok(Err(_)) => return Err(RemoteCommandError::Gone),
                    Err(_) => return Err(silent),
                }
                let out = String::from_utf8(bytes).map_err(|error| garbled(&error))?;
                return Ok(Reply { out, lines, status });
            }
        }
    }
}
