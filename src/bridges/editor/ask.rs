//! Forwarding of an editor's requests to the servers of its document.

use std::sync::Arc;

use futures::future::join_all;
use serde_json::Value;
use tokio::time::Instant;
use tower_lsp::jsonrpc::Error;

use super::context::{EditorContext, Inquiry, deadline};
use super::errors::{internal_error, to_rpc_error};
use super::features::{AnswerMerge, Feature};
use super::merge_answers::is_empty;
use super::ticket::Ticket;
use super::{merge_answers, outside_documents, text_fallback};
use crate::analysis::answer::{ServerState, ServerStatus};
use crate::analysis::context::LanguageFile;
use crate::lsp::relay;
use crate::lsp::session::ask::AskError;
use crate::lsp::session::live_session::Session;
use crate::workspace::WorkspacePath;

/// The outcome of a request to one server.
pub(super) enum ServerAskOutcome {
    /// The server's response.
    Answer(Value),
    /// The server does not support the request.
    NotOffered,
    /// No server is available for now.
    Absent,
    /// The request could not be sent, failed, or timed out.
    Failed(Error),
}

/// Answers a request about a document from the servers that have the required feature.
pub(super) async fn answer_document_request(
    context: &EditorContext,
    inquiry: &Inquiry,
    feature: &Feature,
    params: Value,
) -> Result<Value, Error> {
    let Some(subject) = subject_file(inquiry, &params) else {
        return outside_documents::answer_for_outside_document(context, inquiry, feature, &params).await;
    };
    let servers = inquiry.context.servers_for(&subject, |features| feature.strength.is_of(features));
    let deadline = deadline(&inquiry.context, feature.method);
    inquiry.context.manager.refresh().await;
    let mut answers = Vec::new();
    let mut failure = None;
    let mut asked_any = false;
    match feature.join {
        AnswerMerge::First | AnswerMerge::Completions => {
            for (server, _) in servers {
                let (outcome, session) =
                    ask_server(inquiry, server, &subject, feature.method, &params, deadline).await;
                asked_any |= !matches!(outcome, ServerAskOutcome::Absent);
                match (outcome, session) {
                    (ServerAskOutcome::Answer(value), Some(session)) if !is_empty(&value) => {
                        answers.push((session, value));
                        break;
                    }
                    (ServerAskOutcome::Failed(error), _) => failure = failure.or(Some(error)),
                    _ => {}
                }
            }
        }
        AnswerMerge::All | AnswerMerge::Hovers => {
            let requests = servers
                .iter()
                .map(|(server, _)| ask_server(inquiry, server, &subject, feature.method, &params, deadline));
            for (outcome, session) in join_all(requests).await {
                asked_any |= !matches!(outcome, ServerAskOutcome::Absent);
                match (outcome, session) {
                    (ServerAskOutcome::Answer(value), Some(session)) if !is_empty(&value) => {
                        answers.push((session, value))
                    }
                    (ServerAskOutcome::Failed(error), _) => failure = failure.or(Some(error)),
                    _ => {}
                }
            }
        }
    }
    if !asked_any
        && let Some(hint) =
            text_fallback::answer_from_text(context, inquiry, feature.method, &subject, &params).await
    {
        return Ok(hint);
    }
    if answers.is_empty() {
        return failure.map_or_else(|| Ok(merge_answers::empty_result(feature)), Err);
    }
    let answers = answers.into_iter().map(|(session, value)| {
        let ticket = Ticket::for_session(&session, &subject.path);
        merge_answers::with_ticket(feature, value, &ticket, &session)
    });
    let mut joined = merge_answers::merge_answers(feature, answers.collect());
    merge_answers::adapt_to_client(context, feature.method, &mut joined);
    Ok(joined)
}

