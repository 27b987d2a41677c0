//! One initialized server for one root: its start, its state, its notifications, and its end. It
//! holds the data for all operations, and imports none of them: `ask`, `document_sync`,
//! `view_switch`, `reload` and others import this file, and add their methods.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use lsp_types::notification::{DidChangeConfiguration, Exit as ExitNotification, Initialized};
use lsp_types::request::{Initialize, Request, Shutdown};
use lsp_types::{DidChangeConfigurationParams, InitializedParams};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::capabilities::{self, ServerCapabilities};
use super::readiness::UnfinishedWork;
use super::request::notify_server;
use super::server_cache::ServerCache;
use super::server_handler::ServerHandler;
use super::state::{SessionState, workspace_folder};
use crate::config::Catalogue;
use crate::config::spec::DiagnosticsSource;
use crate::lsp::diagnostics::cache::DiagnosticsCache;
use crate::lsp::documents::open_documents::SessionDocuments;
use crate::lsp::documents::unseen_changes::UnseenChanges;
use crate::lsp::documents::view::{ShownView, View, ViewContention};
use crate::lsp::relay::outside_documents::OpenOutsideDocuments;
use crate::lsp::servers::judge::SessionJudge;
use crate::lsp::servers::manager::launch_inputs::LaunchInputs;
use crate::lsp::servers::project::known_memberships::ProjectMemberships;
use crate::lsp::servers::project::shortfall::Shortfall;
use crate::lsp::uri;
use crate::process::{Exit, ServerProcess, Spawn};
use crate::rpc::{OUTPUT_CLOSED, Peer, RequestError, RpcTrace};
use crate::text::Encoding;
use crate::workspace::{Workspace, WorkspacePath};

/// The time limit of `shutdown`, after which the server is ended without it.
const SERVER_SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);
/// The time limit of `shutdown` for a server that has missed a deadline before: the caller has
/// waited for that deadline already.
const SILENT_SERVER_SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(200);
/// The time for a server to ask for its settings after its start.
const SETTINGS_REQUEST_TIMEOUT: Duration = Duration::from_secs(1);
/// The time after its start for which a server may still register its capabilities.
const CAPABILITY_REGISTRATION_WINDOW: Duration = Duration::from_millis(1_000);
/// The time for a server to leave after `exit`, before its input is closed, and again after that
/// before it is killed.
const SERVER_EXIT_GRACE_PERIOD: Duration = Duration::from_millis(400);
/// The time limit for the exit status after the end of a server's output: its descendants have to
/// end first.
const SERVER_EXIT_STATUS_TIMEOUT: Duration = Duration::from_secs(2);

/// Limits of a session, from the settings.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SessionLimits {
    /// The largest file that is opened, in bytes.
    pub(crate) max_file_bytes: u64,
}

/// The parameters of a session's start.
#[derive(Debug)]
pub(crate) struct SessionSetup {
    /// The workspace.
    pub(crate) workspace: Workspace,
    /// The catalogue in force.
    pub(crate) catalogue: Arc<Catalogue>,
    /// The session's root.
    pub(crate) root: WorkspacePath,
    /// Limits in force.
    pub(crate) limits: SessionLimits,
    /// The record of all messages.
    pub(crate) trace: Option<Arc<RpcTrace>>,
    /// The server's cache folder.
    pub(crate) cache: Option<ServerCache>,
}

