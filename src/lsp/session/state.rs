//! The state of a session beside its documents. The connection's task writes it as messages of the
//! server arrive; waiting tasks read it.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use lsp_types::WorkspaceFolder;
use parking_lot::Mutex;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::bounded_answer::{self, BoundedAnswer};
use super::capabilities::Registrations;
use super::progress::{ProgressEvent, Watchers};
use super::readiness::Readiness;
use crate::config::spec;
use crate::lsp::diagnostics::check_runs::{BackgroundCheckRuns, is_check_progress};
use crate::lsp::diagnostics::refreshes::Refreshes;
use crate::lsp::uri;
use crate::workspace::{Workspace, WorkspacePath};

/// The number of the server's own messages that are kept for explanations.
const MAX_KEPT_SERVER_MESSAGES: usize = 8;
/// LSP 3.17, `DiagnosticSeverity`.
const ERROR: u64 = 1;
/// LSP 3.17, `DiagnosticSeverity`.
const WARNING: u64 = 2;

/// All reports of the server on one document's diagnostics.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pushes {
    /// The number of `textDocument/publishDiagnostics` for the document.
    pub(crate) count: u64,
    /// The `version` of the last one.
    pub(crate) version: Option<i32>,
    /// The `diagnostics` of the last one, undecoded.
    pub(crate) items: Arc<Vec<Value>>,
    /// The number of further findings that were not kept.
    pub(crate) left_out: usize,
    /// The number of times that the findings changed.
    pub(crate) revision: u64,
    /// The number of successive pushes with that version.
    pub(crate) of_version: u64,
    /// The number of idle signs for the document (see the catalogue).
    pub(crate) idle: u64,
    /// The number of idle signs when the last push came.
    pub(crate) idle_at_push: u64,
    /// The number of work signs for the document (the idle sign's `work`).
    pub(crate) worked: u64,
    /// True if the server's last message on the document's state was not "done".
    pub(crate) busy: bool,
    /// The time of the last push.
    pub(crate) pushed_at: Option<Instant>,
    /// True if the last push may hold findings of before the project was loaded, so that another
    /// follows.
    pub(crate) is_early: bool,
}

/// State shared between a session and its connection.
#[derive(Debug)]
pub(crate) struct SessionState {
    /// The server's key in the catalogue.
    pub(crate) server: String,
    /// The catalogue's entry.
    pub(crate) spec: Arc<spec::ServerSpec>,
    workspace: Workspace,
    settings: Value,
    inner: Mutex<SessionStateInner>,
    refreshes: Mutex<Refreshes>,
    /// Signalled at every message of the server that a caller may wait for.
    changes: watch::Sender<u64>,
    progress: Watchers,
}

#[derive(Debug, Default)]
struct SessionStateInner {
    registrations: Registrations,
    readiness: Readiness,
    background_check: BackgroundCheckRuns,
    pushes: HashMap<WorkspacePath, Pushes>,
    /// True if an open document has got no push within the time allowed for the first one.
    leaves_documents_unpushed: bool,
    folders: Vec<WorkspacePath>,
    messages: VecDeque<String>,
    /// The first message by which the server objects to the project's configuration.
    complaint: Option<String>,
    /// The outcome of the last check of each document whose outcome the server reported. A failure
    /// has the objection by which the server explains it.
    check_outcomes: BTreeMap<WorkspacePath, Result<(), Option<String>>>,
    /// The first finding in each configuration file to which the server objects, as published last.
    configuration_errors: BTreeMap<WorkspacePath, String>,
    stopping: bool,
    /// True if the server has asked for its settings.
    has_asked_for_settings: bool,
    /// Edits that the server requests while our command runs there; `None` at other times.
    collected: Option<Vec<Value>>,
    /// A count of the events that invalidate earlier diagnostics: other files' changes, the
    /// server's own refresh requests.
    epoch: u64,
}

impl SessionState {
    /// Creates the state of a server that was just started with `folders`.
    pub(crate) fn new(
        server: &str,
        spec: Arc<spec::ServerSpec>,
        workspace: Workspace,
        settings: Value,
        folders: Vec<WorkspacePath>,
        progress: Watchers,
    ) -> Self {
        let inner = Mutex::new(SessionStateInner { folders, ..SessionStateInner::default() });
        let server = server.to_owned();
        let refreshes = Mutex::new(Refreshes::new(Instant::now()));
        Self { server, spec, workspace, settings, inner, refreshes, changes: watch::channel(0).0, progress }
    }

