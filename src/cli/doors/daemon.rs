//! The command `daemon run`, and the pass-through of stdin doors to the daemon.

use std::convert::Infallible;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::io::AsyncWriteExt;
use tokio_util::sync::CancellationToken;

use super::DoorStartContext;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::bridges::daemon::backend;
use crate::bridges::daemon::connector::{
    ByItself, Connector, DaemonConnection, DaemonStartReport, connect_to_daemon,
};
use crate::bridges::daemon::folder::DaemonFolder;
use crate::bridges::daemon::identity::DaemonIdentity;
use crate::bridges::daemon::passthrough;
use crate::bridges::daemon::passthrough::PassthroughEnd;
use crate::bridges::daemon::preamble::{self, DoorName, LONGEST, Preamble, read_line};
use crate::bridges::daemon::server::{
    AcceptedConnection, Daemon, DaemonError, DaemonObserver, DaemonReservation, DoorHandler, DoorHandlers,
};
use crate::bridges::editor::{self, EditorOptions};
use crate::bridges::mcp::server::ServerOptions;
use crate::bridges::page::host::{PageHost, PageReply};
use crate::bridges::page::setup::PageSetup;
use crate::bridges::{self, mcp};
use crate::cli::args::GlobalArgs;
use crate::cli::commands::daemon::logs::recent_lines;
use crate::cli::console::Console;
use crate::cli::exit::CliExitStatus;
use crate::cli::render::terminal::escape;
use crate::cli::signals::Signals;
use crate::cli::{logging, remote};
use crate::config::Folders;
use crate::lsp::servers::install_advice::SpokenLanguage;
use crate::platform::stdio;
use crate::runtime::live::LiveRuntime;
use crate::runtime::{Client, RuntimeOptions, find_workspace};

/// The age at which an unmodified daemon log is removed.
const DAEMON_LOG_TTL: Duration = Duration::from_secs(14 * 24 * 3_600);

/// The time limit for receiving a request about the page.
const PAGE_REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// The number of log lines on the page.
const PAGE_LOG_LINES: usize = 200;
/// The number of bytes read for these lines.
const PAGE_LOG_BYTES: u64 = 64 << 10;

/// Reasons why no daemon was started.
enum DaemonStartError {
    Settings(ToolError),
    Other(String),
    Running,
}

/// Runs the daemon until there is a reason to exit. The parent reads one line on stdout with the
/// result of the start.
pub(crate) async fn run(start: DoorStartContext<'_>) -> Result<CliExitStatus, ToolError> {
    stdio::leave_terminal();
    let mut signals = Signals::listen()?;
    let listening = match listen(&start) {
        Ok(daemon) => {
            report(&DaemonStartReport::Ready)?;
            daemon
        }
        Err(failed) => return failed.report(),
    };
    let reason = listening.run(async move { signals.next().await }).await;
    tracing::info!("the daemon has ended: {reason}");
    Ok(CliExitStatus::Answered)
}

fn listen(start: &DoorStartContext<'_>) -> Result<Daemon, DaemonStartError> {
    let other = |error: &dyn std::fmt::Display| DaemonStartError::Other(error.to_string());
    let folders = Folders::find().map_err(|error| other(&error))?;
    let identity = identity(&start.global, &start.cwd, &folders).map_err(|error| other(&error))?;
    let folder = DaemonFolder::find(&folders).map_err(|error| other(&error))?;
    let place = DaemonReservation::acquire(folder, identity.clone()).map_err(|error| match error {
        DaemonError::Running => DaemonStartError::Running,
        error => other(&error),
    })?;
    forget_old_logs(&logging::folder(&folders.state));
    let options = RuntimeOptions {
        workspace: Some(identity.root().to_owned()),
        cwd: identity.root().to_owned(),
        ..RuntimeOptions::default()
    };
    let for_log = folders.clone();
    let runtime = bridges::open_with(options, folders).map_err(DaemonStartError::Settings)?;
    if let Some(log) = &start.log {
        log.set_level(runtime.log_level());
    }
    let doors = DoorHandlers {
        command: remote::serve::door(),
        mcp: Some(mcp_door()),
        lsp: Some(lsp_door()),
        view: Some(view_door(for_log)),
        tools: Some(backend::serve::door()),
    };
    let daemon = Daemon::listen(place, runtime, doors).map_err(|error| other(&error))?;
    let workspace = identity.root().display();
    tracing::info!(version = env!("CARGO_PKG_VERSION"), %workspace, "the daemon listens");
    Ok(daemon)
}