/// One running, initialized server.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) state: Arc<SessionState>,
    pub(crate) connection: Peer,
    pub(crate) capabilities: ServerCapabilities,
    pub(crate) documents: SessionDocuments,
    pub(crate) workspace: Workspace,
    pub(crate) catalogue: Arc<Catalogue>,
    pub(crate) limits: SessionLimits,
    process: ServerProcess,
    /// The root it was started for.
    pub(crate) root: WorkspacePath,
    started: Instant,
    last_used: Mutex<Instant>,
    in_use: AtomicUsize,
    /// The report of the crash of the session that this one replaces.
    previous_exit: OnceLock<String>,
    /// True if an answer has reported the restart.
    restart_told: AtomicBool,
    pub(super) latencies: Mutex<super::latency::Latencies>,
    /// Held while a server that checks only one document at a time does so.
    pub(crate) checking: tokio::sync::Mutex<()>,
    /// Held while a notebook is open; the number of those before it.
    pub(crate) notebooks: tokio::sync::Mutex<u64>,
    /// Held while our command runs at the server, which may then request edits.
    pub(crate) commands: tokio::sync::Mutex<()>,
    /// The view whose texts the server has: locked for reading by a question, for writing by a
    /// change of the view.
    pub(crate) view: tokio::sync::RwLock<ShownView>,
    /// A copy of that view, for the synchronization of documents.
    pub(crate) unsaved: Mutex<View>,
    /// The documents outside the workspace that editors have asked about; locked by a question.
    pub(crate) outside: tokio::sync::Mutex<OpenOutsideDocuments>,
    /// Changes of other files that it has not examined yet.
    pub(super) unseen_changes: UnseenChanges,
    /// The switches of the session between callers with texts of their own.
    pub(crate) contention: Mutex<ViewContention>,
    /// The shortfall, with a counter of the requests to examine it again.
    pub(super) shortfall: Mutex<(u64, Shortfall)>,
    /// The compiler, checker or linter that it runs.
    pub(crate) judge: OnceLock<SessionJudge>,
    /// For each folder, the fault of the files that its configuration extends.
    pub(crate) faults_of_extends: Mutex<HashMap<WorkspacePath, Option<String>>>,
    /// The files that are known to be inside or outside the project.
    pub(crate) memberships: ProjectMemberships,
    /// The process parameters of its start.
    pub(crate) spawn: OnceLock<Spawn>,
    /// The server's cache folder, held while the session lives.
    _cache: Option<ServerCache>,
    /// The project files that determined its start.
    pub(crate) launch_inputs: OnceLock<Mutex<LaunchInputs>>,
    /// A number counted up with each change on disk that concerns it.
    pub(crate) disk: AtomicU64,
    /// Its findings in files as they are on disk.
    pub(crate) diagnostics_cache: Mutex<DiagnosticsCache>,
}

/// Keeps a session from counting as idle.
pub(crate) struct InUse<'a>(&'a Session);

impl Drop for InUse<'_> {
    fn drop(&mut self) {
        self.0.in_use.fetch_sub(1, Ordering::Relaxed);
        *self.0.last_used.lock() = Instant::now();
    }
}

impl Session {
    /// Initializes the server in `process`, with `initialize` and `initialized` (LSP 3.17, *Server
    /// lifecycle*). If that fails, or is not done by `deadline` or before `stopping` is cancelled,
    /// the process has ended when this returns.
    pub(crate) async fn start(
        setup: SessionSetup,
        state: Arc<SessionState>,
        mut process: ServerProcess,
        deadline: Instant,
        stopping: &CancellationToken,
    ) -> Result<Self, StartFailure> {
        let (Some(stdout), Some(stdin)) = (process.take_stdout(), process.take_stdin()) else {
            return Err(StartFailure {
                reason: "its pipes are closed".into(),
                exit: None,
                stderr: Vec::new(),
            });
        };
        let handler = ServerHandler::new(state.clone());
        let connection = Peer::open(&state.server, stdout, stdin, handler, setup.trace.clone());
        let params = initialize_params(&setup, &state);
        let answered = tokio::select! {
            answered = connection.request(Initialize::METHOD, &params, deadline) => Some(answered),
            () = stopping.cancelled() => None,
        };
        let result: Value = match answered {
            Some(Ok(result)) => result,
            Some(Err(error)) => return Err(start_failure(process, connection, &error).await),
            None => {
                drop(connection);
                process.terminate(Duration::ZERO).await;
                return Err(StartFailure {
                    reason: "it is no longer needed".into(),
                    exit: None,
                    stderr: Vec::new(),
                });
            }
        };
        notify_server::<Initialized>(&connection, &InitializedParams {});
        let has_settings = state.settings().as_object().is_some_and(|settings| !settings.is_empty());
        // Earlier versions of such a server wait for the settings, and answer nothing before.
        let asks = has_settings
            && state.spec.asks_for_settings
            && state.await_settings_request(Instant::now() + SETTINGS_REQUEST_TIMEOUT).await;
        if has_settings && !asks {
            let params = DidChangeConfigurationParams { settings: state.settings().clone() };
            notify_server::<DidChangeConfiguration>(&connection, &params);
        }
        let capabilities = ServerCapabilities::from_initialize(&result, &state.spec);
        if state.spec.readiness.ends_start {
            let closed = tokio::select! {
                _loaded = state.await_load(deadline) => None,
                () = stopping.cancelled() => None,
                reason = connection.wait_closed() => Some(RequestError::Closed { reason }),
            };
            if let Some(error) = closed {
                return Err(start_failure(process, connection, &error).await);
            }
        }
        Ok(Self {
            state,
            connection,
            capabilities,
            documents: SessionDocuments::default(),
            workspace: setup.workspace,
            catalogue: setup.catalogue,
            limits: setup.limits,
            process,
            root: setup.root,
            started: Instant::now(),
            last_used: Mutex::new(Instant::now()),
            in_use: AtomicUsize::new(0),
            previous_exit: OnceLock::new(),
            restart_told: AtomicBool::new(false),
            latencies: Mutex::default(),
            checking: tokio::sync::Mutex::default(),
            notebooks: tokio::sync::Mutex::default(),
            commands: tokio::sync::Mutex::default(),
            view: tokio::sync::RwLock::default(),
            unsaved: Mutex::default(),
            outside: tokio::sync::Mutex::default(),
            unseen_changes: UnseenChanges::default(),
            contention: Mutex::default(),
            shortfall: Mutex::default(),
            judge: OnceLock::new(),
            faults_of_extends: Mutex::default(),
            memberships: ProjectMemberships::default(),
            spawn: OnceLock::new(),
            _cache: setup.cache,
            launch_inputs: OnceLock::new(),
            disk: AtomicU64::default(),
            diagnostics_cache: Mutex::default(),
        })
    }

