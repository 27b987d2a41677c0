//! Diagnostics for the editor, published for every open document after each change of it, of
//! others, or on disk.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::future::{join_all, select_all};
use serde_json::{Value, json};
use tower_lsp::jsonrpc::Error;

use super::ask;
use super::capabilities;
use super::client::MESSAGE_TYPE_WARNING;
use super::context::{EditorContext, Inquiry, deadline};
use crate::analysis::answer::{ServerState, ServerStatus};
use crate::analysis::context::LanguageFile;
use crate::lsp::diagnostics::diagnostics_invalidation::ServerNewsMark;
use crate::lsp::diagnostics::findings::DiagnosticsCompleteness;
use crate::lsp::session::live_session::Session;
use crate::workspace::WorkspacePath;

const METHOD: &str = "textDocument/diagnostic";
/// The delay after a keystroke before diagnostics are requested.
const TYPING_DEBOUNCE_DELAY: Duration = Duration::from_millis(60);
/// The number of documents checked concurrently.
const MAX_CONCURRENT_DOCUMENT_CHECKS: usize = 4;
/// The number of attempts to get diagnostics from slow servers while nothing changes.
const MAX_DIAGNOSTICS_ATTEMPTS: usize = 4;

/// The diagnostics published last.
#[derive(Default)]
struct EditorPublishState {
    known: BTreeMap<WorkspacePath, (i64, Vec<Value>)>,
    /// Missing servers that were already reported.
    missing: BTreeSet<String>,
}

/// Publishes diagnostics until the editor disconnects.
pub(super) async fn run(context: Arc<EditorContext>) {
    let mut published = EditorPublishState::default();
    let mut tries = MAX_DIAGNOSTICS_ATTEMPTS;
    let mut marks = Vec::new();
    loop {
        tokio::select! {
            biased;
            () = context.disconnected.cancelled() => return,
            () = context.changed.notified() => tries = MAX_DIAGNOSTICS_ATTEMPTS,
            () = wait_for_more(&marks) => tries = MAX_DIAGNOSTICS_ATTEMPTS,
            () = std::future::ready(()), if tries < MAX_DIAGNOSTICS_ATTEMPTS && tries > 0 => {}
        }
        // A change aborts the current round. The next one begins after the typing pause.
        let settled = tokio::select! {
            biased;
            () = context.disconnected.cancelled() => return,
            () = context.changed.notified() => {
                context.changed.notify_one();
                continue;
            }
            round = run_round(&context, &mut published) => {
                marks = round.marks;
                round.settled
            }
        };
        tries = if settled { MAX_DIAGNOSTICS_ATTEMPTS } else { tries.saturating_sub(1) };
    }
}

/// The result of one round.
struct EditorDiagnosticsRound {
    /// True if every server has responded.
    settled: bool,
    marks: Vec<ServerDiagnosticsMark>,
}

/// A server's news mark for a file at the time of the request.
#[derive(Clone)]
struct ServerDiagnosticsMark {
    session: Arc<Session>,
    path: WorkspacePath,
    mark: ServerNewsMark,
}

/// Waits until a server reports new findings or requests a refresh.
async fn wait_for_more(marks: &[ServerDiagnosticsMark]) {
    if marks.is_empty() {
        return std::future::pending().await;
    }
    select_all(marks.iter().map(|one| Box::pin(one.session.wait_for_new_findings(&one.path, one.mark))))
        .await;
}

async fn run_round(
    context: &Arc<EditorContext>,
    published: &mut EditorPublishState,
) -> EditorDiagnosticsRound {
    tokio::time::sleep(TYPING_DEBOUNCE_DELAY).await;
    if context.capabilities().is_none() {
        return EditorDiagnosticsRound { settled: true, marks: Vec::new() };
    }
    let inquiry = context.request_context();
    published.known.retain(|path, _| inquiry.conventions.documents.contains_key(path));
    inquiry.context.manager.refresh().await;
    let inquiry = &inquiry;
    let open: Vec<WorkspacePath> = inquiry.conventions.documents.keys().cloned().collect();
    let files: Vec<EditorFileDiagnostics> = futures::stream::iter(open)
        .map(|path| check_document(context, inquiry, path))
        .buffer_unordered(MAX_CONCURRENT_DOCUMENT_CHECKS)
        .filter_map(std::future::ready)
        .collect()
        .await;
    let mut round = EditorDiagnosticsRound { settled: true, marks: Vec::new() };
    for file in files {
        round.settled &= file.settled;
        round.marks.extend(file.marks.iter().cloned());
        for status in file.missing.iter().filter(|status| published.missing.insert(status.server.clone())) {
            tell_missing(context, status).await;
        }
        publish(context, inquiry, published, file).await;
    }
    round
}

/// The diagnostics that the servers of one file report.
struct EditorFileDiagnostics {
    path: WorkspacePath,
    items: Vec<Value>,
    /// True if no server could respond.
    silent: bool,
    settled: bool,
    missing: Vec<ServerStatus>,
    marks: Vec<ServerDiagnosticsMark>,
}