fn mcp_door() -> DoorHandler {
    Arc::new(|connection| {
        Box::pin(async move {
            // The client counts as connected while this value lives.
            let AcceptedConnection {
                live,
                preamble,
                caller,
                client: _connected,
                reader,
                writer,
                closing,
                ..
            } = connection;
            let options = ServerOptions {
                live,
                caller,
                client: preamble.client(),
                text_answers: preamble.text_answers,
                output_schemas: preamble.output_schemas,
            };
            if let Err(error) = mcp::server::serve(options, reader, writer, closing).await {
                tracing::warn!("{error}");
            }
        })
    })
}

fn lsp_door() -> DoorHandler {
    Arc::new(|connection| {
        Box::pin(async move {
            let AcceptedConnection {
                live,
                preamble,
                caller,
                client: _connected,
                reader,
                writer,
                closing,
                ..
            } = connection;
            let Client { cwd, timeout, install_missing, .. } = preamble.client();
            let session = Some(caller.session);
            let options = EditorOptions { cwd, timeout, install_missing, session };
            editor::serve(live, options, reader, writer, closing).await;
        })
    })
}

fn view_door(folders: Folders) -> DoorHandler {
    let page = Arc::new(PageHost::default());
    Arc::new(move |connection| {
        let (page, folders) = (Arc::clone(&page), folders.clone());
        Box::pin(async move {
            let AcceptedConnection { live, observer, client: _connected, mut reader, mut writer, .. } =
                connection;
            let line = tokio::time::timeout(PAGE_REQUEST_TIMEOUT, read_line(&mut reader, LONGEST)).await;
            let Some(request) = line.ok().and_then(Result::ok) else { return };
            let reply = match serde_json::from_str(&request) {
                Ok(request) => page.answer(request, page_setup(live, observer, folders)).await,
                Err(error) => PageReply::Failed { error: format!("the request is invalid: {error}") },
            };
            let Ok(line) = preamble::line(&reply) else { return };
            // The client may have disconnected.
            let _ignored = writer.write_all(&line).await;
        })
    })
}

/// Returns the page's parameters about the daemon, besides its runtime.
fn page_setup(live: LiveRuntime, observer: DaemonObserver, folders: Folders) -> PageSetup {
    let (closing, tasks) = (observer.closing().clone(), observer.beside().clone());
    let of_log = observer.clone();
    PageSetup {
        live,
        daemon: Arc::new(move || {
            observer.status().and_then(|status| serde_json::to_value(status).ok()).unwrap_or_default()
        }),
        log: Arc::new(move || {
            let key = of_log.key().unwrap_or_default();
            recent_lines(&folders, &key, PAGE_LOG_LINES, PAGE_LOG_BYTES)
        }),
        tasks,
        closing,
    }
}

/// A connected daemon for a door.
pub(super) struct ReachedDaemon {
    /// Connects to the next daemon.
    pub(super) connector: Connector,
    /// The preamble, for the next daemon as well.
    pub(super) preamble: Preamble,
    /// The connection.
    pub(super) connection: DaemonConnection,
}

/// Connects a door with `preamble` and the global arguments to the daemon. Returns `None` if the
/// door has to serve without it; unexpected reasons have been printed.
pub(super) async fn reach_daemon(start: &DoorStartContext<'_>, preamble: Preamble) -> Option<ReachedDaemon> {
    let DoorStartContext { global, cwd, console, .. } = start;
    if global.no_daemon || global.verbose > 0 || global.trace.is_some() {
        return None;
    }
    let preamble = Preamble {
        // A path that is not UTF-8 cannot be sent; relative paths then start at the root.
        cwd: preamble.cwd.filter(|cwd| cwd.to_str().is_some()),
        timeout_ms: global.timeout.map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX)),
        install: global.install,
        ..preamble
    };
    match connect_to_daemon(global.workspace.as_deref(), cwd, &preamble).await {
        Ok((connector, connection)) => Some(ReachedDaemon { connector, preamble, connection }),
        Err(ByItself::Expected) => None,
        Err(error) => {
            console.print_error_lines(&[format!("warning: {}", escape::words(&error.to_string()))]);
            None
        }
    }
}