    fn notify_listeners(&self) {
        self.changes.send_modify(|rings| *rings = rings.wrapping_add(1));
    }

    /// Returns a receiver that wakes at every message of the server. Subscribe first, then read the
    /// state, then wait.
    pub(crate) fn listen(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Reads the registrations.
    pub(crate) fn with_registrations<T>(&self, read: impl FnOnce(&Registrations) -> T) -> T {
        read(&self.inner.lock().registrations)
    }

    /// Reads or updates the readiness.
    pub(crate) fn with_readiness<T>(&self, read: impl FnOnce(&mut Readiness) -> T) -> T {
        read(&mut self.inner.lock().readiness)
    }

    /// Reads or updates the runs of the background check.
    pub(crate) fn with_background_check<T>(&self, read: impl FnOnce(&mut BackgroundCheckRuns) -> T) -> T {
        read(&mut self.inner.lock().background_check)
    }

    /// The pushes for a document.
    pub(crate) fn pushes(&self, path: &WorkspacePath) -> Pushes {
        self.inner.lock().pushes.get(path).cloned().unwrap_or_default()
    }

    /// The last findings pushed for each document.
    pub(crate) fn pushed_findings(&self) -> Vec<(WorkspacePath, Arc<Vec<Value>>)> {
        let inner = self.inner.lock();
        let pushed = inner.pushes.iter().filter(|(_, pushes)| pushes.count > 0);
        pushed.map(|(path, pushes)| (path.clone(), pushes.items.clone())).collect()
    }

    /// The number of pushes for a document.
    pub(crate) fn push_count(&self, path: &WorkspacePath) -> u64 {
        self.inner.lock().pushes.get(path).map_or(0, |pushes| pushes.count)
    }

    /// Returns true if the server has left an open document without a push.
    pub(super) fn leaves_documents_unpushed(&self) -> bool {
        self.inner.lock().leaves_documents_unpushed
    }

    /// Records that the server has left an open document without a push.
    pub(super) fn mark_document_unpushed(&self) {
        self.inner.lock().leaves_documents_unpushed = true;
    }

    /// The number of times that the pushed findings of a document changed.
    pub(crate) fn findings_revision(&self, path: &WorkspacePath) -> u64 {
        self.inner.lock().pushes.get(path).map_or(0, |pushes| pushes.revision)
    }

    /// Starts to keep the diagnostics published for a notebook cell, until [`Self::forget_cell`].
    pub(crate) fn expect_pushes(&self, cell: &WorkspacePath) {
        self.inner.lock().pushes.insert(cell.clone(), Pushes::default());
    }

    /// Forgets the diagnostics published for a notebook cell.
    pub(crate) fn forget_cell(&self, cell: &WorkspacePath) {
        self.inner.lock().pushes.remove(cell);
    }

    /// Treats a document for which nothing was published as one without findings.
    pub(crate) fn assume_no_findings(&self, path: &WorkspacePath) {
        let mut inner = self.inner.lock();
        let pushes = inner.pushes.entry(path.clone()).or_default();
        pushes.count = pushes.count.max(1);
    }

    /// Removes the pushes for a closed document. Findings of a background check stay, because they
    /// are not pushed again when it is opened.
    pub(crate) fn forget_pushes(&self, path: &WorkspacePath) {
        if self.spec.diagnostics.background_check.is_none() {
            let mut inner = self.inner.lock();
            inner.pushes.remove(path);
            inner.configuration_errors.remove(path);
        }
    }

    /// Returns the count of the events that invalidate earlier diagnostics.
    pub(crate) fn epoch(&self) -> u64 {
        self.inner.lock().epoch
    }

    /// Records a change outside a document on which its diagnostics may depend.
    pub(crate) fn advance_epoch(&self) {
        self.refreshes.lock().note_change(Instant::now());
        self.outdate_findings();
    }

    fn outdate_findings(&self) {
        self.inner.lock().epoch += 1;
        self.notify_listeners();
    }

    /// The number of times that the server has announced changed findings (LSP 3.17, *Diagnostics
    /// Refresh*).
    pub(crate) fn refreshes(&self) -> u64 {
        self.refreshes.lock().count()
    }

    /// Returns the workspace folders that the server has.
    pub(crate) fn folders(&self) -> Vec<WorkspacePath> {
        self.inner.lock().folders.clone()
    }

    /// Records one more folder; returns false if it was known.
    pub(crate) fn add_folder(&self, folder: WorkspacePath) -> bool {
        let mut inner = self.inner.lock();
        let new = !inner.folders.contains(&folder);
        if new {
            inner.folders.push(folder);
        }
        new
    }

    /// Marks the session as ending. The server's requests are answered with null from now on:
    /// errors make some servers abort their shutdown.
    pub(crate) fn stop(&self) {
        self.inner.lock().stopping = true;
    }

    /// Returns true if the server is being ended.
    pub(crate) fn is_stopping(&self) -> bool {
        self.inner.lock().stopping
    }

    /// The server's last errors and warnings for the user, oldest first.
    pub(crate) fn messages(&self) -> Vec<String> {
        self.inner.lock().messages.iter().cloned().collect()
    }

    /// The message by which the server objects to the project's configuration.
    pub(crate) fn complaint(&self) -> Option<String> {
        self.inner.lock().complaint.clone()
    }

    /// The objection to the configuration that holds for `path`, and true if the server reports the
    /// outcome of checks and has not succeeded in checking the file.
    pub(crate) fn complaint_about(&self, path: &WorkspacePath) -> (Option<String>, bool) {
        let inner = self.inner.lock();
        match inner.check_outcomes.get(path) {
            Some(Ok(())) => (None, false),
            Some(Err(objection)) => (objection.clone(), true),
            None => (inner.complaint.clone(), self.spec.diagnostics.check_status.is_some()),
        }
    }

    /// Records that the server could not check `path`, with its reason.
    pub(crate) fn record_failed_check(&self, path: WorkspacePath, reason: String) {
        self.inner.lock().check_outcomes.insert(path, Err(Some(reason)));
    }

    /// Returns true if the server does nothing since it does not accept the configuration.
    pub(crate) fn is_silent(&self) -> bool {
        self.spec.diagnostics.silent_if_refused && self.complaint().is_some()
    }

    /// The first error in each configuration file that has one.
    pub(crate) fn configuration_errors(&self) -> BTreeMap<WorkspacePath, String> {
        self.inner.lock().configuration_errors.clone()
    }

    /// Returns the settings under a dotted `section`; all settings for none.
    pub(crate) fn configuration(&self, section: Option<&str>) -> Value {
        let mut value = &self.settings;
        for part in section.unwrap_or_default().split('.').filter(|part| !part.is_empty()) {
            match value.get(part) {
                Some(inner) => value = inner,
                None => return Value::Null,
            }
        }
        value.clone()
    }

    /// Returns the settings in the form of `workspace/didChangeConfiguration`.
    pub(crate) fn settings(&self) -> &Value {
        &self.settings
    }

    /// Waits until the server asks for its settings, at most until `deadline`; returns true if it
    /// has asked.
    pub(super) async fn await_settings_request(&self, deadline: Instant) -> bool {
        self.wait_until(deadline, |inner| inner.has_asked_for_settings).await
    }

    /// Waits until the server has loaded the project, by its signs; false at the deadline.
    pub(super) async fn await_load(&self, deadline: Instant) -> bool {
        self.wait_until(deadline, |inner| !inner.readiness.is_loading(&self.spec.readiness)).await
    }

    /// Waits until `holds`, which is examined at every message of the server; false at the deadline.
    async fn wait_until(&self, deadline: Instant, holds: impl Fn(&SessionStateInner) -> bool) -> bool {
        let mut changes = self.listen();
        let holds = || holds(&self.inner.lock());
        let held = async { while !holds() && changes.changed().await.is_ok() {} };
        timeout_at(deadline, held).await.is_ok()
    }

    /// Records that no push followed the first `count` for `path`, so that the last one counts.
    pub(crate) fn settle_push(&self, path: &WorkspacePath, count: u64) {
        if let Some(pushes) = self.inner.lock().pushes.get_mut(path).filter(|pushes| pushes.count == count) {
            pushes.is_early = false;
        }
    }

    fn on_publish_diagnostics(&self, params: &RawValue) {
        #[derive(serde::Deserialize)]
        struct PublishedDiagnostics {
            uri: String,
            version: Option<i32>,
            #[serde(default)]
            diagnostics: Vec<Value>,
        }
        let read = bounded_answer::read("textDocument/publishDiagnostics", params.get());
        let read = read.and_then(|BoundedAnswer { value, left_out }| {
            serde_json::from_value::<PublishedDiagnostics>(value)
                .map(|publish| (publish, left_out))
                .map_err(|error| error.to_string())
        });
        let (publish, left_out) = match read {
            Ok(read) => read,
            Err(error) => {
                tracing::warn!(server = %self.server, "diagnostics that cannot be decoded: {error}");
                return;
            }
        };
        let cell = uri::cell_path(&self.workspace, &publish.uri);
        let is_cell = cell.is_some();
        let of_file = || uri::to_path(&publish.uri).and_then(|path| self.workspace.workspace_path(&path));
        let Some(path) = cell.or_else(of_file) else { return };
        {
            let mut inner = self.inner.lock();
            if is_cell && !inner.pushes.contains_key(&path) {
                // It was closed meanwhile.
                return;
            }
            if self.spec.is_configuration_file(&path.name_lossy()) {
                let least = if self.spec.configuration_warnings { WARNING } else { ERROR };
                match first_finding(&publish.diagnostics, least) {
                    Some(error) => inner.configuration_errors.insert(path.clone(), error),
                    None => inner.configuration_errors.remove(&path),
                };
            }
            let is_loading = inner.readiness.is_loading(&self.spec.readiness);
            // Findings computed before the load ended may arrive after it, and look the same.
            let rule = &self.spec.diagnostics;
            let may_be_older = rule.source == spec::DiagnosticsSource::VersionedPush
                && inner.readiness.has_just_loaded(rule.quiet_time());
            let pushes = inner.pushes.entry(path).or_default();
            pushes.count += 1;
            pushes.of_version = if pushes.version == publish.version { pushes.of_version + 1 } else { 1 };
            pushes.version = publish.version;
            pushes.revision += u64::from(*pushes.items != publish.diagnostics);
            pushes.items = Arc::new(publish.diagnostics);
            pushes.left_out = left_out;
            pushes.idle_at_push = pushes.idle;
            pushes.pushed_at = Some(Instant::now());
            pushes.is_early = is_loading || may_be_older;
        }
        self.notify_listeners();
    }

    fn on_other_notification(&self, method: &str, params: &Value) {
        let rule = &self.spec.readiness;
        let idle = self.spec.diagnostics.idle.as_ref().filter(|sign| sign.method == method);
        let mut inner = self.inner.lock();
        inner.readiness.on_notification(rule, method, params);
        match method {
            "experimental/serverStatus" => {
                inner.readiness.server_status(rule, params);
                inner.background_check.on_server_status(params);
            }
            "window/showMessage" | "window/logMessage" => {
                self.note_message(&mut inner, method, params);
                drop(inner);
                self.notify_listeners();
                let method =
                    if method == "window/showMessage" { "window/showMessage" } else { "window/logMessage" };
                return self.progress.people.broadcast(&self.server, method, params);
            }
            _ => {}
        }
        let path = || self.workspace.workspace_path(&uri::to_path(params["uri"].as_str()?)?);
        if let Some(rule) = &self.spec.diagnostics.check_status
            && rule.method == method
            && let Some(path) = path()
        {
            let value = params[&rule.field].to_string();
            let outcome = if value == rule.success { Ok(()) } else { Err(inner.complaint.clone()) };
            if outcome.is_ok() {
                inner.complaint = None;
            }
            inner.check_outcomes.insert(path, outcome);
        }
        if let Some(sign) = idle
            && let Some(path) = path()
        {
            let value = params[&sign.field].as_str().unwrap_or_default();
            let done = value.starts_with(sign.value.as_str());
            let works = sign.work.as_deref().is_some_and(|work| value.starts_with(work));
            let pushes = inner.pushes.entry(path).or_default();
            pushes.worked += u64::from(works);
            pushes.busy = !done;
            pushes.idle += u64::from(done);
        }
        drop(inner);
        self.notify_listeners();
    }

    fn note_message(&self, inner: &mut SessionStateInner, method: &str, params: &Value) {
        let text = params["message"].as_str().unwrap_or_default();
        let text: String = text.chars().take(500).collect();
        tracing::debug!(server = %self.server, method, text);
        let is_new = inner.complaint.is_none() || self.spec.diagnostics.check_status.is_some();
        if is_new && self.spec.complaints.iter().any(|rule| rule.is_in(&text)) {
            let cause = inner.messages.back().filter(|_| self.spec.diagnostics.silent_if_refused);
            inner.complaint = Some(cause.map_or_else(|| text.clone(), |cause| format!("{cause} {text}")));
        }
        // LSP 3.17 MessageType: 1 error, 2 warning.
        if matches!(params["type"].as_u64(), Some(1 | 2)) {
            if inner.messages.len() == MAX_KEPT_SERVER_MESSAGES {
                inner.messages.pop_front();
            }
            inner.messages.push_back(text);
        }
    }

    fn note_progress(&self, params: &Value) {
        let checker = self.spec.diagnostics.background_check.as_ref();
        let is_check = checker.is_some_and(|rule| is_check_progress(rule, params));
        let work = {
            let mut inner = self.inner.lock();
            match is_check {
                true => inner.background_check.on_progress(params),
                false => inner.readiness.on_progress(&self.spec.readiness, params),
            }
        };
        self.notify_listeners();
        if let Some(work) = work {
            self.progress.notify(&ProgressEvent::ServerProgress {
                server: self.server.clone(),
                title: work.title,
                message: work.message,
                percentage: work.percentage,
            });
        }
    }

    /// Returns the folders, as the answer to `workspace/workspaceFolders`.
    pub(crate) fn workspace_folders(&self) -> Value {
        let folder = |folder: &WorkspacePath| workspace_folder(&self.workspace, folder);
        json!(self.folders().iter().map(folder).collect::<Vec<_>>())
    }

    /// Accepts the edits that the server requests until the returned value is dropped.
    pub(crate) fn collect_edits(&self) -> EditCollectionGuard<'_> {
        self.inner.lock().collected = Some(Vec::new());
        EditCollectionGuard(self)
    }

