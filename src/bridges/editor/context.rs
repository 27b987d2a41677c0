//! The context of one editor's connection.

use std::collections::BTreeSet;
use std::future::Future;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::client::Editor;
use super::documents::{EditorDocuments, OutsideEditorDocuments};
use super::editor_capabilities::EditorCapabilities;
use crate::config::{Deadlines, Settings};
use crate::lsp::relay::EditorConventions;
use crate::runtime::call_stats::TalliedCall;
use crate::runtime::live::LiveRuntime;
use crate::runtime::{Client, Runtime};
use crate::text::Encoding;
use crate::tools::context::Context;
use crate::tools::tool::Caller;

static EDITORS: AtomicU64 = AtomicU64::new(1);

/// How long an editor may take to answer what needs no person.
const CAPABILITY_REGISTRATION_TIMEOUT: Duration = Duration::from_secs(10);

/// What an editor's connection brings along.
#[derive(Debug, Clone, Default)]
pub struct EditorOptions {
    /// Where relative paths of tool calls begin; by default where the runtime's do.
    pub(crate) cwd: Option<PathBuf>,
    /// Instead of the settings' deadlines.
    pub(crate) timeout: Option<Duration>,
    /// Install a missing server before the first question to it.
    pub(crate) install_missing: bool,
    /// The name of its session among all callers; one of its own by default.
    pub(crate) session: Option<String>,
}

/// What everything that serves one editor works with.
#[derive(Debug)]
pub(super) struct EditorContext {
    live: LiveRuntime,
    options: EditorOptions,
    /// The editor.
    pub(crate) editor: Arc<Editor>,
    /// What it has open.
    pub(crate) documents: EditorDocuments,
    /// Cancelled when the editor is gone.
    pub(crate) disconnected: CancellationToken,
    exited: CancellationToken,
    capabilities: OnceLock<EditorCapabilities>,
    /// Rung when diagnostics may be others than before.
    pub(crate) changed: Notify,
    /// Who calls our tools.
    pub(crate) caller: Caller,
    /// Capabilities that the editor was told of after its start.
    registered: Mutex<BTreeSet<&'static str>>,
    tasks: TaskTracker,
}

/// What one request works with: everything as it was when the request came.
#[derive(Debug, Clone)]
pub(super) struct Inquiry {
    /// The runtime's, with what the editor sees.
    pub(crate) context: Context,
    /// How the editor speaks.
    pub(crate) conventions: EditorConventions,
    /// What it has open that is no file of the workspace.
    pub(crate) outside_documents: OutsideEditorDocuments,
}

impl Inquiry {
    /// The editor has closed these documents that are no files of the workspace: servers that have them open need them no more.
    pub(super) async fn close_outside_documents(&self, uris: &[String]) {
        if uris.is_empty() {
            return;
        }
        for session in self.context.manager.sessions_for(&self.context.view) {
            for uri in uris {
                session.close_outside_document(uri).await;
            }
        }
    }
}

impl EditorContext {
    /// For an editor that has not said anything yet.
    pub(super) fn new(
        live: LiveRuntime,
        options: EditorOptions,
        editor: Arc<Editor>,
        gone: CancellationToken,
    ) -> Self {
        let workspace = live.current().workspace().clone();
        let number = EDITORS.fetch_add(1, Ordering::Relaxed);
        let session = options.session.clone().unwrap_or_else(|| format!("editor-{number}"));
        let documents = EditorDocuments::new(workspace);
        live.current().note_overlays(&session, &documents.overlays);
        Self {
            live,
            options,
            editor,
            documents,
            disconnected: gone,
            exited: CancellationToken::new(),
            capabilities: OnceLock::new(),
            changed: Notify::new(),
            caller: Caller { session, ..Caller::default() },
            registered: Mutex::default(),
            tasks: TaskTracker::new(),
        }
    }

    /// The runtime as the editor sees it now.
    pub(super) fn runtime(&self) -> Runtime {
        let runtime = self.live.current();
        let view = self.documents.overlays.view(runtime.workspace());
        runtime.for_client(Client {
            cwd: self.options.cwd.clone(),
            timeout: self.options.timeout,
            install_missing: self.options.install_missing,
            view,
            ..Client::default()
        })
    }

    /// The runtime that is open now, and word of its successors.
    pub(super) fn live(&self) -> &LiveRuntime {
        &self.live
    }

    /// Counts a request of the editor until what is returned is dropped. A call of one of our tools counts itself.
    pub(super) fn count_request(&self, method: &str) -> Option<TalliedCall> {
        let tally = || self.live.current().tally().begin_session_call(method, &self.caller.session);
        (method != "workspace/executeCommand").then(tally)
    }

