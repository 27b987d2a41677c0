//! The service that takes the editor's messages in order. Changes of documents are applied at once; each request is answered in
//! a task of its own and sees the documents as they were when it came.

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

use super::capabilities::MESSAGE_TYPE_ERROR;
use super::desk::ClosedEditorDocument;
use super::features::Feature;
use super::frames::UNREADABLE;
use super::room::{EditorContext, Inquiry};
use super::{ask, capabilities, commands, diagnose, strangers};

/// LSP 3.17 *ErrorCodes*.
const SERVER_NOT_INITIALIZED_CODE: i64 = -32002;

/// How far the conversation has come (LSP 3.17, *Server lifecycle*).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    New,
    Open,
    ShutDown,
}

/// What tower-lsp hands the editor's messages to.
pub(super) struct EditorService {
    room: Arc<EditorContext>,
    stage: Stage,
    pending: Arc<PendingEditorRequests>,
}

/// The requests that are not answered yet.
#[derive(Default)]
struct PendingEditorRequests(Mutex<HashMap<Id, CancellationToken>>);

impl EditorService {
    /// For an editor that has not said anything yet.
    pub(super) fn new(room: Arc<EditorContext>) -> Self {
        Self { room, stage: Stage::New, pending: Arc::default() }
    }

    fn notification(&mut self, method: &str, params: Value) {
        let room = &self.room;
        match method {
            "exit" => return room.exit(),
            "$/cancelRequest" => return self.cancel(&params),
            _ if self.stage != Stage::Open || method.starts_with("$/") => return,
            _ => {}
        }
        match method {
            "initialized" => {
                let room = self.room.clone();
                self.room.spawn(async move { capabilities::welcome(&room).await });
            }
            "textDocument/didOpen" => {
                if room.desk.open(&params).is_some() {
                    room.changed.notify_one();
                }
            }
            "textDocument/didChange" => match room.desk.change(&params, room.encoding()) {
                Ok(Some(_)) => room.changed.notify_one(),
                Ok(None) => {}
                Err(error) => {
                    let editor = room.editor.clone();
                    let told = json!({ "type": MESSAGE_TYPE_ERROR, "message": error.to_string() });
                    room.spawn(async move { editor.notify("window/showMessage", told).await });
                }
            },
            "textDocument/didClose" => {
                let Some(ClosedEditorDocument { uri, inside }) = room.desk.close(&params) else { return };
                if inside {
                    let editor = room.editor.clone();
                    let nothing = json!({ "uri": uri, "diagnostics": [] });
                    room.spawn(async move {
                        editor.notify("textDocument/publishDiagnostics", nothing).await;
                    });
                    room.changed.notify_one();
                } else {
                    let inquiry = room.inquiry();
                    room.spawn(async move { strangers::forget(&inquiry, &[uri]).await });
                }
            }
            // The change feed sees what is on disk by itself; servers have the settings that ours give them.
            "textDocument/didSave" | "workspace/didChangeWatchedFiles" => room.changed.notify_one(),
            "workspace/didChangeConfiguration" | "workspace/didChangeWorkspaceFolders" => {}
            _ => {
                let (room, inquiry) = (self.room.clone(), room.inquiry());
                let method = method.to_owned();
                self.room.spawn(async move { ask::tell(&room, &inquiry, &method, &params).await });
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

    /// What can be answered at once, or `None`.
    fn lifecycle(&mut self, method: &str, params: &Value) -> Option<Result<Value, Error>> {
        let refused = |code, message: &'static str| Error { code, message: message.into(), data: None };
        Some(match (method, self.stage) {
            (UNREADABLE, _) => Err(Error { data: Some(params.clone()), ..Error::parse_error() }),
            ("initialize", Stage::New) => {
                self.stage = Stage::Open;
                Ok(capabilities::initialize(&self.room, params))
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
        let cancelled = self.room.gone.child_token();
        self.pending.0.lock().insert(id.clone(), cancelled.clone());
        let (room, inquiry) = (self.room.clone(), self.room.inquiry());
        let pending = self.pending.clone();
        let task = tokio::spawn(async move {
            let _counted = room.counted(&method);
            answer(&room, inquiry, &method, params).await
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
    room: &Arc<EditorContext>,
    inquiry: Inquiry,
    method: &str,
    params: Value,
) -> Result<Value, Error> {
    if let Some(feature) = Feature::of(method) {
        return ask::document(room, &inquiry, feature, params).await;
    }
    match method {
        "workspace/executeCommand" => commands::execute(room, &inquiry, &params).await,
        "workspace/symbol" => ask::workspace_symbols(room, &inquiry, &params).await,
        "textDocument/diagnostic" => diagnose::pulled(room, &inquiry, &params).await,
        "completionItem/resolve"
        | "codeAction/resolve"
        | "codeLens/resolve"
        | "documentLink/resolve"
        | "inlayHint/resolve"
        | "workspaceSymbol/resolve"
        | "callHierarchy/incomingCalls"
        | "callHierarchy/outgoingCalls"
        | "typeHierarchy/supertypes"
        | "typeHierarchy/subtypes" => ask::follow_up(room, &inquiry, method, params).await,
        _ => ask::pass_through(room, &inquiry, method, &params).await,
    }
}