    /// Handles LSP 3.17 *ApplyWorkspaceEdit*: only the edits of our own command are accepted.
    pub(crate) fn apply_edit(&self, params: &Value) -> Value {
        match &mut self.inner.lock().collected {
            Some(edits) => {
                edits.push(params["edit"].clone());
                json!({ "applied": true })
            }
            None => {
                json!({ "applied": false, "failureReason": "only requested edits are applied" })
            }
        }
    }

    /// Returns the settings of each item of a `workspace/configuration`; `None` if there are no
    /// items.
    pub(crate) fn workspace_configuration(&self, params: &Value) -> Option<Value> {
        let items = params["items"].as_array()?;
        self.inner.lock().has_asked_for_settings = true;
        self.notify_listeners();
        Some(items.iter().map(|item| self.configuration(item["section"].as_str())).collect())
    }

    /// Handles `client/registerCapability`.
    pub(crate) fn register(&self, params: &Value) {
        self.inner.lock().registrations.register(params);
        self.notify_listeners();
    }

    /// Handles `client/unregisterCapability`.
    pub(crate) fn unregister(&self, params: &Value) {
        self.inner.lock().registrations.unregister(params);
        self.notify_listeners();
    }

    /// Handles `workspace/diagnostic/refresh`.
    pub(crate) fn refresh_diagnostics(&self) {
        self.refreshes.lock().add(self.spec.diagnostics.keeps_findings, Instant::now());
        self.outdate_findings();
    }

