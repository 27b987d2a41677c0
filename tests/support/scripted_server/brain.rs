//! The server's state and answers, independent of the transport: shared by the raw and the behaving
//! server.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use url::Url;

use crate::documents::{Document, Documents, Encoding, apply, diagnostics};
use crate::fingerprint::fingerprint;
use crate::journal::Journal;
use crate::lookups::View;
use crate::scenario::{Begin, ErrorSpec, Mode, Scenario, SyncKind};

pub const METHOD_NOT_FOUND: i64 = -32601;

/// Texts up to this size are logged verbatim.
const LOGGED_TEXT: usize = 64 * 1024;

/// A message that the server sends unasked.
#[derive(Debug, Clone)]
pub enum Outgoing {
    Notify(&'static str, Value),
    /// A notification whose method the scenario names.
    NotifyNamed(String, Value),
    Request(&'static str, Value),
}

/// An action a while after the previous one.
#[derive(Debug, Clone)]
pub struct Step {
    pub wait: Duration,
    pub effect: Effect,
}

#[derive(Debug, Clone)]
pub enum Effect {
    Send(Outgoing),
    /// Publishes for the current text, unless the document changed since `version`.
    Publish {
        uri: String,
        version: i64,
    },
    Indexing(bool),
    PullRegistered,
}

/// An answer and its time.
#[derive(Debug)]
pub struct Planned {
    pub delay: Duration,
    pub result: Result<Value, ErrorSpec>,
}

#[derive(Default)]
struct State {
    documents: Documents,
    root: Option<PathBuf>,
    encoding: Encoding,
    indexing: bool,
    index_begun: bool,
    pull_registered: bool,
    tries: BTreeMap<String, usize>,
    published: BTreeMap<String, Value>,
}

pub struct Brain {
    pub scenario: Scenario,
    /// The 1-based number of this start in the scenario.
    pub number: u64,
    pub journal: Arc<Journal>,
    state: Mutex<State>,
}

impl Brain {
    pub fn new(scenario: Scenario, number: u64, journal: Arc<Journal>) -> Self {
        Self { scenario, number, journal, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The result of `initialize`.
    pub fn initialize(&self, params: &Value) -> Value {
        let mut state = self.state();
        let uri = params["rootUri"].as_str().or_else(|| params["workspaceFolders"][0]["uri"].as_str());
        state.root = uri.and_then(|uri| Url::parse(uri).ok()?.to_file_path().ok());
        let offered = &params["capabilities"]["general"]["positionEncodings"];
        let wanted = self.scenario.encoding;
        let accepted = offered.as_array().is_some_and(|list| list.iter().any(|name| name == wanted.name()));
        state.encoding = if accepted || !self.scenario.announce { wanted } else { Encoding::Utf16 };
        let mut capabilities = json!({
            "textDocumentSync": {"openClose": true, "change": self.scenario.sync as u8, "save": {"includeText": false}},
            "hoverProvider": true,
            "definitionProvider": true,
            "referencesProvider": true,
            "documentSymbolProvider": true,
            "workspaceSymbolProvider": true,
        });
        if self.scenario.announce {
            capabilities["positionEncoding"] = json!(state.encoding.name());
        }
        if self.scenario.diagnostics.mode == Mode::Pull
            && self.scenario.diagnostics.register_after_ms.is_none()
        {
            capabilities["diagnosticProvider"] = pull_options();
            state.pull_registered = true;
        }
        for (provider, options) in self.scenario.answers.keys().filter_map(|method| provider(method)) {
            capabilities[provider] = options;
        }
        merge(&mut capabilities, &self.scenario.capabilities);
        let info = self.scenario.server_info.clone();
        let info = info.unwrap_or_else(|| json!({"name": "scripted", "version": "1.0.0"}));
        json!({"capabilities": capabilities, "serverInfo": info})
    }

    /// The actions that a notification triggers: chains of steps that run concurrently.
    pub fn notification(&self, method: &str, params: &Value) -> Vec<Vec<Step>> {
        let uri = params["textDocument"]["uri"].as_str().unwrap_or_default().to_owned();
        match method {
            "initialized" => [self.begin_index(Begin::Initialized), self.register_pull()].concat(),
            "textDocument/didOpen" => {
                self.open(&uri, &params["textDocument"]);
                [self.begin_index(Begin::DidOpen), self.check(&uri, None, false)].concat()
            }
            "textDocument/didChange" => {
                let old = self.change(&uri, params);
                if self.scenario.diagnostics.only_on_save { Vec::new() } else { self.check(&uri, old, false) }
            }
            "textDocument/didSave" if self.scenario.diagnostics.only_on_save => self.check(&uri, None, true),
            "textDocument/didClose" => {
                let mut state = self.state();
                state.published.remove(&uri);
                if state.documents.remove(&uri).is_none() {
                    self.journal.violation(format!("didClose of {uri}, which is not open"));
                }
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn open(&self, uri: &str, item: &Value) {
        let document = Document {
            version: item["version"].as_i64().unwrap_or_default(),
            text: item["text"].as_str().unwrap_or_default().to_owned(),
        };
        self.log_text(uri, &document);
        if self.state().documents.insert(uri.to_owned(), document).is_some() {
            self.journal.violation(format!("didOpen of {uri}, which is open already"));
        }
    }

    /// Applies the changes; returns the previous document.
    fn change(&self, uri: &str, params: &Value) -> Option<Document> {
        let mut state = self.state();
        let encoding = state.encoding;
        let Some(document) = state.documents.get_mut(uri) else {
            self.journal.violation(format!("didChange of {uri}, which is not open"));
            return None;
        };
        let old = document.clone();
        let version = params["textDocument"]["version"].as_i64().unwrap_or_default();
        if version <= old.version {
            self.journal.violation(format!("version {version} of {uri} after version {}", old.version));
        }
        document.version = version;
        for change in params["contentChanges"].as_array().into_iter().flatten() {
            if change.get("range").is_some() && self.scenario.sync == SyncKind::Full {
                self.journal.violation("an incremental change, where full ones are announced".to_owned());
            }
            if let Err(problem) = apply(&mut document.text, change, encoding) {
                self.journal.violation(format!("change of {uri}: {problem}"));
            }
        }
        self.log_text(uri, document);
        Some(old)
    }

    fn log_text(&self, uri: &str, document: &Document) {
        let mut more =
            json!({"uri": uri, "version": document.version, "fingerprint": fingerprint(&document.text)});
        if document.text.len() <= LOGGED_TEXT {
            more["text"] = json!(document.text);
        }
        self.journal.event("text", more);
    }

    /// The publishes that follow an event on `uri`; `old` is the document before a change.
    fn check(&self, uri: &str, old: Option<Document>, saved: bool) -> Vec<Vec<Step>> {
        let rules = &self.scenario.diagnostics;
        if matches!(rules.mode, Mode::Pull | Mode::None) {
            return Vec::new();
        }
        let Some(document) = self.state().documents.get(uri).cloned() else { return Vec::new() };
        let mut steps = Vec::new();
        let idle = |state: &str| {
            let idle = rules.idle.as_ref()?;
            let state = if state == "busy" { &idle.busy } else { &idle.done };
            let params = json!({"uri": uri, idle.field.as_str(): state});
            Some(now(Effect::Send(Outgoing::NotifyNamed(idle.method.clone(), params))))
        };
        steps.extend(idle("busy"));
        if rules.stale_first
            && let Some(old) = &old
        {
            steps.push(now(Effect::Send(self.published(uri, old))));
        }
        if old.is_none() && !saved {
            let empty = Document { text: String::new(), ..document };
            let wait = Duration::from_millis(rules.empty_delay_ms);
            let push = Step { wait, effect: Effect::Send(self.published(uri, &empty)) };
            steps.extend(std::iter::repeat_n(push, rules.empty_pushes));
        }
        let wait = Duration::from_millis(rules.debounce_ms);
        let publish = Effect::Publish { uri: uri.to_owned(), version: document.version };
        steps.push(Step { wait, effect: publish.clone() });
        if rules.twice {
            steps.push(now(publish));
        }
        steps.extend(idle("done"));
        vec![steps]
    }

    /// The push for `document`.
    fn published(&self, uri: &str, document: &Document) -> Outgoing {
        let rules = &self.scenario.diagnostics;
        let items = rules.items.clone();
        let items = items.unwrap_or_else(|| Value::Array(diagnostics(&document.text, self.encoding())));
        let mut params = json!({"uri": uri, "diagnostics": items});
        if rules.mode == Mode::PushVersioned {
            params["version"] = json!(document.version + rules.version_offset);
        }
        Outgoing::Notify("textDocument/publishDiagnostics", params)
    }

    pub fn encoding(&self) -> Encoding {
        self.state().encoding
    }

    fn register_pull(&self) -> Vec<Vec<Step>> {
        let rules = &self.scenario.diagnostics;
        let Some(ms) = rules.register_after_ms.filter(|_| rules.mode == Mode::Pull) else {
            return Vec::new();
        };
        let mut options = pull_options();
        options["documentSelector"] = Value::Null;
        let registration =
            json!({"id": "pull-1", "method": "textDocument/diagnostic", "registerOptions": options});
        let request =
            Outgoing::Request("client/registerCapability", json!({"registrations": [registration]}));
        vec![vec![
            Step { wait: Duration::from_millis(ms), effect: Effect::PullRegistered },
            now(Effect::Send(request)),
        ]]
    }

    fn begin_index(&self, moment: Begin) -> Vec<Vec<Step>> {
        let Some(index) = self.scenario.index.as_ref().filter(|index| index.begins_on == moment) else {
            return Vec::new();
        };
        let mut state = self.state();
        if std::mem::replace(&mut state.index_begun, true) {
            return Vec::new();
        }
        state.indexing = true;
        let token = "scripted-index";
        let send = |wait: Duration, outgoing: Outgoing| Step { wait, effect: Effect::Send(outgoing) };
        let progress = |value: Value| Outgoing::Notify("$/progress", json!({"token": token, "value": value}));
        let status = |quiescent: bool| {
            let params = json!({"health": "ok", "quiescent": quiescent, "message": null});
            Outgoing::Notify("experimental/serverStatus", params)
        };
        let mut steps =
            vec![Step { wait: Duration::from_millis(index.delay_ms), effect: Effect::Indexing(true) }];
        if index.server_status {
            steps.push(send(Duration::ZERO, status(false)));
        }
        if index.progress {
            steps.push(send(
                Duration::ZERO,
                Outgoing::Request("window/workDoneProgress/create", json!({"token": token})),
            ));
            let begin = json!({"kind": "begin", "title": index.title, "percentage": 0, "cancellable": false});
            steps.push(send(Duration::ZERO, progress(begin)));
        }
        let share = Duration::from_millis(index.ms) / (index.steps + 1);
        for step in 1..=index.steps {
            let percentage = 100 * step / (index.steps + 1);
            let report = json!({"kind": "report", "message": format!("{step}/{}", index.steps), "percentage": percentage});
            match index.progress {
                true => steps.push(send(share, progress(report))),
                false => steps.push(Step { wait: share, effect: Effect::Indexing(true) }),
            }
        }
        if index.never_ends {
            return vec![steps];
        }
        steps.push(Step { wait: share, effect: Effect::Indexing(false) });
        if index.progress {
            steps.push(send(Duration::ZERO, progress(json!({"kind": "end", "message": "done"}))));
        }
        if index.server_status {
            steps.push(send(Duration::ZERO, status(true)));
        }
        vec![steps]
    }

    /// Applies a step to the state; returns the message to send, if any.
    pub fn perform(&self, effect: Effect) -> Option<Outgoing> {
        match effect {
            Effect::Send(outgoing) => Some(outgoing),
            Effect::Indexing(indexing) => {
                self.state().indexing = indexing;
                None
            }
            Effect::PullRegistered => {
                self.state().pull_registered = true;
                None
            }
            Effect::Publish { uri, version } => {
                let document = self
                    .state()
                    .documents
                    .get(&uri)
                    .filter(|document| document.version == version)
                    .cloned()?;
                let outgoing = self.published(&uri, &document);
                if let Outgoing::Notify(_, params) = &outgoing {
                    let items = params["diagnostics"].clone();
                    let last = self.state().published.insert(uri, items.clone());
                    if self.scenario.diagnostics.silent_when_same && last == Some(items) {
                        return None;
                    }
                }
                Some(outgoing)
            }
        }
    }

    /// The answer to a request (not `initialize`, not `shutdown`).
    pub fn request(&self, method: &str, params: &Value) -> Planned {
        let Some(answer) = self.scenario.answers.get(method) else {
            return Planned { delay: Duration::ZERO, result: self.honest(method, params) };
        };
        let delay = Duration::from_millis(answer.delay_ms);
        let mut state = self.state();
        let tries = state.tries.entry(method.to_owned()).or_default();
        *tries += 1;
        let failing = answer.first.as_ref().filter(|first| *tries <= first.times);
        let result = match (failing, &answer.error, &answer.while_indexing, &answer.result) {
            (Some(first), ..) => Err(first.error.clone()),
            (None, Some(error), ..) => Err(error.clone()),
            (None, None, Some(result), _) if state.indexing => Ok(self.filled(result, params, &state)),
            (None, None, _, Some(result)) => Ok(self.filled(result, params, &state)),
            (None, None, _, None) => {
                drop(state);
                self.honest(method, params)
            }
        };
        Planned { delay, result }
    }

    /// `text` with `${root}` filled in.
    pub fn with_root(&self, text: &str) -> String {
        self.filled(&text.into(), &Value::Null, &self.state()).as_str().unwrap_or_default().to_owned()
    }

    /// `result` with `${uri}` and `${root}` filled in.
    fn filled(&self, result: &Value, params: &Value, state: &State) -> Value {
        match result {
            Value::String(text) => {
                let uri = params["textDocument"]["uri"].as_str().unwrap_or_default();
                let root = state.root.as_ref().and_then(|root| Url::from_file_path(root).ok());
                let root = root.map(String::from).unwrap_or_default();
                Value::String(text.replace("${uri}", uri).replace("${root}", &root))
            }
            Value::Array(items) => items.iter().map(|item| self.filled(item, params, state)).collect(),
            Value::Object(map) => {
                let filled = map.iter().map(|(key, value)| (key.clone(), self.filled(value, params, state)));
                Value::Object(filled.collect())
            }
            other => other.clone(),
        }
    }

    fn honest(&self, method: &str, params: &Value) -> Result<Value, ErrorSpec> {
        let state = self.state();
        let view = View {
            documents: &state.documents,
            root: state.root.as_deref(),
            encoding: state.encoding,
            hover_version: self.scenario.hover_version,
        };
        match method {
            "textDocument/hover" => Ok(view.hover(params)),
            "textDocument/definition" => Ok(view.definition(params)),
            "textDocument/references" => {
                let mut found = view.references(params);
                if let (Value::Array(all), true) = (&mut found, state.indexing) {
                    all.truncate(all.len() / 2);
                }
                Ok(found)
            }
            "textDocument/documentSymbol" => Ok(view.document_symbols(params)),
            "workspace/symbol" => Ok(view.workspace_symbols(params)),
            "textDocument/diagnostic" if state.pull_registered => Ok(self.pulled(&view, params)),
            _ => {
                Err(ErrorSpec { code: METHOD_NOT_FOUND, message: format!("no method {method}"), data: None })
            }
        }
    }

    fn pulled(&self, view: &View<'_>, params: &Value) -> Value {
        let text = view.text(params["textDocument"]["uri"].as_str().unwrap_or_default()).unwrap_or_default();
        let id = fingerprint(&text);
        if params["previousResultId"] == id.as_str() {
            return json!({"kind": "unchanged", "resultId": id});
        }
        let items = self.scenario.diagnostics.items.clone();
        let items = items.unwrap_or_else(|| Value::Array(diagnostics(&text, view.encoding)));
        json!({"kind": "full", "resultId": id, "items": items})
    }
}

fn now(effect: Effect) -> Step {
    Step { wait: Duration::ZERO, effect }
}

fn pull_options() -> Value {
    json!({"identifier": "scripted", "interFileDependencies": false, "workspaceDiagnostics": false})
}

/// The capability that announces a method, beyond those always announced.
fn provider(method: &str) -> Option<(&'static str, Value)> {
    Some(match method {
        "textDocument/declaration" => ("declarationProvider", json!(true)),
        "textDocument/typeDefinition" => ("typeDefinitionProvider", json!(true)),
        "textDocument/implementation" => ("implementationProvider", json!(true)),
        "textDocument/completion" => ("completionProvider", json!({})),
        "textDocument/signatureHelp" => ("signatureHelpProvider", json!({"triggerCharacters": ["("]})),
        "textDocument/prepareCallHierarchy" => ("callHierarchyProvider", json!(true)),
        "textDocument/prepareTypeHierarchy" => ("typeHierarchyProvider", json!(true)),
        "textDocument/rename" => ("renameProvider", json!(true)),
        "textDocument/codeAction" => ("codeActionProvider", json!(true)),
        "textDocument/formatting" => ("documentFormattingProvider", json!(true)),
        _ => return None,
    })
}

/// JSON merge patch (RFC 7386).
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    if let Value::Object(target) = target {
        for (key, value) in patch {
            if value.is_null() {
                target.remove(key);
            } else {
                merge(target.entry(key.as_str()).or_insert(Value::Null), value);
            }
        }
    }
}