    /// The version that the server states with its name.
    pub(crate) fn stated_version(&self) -> Option<&str> {
        self.capabilities.version.as_deref()
    }

    /// Returns the compiler, checker or linter that it runs, with its version ("typescript 5.9.3"),
    /// if that is known.
    pub(crate) fn judge(&self) -> Option<&str> {
        self.judge.get()?.name.as_deref()
    }

    /// The server's key in the catalogue.
    pub(crate) fn server(&self) -> &str {
        &self.state.server
    }

    /// Marks the session as used until the returned value is dropped.
    pub(crate) fn mark_in_use(&self) -> InUse<'_> {
        self.in_use.fetch_add(1, Ordering::Relaxed);
        InUse(self)
    }

    /// The time since its last use; zero while it is in use.
    pub(crate) fn idle_for(&self) -> Duration {
        if self.in_use.load(Ordering::Relaxed) > 0 {
            return Duration::ZERO;
        }
        self.last_used.lock().elapsed()
    }

    /// The process id for display: the server's own.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.process.pid()
    }

    /// The process at the top of its tree.
    pub(crate) fn tree_root(&self) -> Option<i32> {
        self.process.tree_root()
    }

    /// Resident memory of the server and all its descendants, in bytes.
    pub(crate) async fn resident_bytes(&self) -> Option<u64> {
        self.process.tree_rss().await
    }

    /// The server's last errors and warnings for the user, oldest first.
    pub(crate) fn messages(&self) -> Vec<String> {
        self.state.messages()
    }

    /// The last lines of its standard error.
    pub(crate) fn stderr_tail(&self) -> Vec<String> {
        self.process.stderr_tail()
    }

    /// Like [`stderr_tail`](Self::stderr_tail), with the lines from before its last message.
    pub(crate) async fn read_stderr(&self) -> Vec<String> {
        self.process.read_stderr().await
    }

    /// The number of its open documents.
    pub(crate) fn open_documents(&self) -> usize {
        self.documents.len()
    }

    /// Median and 99th percentile of its answers' times.
    pub(crate) fn latency(&self) -> Option<(Duration, Duration)> {
        self.latencies.lock().median_and_p99()
    }

    /// Its unfinished work, if there is any.
    pub(crate) fn unfinished_work(&self) -> Option<UnfinishedWork> {
        let work =
            self.state.with_readiness(|readiness| readiness.unfinished_work(&self.state.spec.readiness));
        work.filter(|_| !self.state.is_silent())
    }

    /// Returns true if the conversation is over.
    pub(crate) fn is_closed(&self) -> bool {
        self.connection.close_reason().is_some()
    }

    /// The reason why the conversation is over, once it is.
    pub(crate) fn closed_reason(&self) -> Option<String> {
        self.connection.close_reason()
    }

    /// The documents it has open.
    pub(crate) fn open_paths(&self) -> Vec<WorkspacePath> {
        self.documents.paths()
    }

    /// Returns true if it has `path` open.
    pub(crate) fn has_open(&self, path: &WorkspacePath) -> bool {
        self.documents.contains(path)
    }

    /// Describes the end of the conversation: exit status and the last lines of standard error, if
    /// there are any.
    pub(crate) async fn exit_report(&self) -> String {
        let reason = self.connection.close_reason();
        let patience = if reason.as_deref() == Some(OUTPUT_CLOSED) {
            SERVER_EXIT_STATUS_TIMEOUT
        } else {
            SERVER_EXIT_GRACE_PERIOD
        };
        let exit = tokio::time::timeout(patience, self.process.wait()).await.ok();
        describe_end(reason.as_deref(), exit.as_ref(), &self.process.stderr_tail())
    }

    /// Records that it replaces a session that ended as described by `exit_report`.
    pub(crate) fn set_previous_exit(&self, exit_report: String) {
        // A session is started once, and so replaces at most one other.
        let _first = self.previous_exit.set(exit_report);
    }

    /// The sentence by which an answer of this session reports a restart after a crash. The first
    /// answer has it, for any caller, and so does each whose question `has_crashed`, that is, was
    /// sent to the session before.
    pub(crate) fn restart_note(&self, has_crashed: bool) -> Option<String> {
        let exit_report = self.previous_exit.get()?;
        let reported = self.restart_told.swap(true, Ordering::Relaxed);
        (has_crashed || !reported)
            .then(|| format!("{} crashed ({exit_report}) and was started again", self.server()))
    }

    /// Returns true if the server offers `method` for `path`, announced or registered.
    pub(crate) fn offers(&self, method: &str, path: &WorkspacePath, language_id: &str) -> bool {
        let absolute = self.workspace.absolute(path);
        // The rule exists only if the server was started without trust.
        let rule = self.state.spec.untrusted.as_ref();
        let is_unasked = rule.is_some_and(|rule| rule.unasked.iter().any(|unasked| unasked == method));
        let is_covered =
            || self.state.with_registrations(|known| known.covers(method, language_id, &absolute));
        !is_unasked && (self.capabilities.announces(method) || is_covered())
    }

    /// Like `offers`, for a server that may still be registering its capabilities, as it does right
    /// after its start.
    pub(crate) async fn wait_for_registration(
        &self,
        method: &str,
        path: &WorkspacePath,
        language_id: &str,
        deadline: Instant,
    ) -> bool {
        let until = deadline.min(self.started + CAPABILITY_REGISTRATION_WINDOW);
        self.wait_until(until, || self.offers(method, path, language_id)).await
    }

    /// Waits until `holds`, which is examined at every message of the server; false at the deadline
    /// or the end of the server.
    pub(crate) async fn wait_until(&self, deadline: Instant, holds: impl Fn() -> bool) -> bool {
        let mut changes = self.state.listen();
        while !holds() {
            tokio::select! {
                outcome = changes.changed() => if outcome.is_err() { return false },
                _ = self.connection.wait_closed() => return false,
                () = tokio::time::sleep_until(deadline) => return false,
            }
        }
        true
    }

    /// Returns true if the server offers `method` for requests that concern no document.
    pub(crate) fn offers_anywhere(&self, method: &str) -> bool {
        self.capabilities.announces(method) || self.state.with_registrations(|known| known.has_method(method))
    }

    /// Returns true if it reads every document before it answers later questions.
    pub(crate) fn reads_in_order(&self) -> bool {
        matches!(self.state.spec.diagnostics.source, DiagnosticsSource::Tsserver | DiagnosticsSource::Pull)
    }

    /// Returns true if it has a sign that it knows the whole project. Answers across files wait for
    /// that sign.
    pub(crate) fn tells_when_ready(&self) -> bool {
        let rule = &self.state.spec.readiness;
        rule.server_status || rule.notification.is_some() || !rule.progress.is_empty()
    }

    /// The time since its start.
    pub(crate) fn age(&self) -> Duration {
        self.started.elapsed()
    }

    /// Returns true if it has run for less than `age`.
    pub(crate) fn is_younger_than(&self, age: Duration) -> bool {
        self.started.elapsed() < age
    }

    /// Returns true if an empty answer may mean that the server has not looked yet.
    pub(super) fn empty_is_doubtful(&self) -> bool {
        self.state.with_readiness(|readiness| readiness.empty_is_doubtful(&self.state.spec.readiness))
    }

    /// The encoding in which the server counts columns.
    pub(crate) fn encoding(&self) -> Encoding {
        self.capabilities.encoding
    }

    /// Ends the server: `shutdown`, `exit`, its input closed, then signals; returns when it has
    /// ended.
    pub(crate) async fn stop(&self) {
        self.stop_within(SERVER_SHUTDOWN_TIMEOUT).await;
    }

    /// Ends the server because its memory is needed, with a short wait.
    pub(crate) async fn stop_for_memory(&self) {
        self.stop_within(SILENT_SERVER_SHUTDOWN_TIMEOUT).await;
    }

    async fn stop_within(&self, patience: Duration) {
        self.state.stop();
        if !self.is_closed() {
            // A server that has just missed a deadline gets the request all the same, with a short
            // wait.
            let patience =
                if self.connection.is_silent() { SILENT_SERVER_SHUTDOWN_TIMEOUT } else { patience };
            let deadline = Instant::now() + patience;
            match self.connection.request::<Value>(Shutdown::METHOD, &Value::Null, deadline).await {
                Err(RequestError::Timeout { .. }) if patience == SILENT_SERVER_SHUTDOWN_TIMEOUT => {
                    tracing::debug!(server = self.server(), "it does not respond and is ended");
                }
                answered => {
                    if let Err(error) = answered {
                        tracing::debug!(server = self.server(), "no clean shutdown: {error}");
                    }
                    notify_server::<ExitNotification>(&self.connection, &());
                    // Some servers stay until their standard input closes; the others have ended
                    // before.
                    let _left = tokio::time::timeout(SERVER_EXIT_GRACE_PERIOD, self.process.wait()).await;
                }
            }
            self.connection.close("it was stopped");
        }
        self.process.terminate(SERVER_EXIT_GRACE_PERIOD).await;
    }
}