    /// Handles `window/showMessageRequest`: returns the choice of an editor's user.
    pub(crate) fn ask_user(&self, params: Value) -> impl Future<Output = Value> + Send + use<> {
        self.progress.people.ask(&self.server, params)
    }

    /// Handles a notification of the server.
    pub(crate) fn on_notification(&self, method: &str, params: &RawValue) {
        if method == "textDocument/publishDiagnostics" {
            return self.on_publish_diagnostics(params);
        }
        let Ok(params) = serde_json::from_str::<Value>(params.get()) else { return };
        if method == "$/progress" {
            self.note_progress(&params)
        } else {
            self.on_other_notification(method, &params)
        }
    }
}

/// Allows the server to request edits while it lives.
pub(crate) struct EditCollectionGuard<'a>(&'a SessionState);

impl EditCollectionGuard<'_> {
    /// Takes the edits that it has requested so far.
    pub(crate) fn take_edits(&self) -> Vec<Value> {
        self.0.inner.lock().collected.as_mut().map(std::mem::take).unwrap_or_default()
    }
}

impl Drop for EditCollectionGuard<'_> {
    fn drop(&mut self) {
        self.0.inner.lock().collected = None;
    }
}

/// Builds LSP 3.17 *WorkspaceFolder*.
pub(crate) fn workspace_folder(workspace: &Workspace, folder: &WorkspacePath) -> WorkspaceFolder {
    let absolute = workspace.absolute(folder);
    let name = absolute.file_name().map_or("workspace".into(), |name| name.to_string_lossy().into_owned());
    WorkspaceFolder { uri: uri::from_path(&absolute), name }
}

/// The message of the first finding that is published with the severity `least` or a worse one (LSP
/// 3.17, *Diagnostic*).
fn first_finding(findings: &[Value], least: u64) -> Option<String> {
    let is_severe = |item: &&Value| item["severity"].as_u64().is_none_or(|severity| severity <= least);
    findings.iter().find(is_severe)?["message"].as_str().map(str::to_owned)
}