/// Serves a door on stdin and stdout through the daemon until one of them ends. Returns `None` if
/// the door has to serve by itself.
///
/// # Errors
/// The daemon exited and the protocol cannot continue with another one, or stdin and stdout are
/// unavailable.
pub(crate) async fn pass_to_daemon(
    start: &DoorStartContext<'_>,
    preamble: Preamble,
) -> Result<Option<CliExitStatus>, ToolError> {
    let console = start.console;
    let preamble = Preamble { cwd: Some(start.cwd.clone()), ..preamble };
    let Some(ReachedDaemon { connector, preamble, connection }) = reach_daemon(start, preamble).await else {
        return Ok(None);
    };
    let broken =
        |error: io::Error| ToolError::new(ErrorCode::Internal, format!("stdin or stdout broke: {error}"));
    let (input, output) = (stdio::input().map_err(broken)?, stdio::output().map_err(broken)?);
    let stop = CancellationToken::new();
    let mut signals = Signals::listen()?;
    let hints = connector.hints(SpokenLanguage::from_environment());
    let passing = async {
        match preamble.door {
            DoorName::Mcp => {
                passthrough::pass_mcp(connector, preamble, connection, input, output, stop.clone()).await
            }
            _ => passthrough::pass_bytes(connection, input, output, stop.clone()).await,
        }
    };
    let ended = tokio::select! {
        ended = passing => ended.map_err(broken)?,
        never = print_hints(hints, console) => match never {},
        () = signals.next() => PassthroughEnd::Stopped,
    };
    match ended {
        PassthroughEnd::ByHost | PassthroughEnd::Stopped => Ok(Some(CliExitStatus::Answered)),
        PassthroughEnd::ByDaemon => {
            let error = "the daemon closed the connection: it ended, or could not process its input";
            Err(ToolError::new(ErrorCode::Internal, error)
                .with_hint("start this again; `lsp-tools daemon logs` shows the reason"))
        }
    }
}

/// Prints startup hints once they are known. The client waits for its first response, not for them.
async fn print_hints(hints: impl Future<Output = Vec<String>>, console: &Console) -> Infallible {
    console.print_startup_hints(&hints.await);
    std::future::pending().await
}

impl DaemonStartError {
    /// Reports the failure to the parent and ends.
    fn report(self) -> Result<CliExitStatus, ToolError> {
        match self {
            Self::Running => report(&DaemonStartReport::Running).map(|()| CliExitStatus::Answered),
            Self::Settings(error) => {
                tracing::warn!("no daemon: {}", error.error);
                report(&DaemonStartReport::Settings)?;
                Ok(crate::cli::exit::of_error(&error))
            }
            Self::Other(error) => {
                tracing::error!("no daemon: {error}");
                report(&DaemonStartReport::Failed { error }).map(|()| CliExitStatus::Failed)
            }
        }
    }
}

/// Writes the result of the start, one line, and closes stdout.
fn report(report: &DaemonStartReport) -> Result<(), ToolError> {
    let failed = |error: io::Error| {
        ToolError::new(ErrorCode::Internal, format!("the result of the start cannot be reported: {error}"))
    };
    let line = serde_json::to_string(report).map_err(|error| failed(error.into()))?;
    let mut out = io::stdout().lock();
    // The parent may have exited, which does not affect the daemon.
    let _unread = writeln!(out, "{line}").and_then(|()| out.flush());
    stdio::close_output().map_err(failed)
}

fn identity(global: &GlobalArgs, cwd: &Path, folders: &Folders) -> Result<DaemonIdentity, ToolError> {
    let workspace = find_workspace(global.workspace.as_deref(), cwd)?;
    let failed = |error: io::Error| {
        ToolError::new(ErrorCode::Internal, format!("the program's own file cannot be read: {error}"))
    };
    let binary = std::env::current_exe().map_err(failed)?;
    DaemonIdentity::find(workspace.root(), folders, &binary).map_err(failed)
}

/// Returns the name of the daemon's log.
pub(crate) fn log_name(global: &GlobalArgs, folders: &Folders) -> Option<String> {
    let cwd = std::env::current_dir().ok()?;
    Some(logging::daemon_log(identity(global, &cwd, folders).ok()?.key()))
}

/// Removes old logs. Each binary and environment has logs of its own, so they would accumulate.
fn forget_old_logs(folder: &Path) {
    let is_old = |path: &PathBuf| {
        let name =
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(logging::DAEMON_LOGS));
        let modified = path.metadata().and_then(|metadata| metadata.modified());
        let age = modified.ok().and_then(|modified| SystemTime::now().duration_since(modified).ok());
        name && age.is_some_and(|age| age > DAEMON_LOG_TTL)
    };
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    for file in files.filter(is_old) {
        // Another daemon may have removed it first.
        let _ignored = std::fs::remove_file(file);
    }
}