/// Sends the request to one server, and once more if the server exits meanwhile.
async fn ask_server(
    inquiry: &Inquiry,
    server: &str,
    subject: &LanguageFile,
    method: &str,
    params: &Value,
    deadline: Instant,
) -> (ServerAskOutcome, Option<Arc<Session>>) {
    let mut has_crashed = false;
    loop {
        let session = match inquiry.context.session(server, subject, deadline).await {
            Ok(session) => session,
            Err(status) => return (unavailable_outcome(&status), None),
        };
        match ask_session(inquiry, &session, &subject.path, method, params, deadline).await {
            Ok(Some(value)) => return (ServerAskOutcome::Answer(value), Some(session)),
            Ok(None) => return (ServerAskOutcome::NotOffered, Some(session)),
            Err(error) if error.is_closed() && !has_crashed => has_crashed = true,
            Err(error) => return (ServerAskOutcome::Failed(to_rpc_error(&error)), Some(session)),
        }
    }
}

async fn ask_session(
    inquiry: &Inquiry,
    session: &Session,
    path: &WorkspacePath,
    method: &str,
    params: &Value,
    deadline: Instant,
) -> Result<Option<Value>, AskError> {
    let _view_guard = session.enter_view(&inquiry.context.view, deadline).await?;
    if !session.supports_method(method, path, deadline).await? || !concerns_trigger(session, method, params) {
        return Ok(None);
    }
    session.relay(&inquiry.conventions, path, method, params, deadline).await.map(Some)
}

/// Returns true if the server handles the request's trigger character, or if the request has none.
fn concerns_trigger(session: &Session, method: &str, params: &Value) -> bool {
    let context = &params["context"];
    let typed = context["triggerCharacter"].as_str().filter(|_| context["triggerKind"] == 2);
    typed.is_none_or(|character| session.is_triggered_by(method, character))
}

/// Forwards a follow-up request to the server of its ticket: resolving an item, the next level of a
/// hierarchy.
pub(super) async fn follow_up(
    context: &EditorContext,
    inquiry: &Inquiry,
    method: &str,
    mut params: Value,
) -> Result<Value, Error> {
    let item = if params["item"].is_object() { &mut params["item"] } else { &mut params };
    let Some(ticket) = Ticket::detach(item) else {
        // An item without a ticket has nothing to resolve.
        return Ok(if method.ends_with("/resolve") { params } else { Value::Null });
    };
    let (subject, session, deadline) = resolve_ticket(inquiry, &ticket, method).await?;
    let _view_guard =
        session.enter_view(&inquiry.context.view, deadline).await.map_err(|error| to_rpc_error(&error))?;
    if method.ends_with("/resolve") && !session.resolves(method) {
        return Ok(params);
    }
    let response = session.relay(&inquiry.conventions, &subject.path, method, &params, deadline).await;
    let mut value = response.map_err(|error| to_rpc_error(&error))?;
    merge_answers::attach_to_follow_up(method, &mut value, &ticket, &session);
    merge_answers::adapt_to_client(context, method, &mut value);
    Ok(value)
}

/// Returns the session that a ticket belongs to.
pub(super) async fn resolve_ticket(
    inquiry: &Inquiry,
    ticket: &Ticket,
    method: &str,
) -> Result<(LanguageFile, Arc<Session>, Instant), Error> {
    let deadline = deadline(&inquiry.context, method);
    let path = inquiry.context.workspace.path(ticket.path.as_ref());
    let subject = path.ok().and_then(|path| inquiry.context.language_file_unchecked(path).ok());
    let subject =
        subject.ok_or_else(|| Error::invalid_params(format!("{} no longer exists", ticket.path)))?;
    let session = inquiry.context.session(&ticket.server, &subject, deadline).await;
    let session = session.map_err(|status| internal_error(status.detail.unwrap_or_default()))?;
    Ok((subject, session, deadline))
}