fn initialize_params(setup: &SessionSetup, state: &SessionState) -> Value {
    let root = setup.workspace.absolute(&setup.root);
    let options = serde_json::to_value(&state.spec.initialization_options).unwrap_or_default();
    json!({
        "processId": std::process::id(),
        "clientInfo": { "name": "lsp-tools", "version": env!("CARGO_PKG_VERSION") },
        "locale": "en",
        "rootPath": root,
        "rootUri": uri::from_path(&root),
        "workspaceFolders": [workspace_folder(&setup.workspace, &setup.root)],
        "initializationOptions": options,
        "capabilities": capabilities::client_capabilities(),
        "trace": "off"
    })
}

/// The failure of a server's start.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{}", describe_end(Some(reason), exit.as_ref(), stderr))]
pub(crate) struct StartFailure {
    /// A description of the failure.
    pub(crate) reason: String,
    /// The exit of its process, if it ended.
    pub(crate) exit: Option<Exit>,
    /// The last lines of its standard error.
    pub(crate) stderr: Vec<String>,
}

async fn start_failure(process: ServerProcess, connection: Peer, error: &RequestError) -> StartFailure {
    // A server that dies at once closes its pipe a moment before its status and its last words are
    // there.
    let exit = match error {
        RequestError::Closed { .. } => {
            tokio::time::timeout(SERVER_EXIT_GRACE_PERIOD, process.wait()).await.ok()
        }
        _ => None,
    };
    drop(connection);
    process.terminate(Duration::ZERO).await;
    let reason = match error {
        RequestError::Closed { reason } => reason.clone(),
        other => other.to_string(),
    };
    StartFailure { reason, exit, stderr: process.stderr_tail() }
}

fn describe_end(reason: Option<&str>, exit: Option<&Exit>, stderr: &[String]) -> String {
    let mut text = match (exit, reason) {
        // The end of its output is how its own end looks from here; any other reason is why we
        // ended it.
        (Some(exit), None | Some(OUTPUT_CLOSED)) => format!("it ended with {exit}"),
        (_, Some(reason)) => reason.to_owned(),
        (None, None) => "it ended".to_owned(),
    };
    let tail: Vec<&str> = stderr.iter().rev().take(5).rev().map(String::as_str).collect();
    if !tail.is_empty() {
        text.push_str("; last words: ");
        text.push_str(&tail.join(" | "));
    }
    text
}