    /// What a request that comes now works with.
    pub(super) fn request_context(&self) -> Inquiry {
        let conventions = self.conventions();
        let outside_documents = self.documents.outside_documents();
        Inquiry { context: self.runtime().context().into_owned(), conventions, outside_documents }
    }

    /// Takes the editor's side of `initialize`; false where it came before.
    pub(super) fn set_capabilities(&self, greeting: EditorCapabilities) -> bool {
        self.capabilities.set(greeting).is_ok()
    }

    /// The editor's side of `initialize`.
    pub(super) fn capabilities(&self) -> Option<&EditorCapabilities> {
        self.capabilities.get()
    }

    /// How the editor speaks of what it has open now.
    pub(super) fn conventions(&self) -> EditorConventions {
        let snippets = "/textDocument/completion/completionItem/snippetSupport";
        let takes_snippets = self.capabilities().is_some_and(|greeting| greeting.has_capability(snippets));
        self.documents.conventions(self.encoding(), takes_snippets)
    }

    /// What the editor counts columns in.
    pub(super) fn encoding(&self) -> Encoding {
        self.capabilities().map_or(Encoding::Utf16, |greeting| greeting.encoding)
    }

    /// Does `work` for the editor, beside everything else, until it is gone.
    pub(super) fn spawn(self: &Arc<Self>, work: impl Future<Output = ()> + Send + 'static) {
        let gone = self.disconnected.clone();
        self.tasks.spawn(async move {
            tokio::select! {
                () = work => {}
                () = gone.cancelled() => {}
            }
        });
    }

    /// Tells the editor (LSP 3.17, *Register Capability*) what it was not told at its start; each capability once.
    pub(super) async fn register(&self, offers: Vec<(&'static str, Value)>) {
        let registrations: Vec<Value> = {
            let mut known = self.registered.lock();
            let new = offers.into_iter().filter(|(method, _)| known.insert(method));
            new.map(|(method, mut options)| {
                // Without a selector it is for all documents that the editor gives us.
                options["documentSelector"] = Value::Null;
                json!({ "id": format!("lsp-tools {method}"), "method": method, "registerOptions": options })
            })
            .collect()
        };
        if registrations.is_empty() {
            return;
        }
        let params = json!({ "registrations": registrations });
        let asked = self.editor.request(
            "client/registerCapability",
            params,
            Instant::now() + CAPABILITY_REGISTRATION_TIMEOUT,
        );
        if let Err(error) = asked.await {
            tracing::warn!("{error}");
        }
    }

    /// Shares the editor's texts with everybody where the settings say so, also with runtimes that come later.
    pub(super) async fn follow_overlay_sharing(self: Arc<Self>) {
        let mut changes = self.live.changes();
        loop {
            let runtime = changes.borrow_and_update().clone();
            if runtime.context().config.settings.editor.share_overlays {
                runtime.share_overlays(&self.documents.overlays);
            }
            self.changed.notify_one();
            tokio::select! {
                changed = changes.changed() => if changed.is_err() { return },
                () = self.disconnected.cancelled() => return,
            }
        }
    }

    /// The editor has said `exit`.
    pub(super) fn signal_exit(&self) {
        self.exited.cancel();
    }

    /// Waits for `exit`.
    pub(super) async fn wait_for_exit(&self) {
        self.exited.cancelled().await;
    }

    /// Waits until everything that was done for the editor has ended, and forgets it.
    pub(super) async fn close(&self) {
        self.tasks.close();
        self.tasks.wait().await;
        let inquiry = self.request_context();
        inquiry.close_outside_documents(&self.documents.clear()).await;
        self.live.current().end_session(&self.caller.session);
    }
}

/// When the answer to `method` must be there.
pub(super) fn deadline(context: &Context, method: &str) -> Instant {
    let Settings { deadlines, .. } = &context.config.settings;
    let Deadlines { hover, definition, references, hierarchy, symbols, .. } = deadlines;
    let last = method.rsplit('/').next().unwrap_or(method);
    let usual = match last {
        "hover" => hover,
        "definition" | "declaration" | "typeDefinition" | "implementation" => definition,
        "references" => references,
        "incomingCalls" | "outgoingCalls" | "supertypes" | "subtypes" => hierarchy,
        "documentSymbol" => symbols,
        "symbol" => &deadlines.workspace_symbols,
        "completion" => &deadlines.completion,
        "signatureHelp" => &deadlines.signature,
        "diagnostic" => &deadlines.diagnostics,
        _ => &deadlines.edit,
    };
    context.deadline(*usual)
}
