//! The service that handles the editor's messages in order.
//!
//! Changes of documents are applied at once. Each request is answered in a task of its own and uses
//! the documents from the time of its arrival.

use std::collections::HashMap;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::{BoxFuture, FutureExt, ready};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tower_lsp::jsonrpc::{Error, ErrorCode, Id, Request, Response};
use tower_service::Service;

use super::client::MESSAGE_TYPE_ERROR;
use super::context::{EditorContext, Inquiry};
use super::documents::ClosedEditorDocument;
use super::features::Feature;
use super::frames::UNREADABLE;
use super::{ask, capabilities, commands, diagnose};

/// The code `ServerNotInitialized` of LSP 3.17 *ErrorCodes*.
const SERVER_NOT_INITIALIZED_CODE: i64 = -32002;

/// The stage of the connection (LSP 3.17, *Server lifecycle*).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    New,
    Open,
    ShutDown,
}

/// The service that receives the editor's messages from tower-lsp.
pub(super) struct EditorService {
    context: Arc<EditorContext>,
    stage: Stage,
    pending: Arc<PendingEditorRequests>,
}

/// The requests without a response yet.
#[derive(Default)]
struct PendingEditorRequests(Mutex<HashMap<Id, CancellationToken>>);

impl EditorService {
    /// Creates the service for an editor that has not sent `initialize` yet.
    pub(super) fn new(context: Arc<EditorContext>) -> Self {
        Self { context, stage: Stage::New, pending: Arc::default() }
    }

    fn notification(&mut self, method: &str, params: Value) {
        let context = &self.context;
        match method {
            "exit" => return context.signal_exit(),
            "$/cancelRequest" => return self.cancel(&params),
            _ if self.stage != Stage::Open || method.starts_with("$/") => return,
            _ => {}
        }
        match method {
            "initialized" => {
                let context = self.context.clone();
                self.context.spawn(async move { capabilities::log_startup_hints(&context).await });
            }
            "textDocument/didOpen" => {
                if context.documents.open(&params).is_some() {
                    context.changed.notify_one();
                }
            }
            "textDocument/didChange" => match context.documents.change(&params, context.encoding()) {
                Ok(Some(_)) => context.changed.notify_one(),
                Ok(None) => {}
                Err(error) => {
                    let editor = context.editor.clone();
                    let message = json!({ "type": MESSAGE_TYPE_ERROR, "message": error.to_string() });
                    context.spawn(async move { editor.notify("window/showMessage", message).await });
                }
            },
            "textDocument/didClose" => {
                let Some(ClosedEditorDocument { uri, inside }) = context.documents.close(&params) else {
                    return;
                };
                if inside {
                    let editor = context.editor.clone();
                    let nothing = json!({ "uri": uri, "diagnostics": [] });
                    context.spawn(async move {
                        editor.notify("textDocument/publishDiagnostics", nothing).await;
                    });
                    context.changed.notify_one();
                } else {
                    let inquiry = context.request_context();
                    context.spawn(async move { inquiry.close_outside_documents(&[uri]).await });
                }
            }
            // The change feed detects changes on disk by itself, and servers use the settings that
            // we pass to them.
            "textDocument/didSave" | "workspace/didChangeWatchedFiles" => context.changed.notify_one(),
            "workspace/didChangeConfiguration" | "workspace/didChangeWorkspaceFolders" => {}
            _ => {
                let (context, inquiry) = (self.context.clone(), context.request_context());
                let method = method.to_owned();
                self.context.spawn(async move {
                    ask::forward_notification(&context, &inquiry, &method, &params).await
                });
            }
        }
    }

    fn cancel(&self, params: &Value) {
        let id = match &params["id"] {
            Value::Number(id) => id.as_i64().map(Id::Number),
            Value::String(id) => Some(Id::String(id.clone())),
            _ => None,
        };
        if let Some(token) = id.and_then(|id| self.pending.0.lock().remove(&id)) {
            token.cancel();
        }
    }

    /// Answers requests that need no task; returns `None` for all others.
    fn lifecycle(&mut self, method: &str, params: &Value) -> Option<Result<Value, Error>> {
        let refused = |code, message: &'static str| Error { code, message: message.into(), data: None };
        Some(match (method, self.stage) {
            (UNREADABLE, _) => Err(Error { data: Some(params.clone()), ..Error::parse_error() }),
            ("initialize", Stage::New) => {
                self.stage = Stage::Open;
                Ok(capabilities::initialize(&self.context, params))
            }
            ("initialize", _) => Err(refused(ErrorCode::InvalidRequest, "the server is initialized already")),
            (_, Stage::New) => Err(refused(
                ErrorCode::ServerError(SERVER_NOT_INITIALIZED_CODE),
                "`initialize` must come first",
            )),
            ("shutdown", Stage::Open) => {
                self.stage = Stage::ShutDown;
                Ok(Value::Null)
            }
            (_, Stage::ShutDown) => Err(refused(ErrorCode::InvalidRequest, "the server was shut down")),
            _ => return None,
        })
    }
}

impl Service<Request> for EditorService {
    type Response = Option<Response>;
    type Error = std::convert::Infallible;
    type Future = BoxFuture<'static, Result<Option<Response>, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let (method, id, params) = request.into_parts();
        let params = params.unwrap_or_default();
        let Some(id) = id else {
            self.notification(&method, params);
            return ready(Ok(None)).boxed();
        };
        if let Some(answer) = self.lifecycle(&method, &params) {
            return ready(Ok(Some(Response::from_parts(id, answer)))).boxed();
        }
        let cancelled = self.context.disconnected.child_token();
        self.pending.0.lock().insert(id.clone(), cancelled.clone());
        let (context, inquiry) = (self.context.clone(), self.context.request_context());
        let pending = self.pending.clone();
        let task = tokio::spawn(async move {
            let _counted = context.count_request(&method);
            answer(&context, inquiry, &method, params).await
        });
        let task = AbortOnDropHandle::new(task);
        async move {
            let answer = tokio::select! {
                biased;
                answer = task => answer.unwrap_or_else(|error| {
                    tracing::error!("an editor's request was not answered: {error}");
                    Err(Error::internal_error())
                }),
                () = cancelled.cancelled() => Err(Error::request_cancelled()),
            };
            pending.0.lock().remove(&id);
            Ok(Some(Response::from_parts(id, answer)))
        }
        .boxed()
    }
}

async fn answer(
    context: &Arc<EditorContext>,
    inquiry: Inquiry,
    method: &str,
    params: Value,
) -> Result<Value, Error> {
    if let Some(feature) = Feature::for_method(method) {
        return ask::answer_document_request(context, &inquiry, feature, params).await;
    }
    match method {
        "workspace/executeCommand" => commands::execute(context, &inquiry, &params).await,
        "workspace/symbol" => ask::workspace_symbols(context, &inquiry, &params).await,
        "textDocument/diagnostic" => diagnose::pull_diagnostics(context, &inquiry, &params).await,
        "completionItem/resolve"
        | "codeAction/resolve"
        | "codeLens/resolve"
        | "documentLink/resolve"
        | "inlayHint/resolve"
        | "workspaceSymbol/resolve"
        | "callHierarchy/incomingCalls"
        | "callHierarchy/outgoingCalls"
        | "typeHierarchy/supertypes"
        | "typeHierarchy/subtypes" => ask::follow_up(context, &inquiry, method, params).await,
        _ => ask::pass_through(context, &inquiry, method, &params).await,
    }
}