/// Requests the diagnostics of a document from all its servers, and registers further features with
/// the editor.
async fn check_document(
    context: &EditorContext,
    inquiry: &Inquiry,
    path: WorkspacePath,
) -> Option<EditorFileDiagnostics> {
    let subject = inquiry.context.language_file_unchecked(path).ok()?;
    if let Err(error) = inquiry.context.prepare_for([&subject].into_iter()).await {
        tracing::warn!("{}", error.error);
    }
    let file = collect_findings(inquiry, subject.clone()).await;
    capabilities::register(context, &inquiry.context, &inquiry.conventions, &subject).await;
    let pushes = context.capabilities().is_some_and(|greeting| !greeting.pulls);
    Some(EditorFileDiagnostics { silent: file.silent || !pushes, ..file })
}

async fn collect_findings(inquiry: &Inquiry, subject: LanguageFile) -> EditorFileDiagnostics {
    let servers = inquiry.context.servers_for(&subject, |_| true);
    let requests = servers.iter().map(|(server, spec)| {
        let subject = &subject;
        async move { ask_server(inquiry, server, subject, spec.features.diagnostics).await }
    });
    let (path, heard) = (subject.path.clone(), Vec::new());
    let mut file = EditorFileDiagnostics {
        path,
        items: Vec::new(),
        silent: true,
        settled: true,
        missing: Vec::new(),
        marks: heard,
    };
    for outcome in join_all(requests).await {
        match outcome {
            ServerDiagnosticsOutcome::Found { items, known, heard } => {
                file.silent &= matches!(known, DiagnosticsCompleteness::NoData(_));
                file.settled &= !known.lacks_findings();
                file.items.extend(items);
                file.marks.push(heard);
            }
            ServerDiagnosticsOutcome::Absent(status) if status.state == ServerState::Missing => {
                file.missing.push(status)
            }
            ServerDiagnosticsOutcome::Absent(status) => {
                tracing::debug!(server = status.server, "no diagnostics: {:?}", status.detail);
                file.settled &= status.state != ServerState::Starting;
            }
            ServerDiagnosticsOutcome::Nothing => {}
        }
    }
    file.items.sort_by_key(|item| {
        let start = &item["range"]["start"];
        (start["line"].as_u64(), start["character"].as_u64(), item["severity"].as_u64())
    });
    file
}

/// The outcome of one server.
enum ServerDiagnosticsOutcome {
    Found { items: Vec<Value>, known: DiagnosticsCompleteness, heard: ServerDiagnosticsMark },
    Absent(ServerStatus),
    Nothing,
}

/// Starts one server and requests its diagnostics if it provides any. Repeats this once if the
/// server exits meanwhile.
async fn ask_server(
    inquiry: &Inquiry,
    server: &str,
    subject: &LanguageFile,
    gives: bool,
) -> ServerDiagnosticsOutcome {
    let deadline = deadline(&inquiry.context, METHOD);
    let mut has_crashed = false;
    loop {
        let session = match inquiry.context.session(server, subject, deadline).await {
            Ok(session) => session,
            Err(status) => return ServerDiagnosticsOutcome::Absent(status),
        };
        if !gives {
            return ServerDiagnosticsOutcome::Nothing;
        }
        let mark = session.server_news_mark(&subject.path);
        let request = async {
            let _view_guard = session.enter_view(&inquiry.context.view, deadline).await?;
            session.relay_diagnostics(&inquiry.conventions, &subject.path, deadline).await
        };
        match request.await {
            Ok(found) => {
                let heard = ServerDiagnosticsMark { session, path: subject.path.clone(), mark };
                return ServerDiagnosticsOutcome::Found { items: found.items, known: found.known, heard };
            }
            Err(error) if error.is_closed() && !has_crashed => has_crashed = true,
            Err(error) => {
                tracing::debug!(server, "no diagnostics: {error}");
                return ServerDiagnosticsOutcome::Nothing;
            }
        }
    }
}

/// Publishes the diagnostics if they are new and the document's version is still current.
async fn publish(
    context: &EditorContext,
    inquiry: &Inquiry,
    published: &mut EditorPublishState,
    file: EditorFileDiagnostics,
) {
    let Some(spelled) = inquiry.conventions.documents.get(&file.path) else { return };
    let now = context.conventions();
    let current = now.documents.get(&file.path).is_some_and(|now| now.version == spelled.version);
    let news = (spelled.version, file.items);
    if file.silent || !current || published.known.get(&file.path) == Some(&news) {
        return;
    }
    let params = json!({ "uri": spelled.uri, "version": news.0, "diagnostics": news.1 });
    published.known.insert(file.path, news);
    context.editor.notify("textDocument/publishDiagnostics", params).await;
}

async fn tell_missing(context: &EditorContext, status: &ServerStatus) {
    let mut message = format!("[LSP] {}: {} not installed", status.language, status.server);
    if let Some(install) = status.install_commands() {
        message.push_str(&format!(", run: {install}"));
    }
    message.push_str(" (until then hover, definition, references and symbols come from text search)");
    context
        .editor
        .notify("window/showMessage", json!({ "type": MESSAGE_TYPE_WARNING, "message": message }))
        .await;
}

/// LSP 3.17 *Pull Diagnostics*, for an editor that requests diagnostics.
pub(super) async fn pull_diagnostics(
    context: &EditorContext,
    inquiry: &Inquiry,
    params: &Value,
) -> Result<Value, Error> {
    let items = match ask::subject_file(inquiry, params) {
        Some(subject) if context.documents.is_open(&subject.path) => {
            inquiry.context.manager.refresh().await;
            collect_findings(inquiry, subject).await.items
        }
        _ => Vec::new(),
    };
    Ok(json!({ "kind": "full", "items": items }))
}