/// Returns symbols of the whole workspace from the navigation server of each language. If no server
/// is available, searches the text.
pub(super) async fn workspace_symbols(
    editor: &EditorContext,
    inquiry: &Inquiry,
    params: &Value,
) -> Result<Value, Error> {
    const METHOD: &str = "workspace/symbol";
    let deadline = deadline(&inquiry.context, METHOD);
    let context = &inquiry.context;
    context.manager.refresh().await;
    let requests = context
        .present_servers()
        .into_iter()
        .filter(|server| server.spec.features.navigation)
        .map(|server| async move {
            let subject = server.example();
            let session = context.session(server.key, &subject, deadline).await.ok()?;
            let _view_guard = session.enter_view(&context.view, deadline).await.ok()?;
            // Many servers index the workspace only once one of its files is open.
            session.supports_method(METHOD, &subject.path, deadline).await.ok().filter(|serves| *serves)?;
            let found = session.relay_workspace(&inquiry.conventions, METHOD, params, deadline).await;
            let mut found = found.inspect_err(|error| tracing::debug!("no symbols: {error}")).ok()?;
            let ticket = Ticket::for_session(&session, &subject.path);
            if session.resolves("workspaceSymbol/resolve") {
                found.as_array_mut()?.iter_mut().for_each(|item| ticket.attach(item));
            }
            Some(found)
        });
    let answered = join_all(requests).await;
    if answered.iter().all(Option::is_none)
        && let Some(hint) = text_fallback::workspace_symbols(editor, inquiry, params).await
    {
        return Ok(hint);
    }
    let found = answered.into_iter().flatten();
    Ok(found.filter_map(|list| list.as_array().cloned()).flatten().collect())
}

/// Forwards an unknown request to the first server that supports it.
pub(super) async fn pass_through(
    context: &EditorContext,
    inquiry: &Inquiry,
    method: &str,
    params: &Value,
) -> Result<Value, Error> {
    let deadline = deadline(&inquiry.context, method);
    for (session, path) in concerned_sessions(context, inquiry, params, deadline).await {
        let request = async {
            let _view_guard = session.enter_view(&inquiry.context.view, deadline).await?;
            match &path {
                Some(path) => session.relay(&inquiry.conventions, path, method, params, deadline).await,
                None => session.relay_workspace(&inquiry.conventions, method, params, deadline).await,
            }
        };
        match request.await {
            Err(AskError::Request(error)) if error.is_unsupported() => {}
            answer => return answer.map_err(|error| to_rpc_error(&error)),
        }
    }
    Err(Error::method_not_found())
}

/// Forwards an unknown notification to all servers that it may concern.
pub(super) async fn forward_notification(
    context: &EditorContext,
    inquiry: &Inquiry,
    method: &str,
    params: &Value,
) {
    let deadline = deadline(&inquiry.context, method);
    for (session, _) in concerned_sessions(context, inquiry, params, deadline).await {
        match session.enter_view(&inquiry.context.view, deadline).await {
            Ok(_view_guard) => session.relay_notification(&inquiry.conventions, method, params),
            Err(error) => tracing::debug!(method, "not passed on: {error}"),
        }
    }
}

/// Returns the sessions for the document named in `params`, or all running ones.
async fn concerned_sessions(
    editor: &EditorContext,
    inquiry: &Inquiry,
    params: &Value,
    deadline: Instant,
) -> Vec<(Arc<Session>, Option<WorkspacePath>)> {
    let context = &inquiry.context;
    context.manager.refresh().await;
    let Some(subject) = subject_file(inquiry, params) else {
        return context
            .manager
            .sessions_for(&context.view)
            .into_iter()
            .map(|session| (session, None))
            .collect();
    };
    let mut found = Vec::new();
    for (server, _) in context.servers_for(&subject, |_| true) {
        if let Ok(session) = context.session(server, &subject, deadline).await {
            // A document that the editor has not opened may be a plain argument.
            let path = editor.documents.is_open(&subject.path).then(|| subject.path.clone());
            found.push((session, path));
        }
    }
    found
}

/// Returns the file that `params` refer to, if it is in the workspace.
pub(super) fn subject_file(inquiry: &Inquiry, params: &Value) -> Option<LanguageFile> {
    inquiry.context.language_file_unchecked(relay::subject_of(params, &inquiry.context.workspace)?).ok()
}

fn unavailable_outcome(status: &ServerStatus) -> ServerAskOutcome {
    match status.state {
        ServerState::Missing | ServerState::Disabled | ServerState::Unsupported => ServerAskOutcome::Absent,
        _ => ServerAskOutcome::Failed(internal_error(
            status.detail.clone().unwrap_or_else(|| status.server.clone()),
        )),
    }
}
