//! The handler of a language server's requests and notifications, which updates the session's
//! `SessionState`.
//!
//! Requests go through async-lsp's router, whose methods are those of lsp-types. Their params stay
//! JSON: servers send values that the types do not allow (a `scopeUri` that is not a URI,
//! registrations with more members), and one invalid element must not invalidate the others.
//! Notifications bypass the router: any of them can be the catalogue's sign that a server is ready,
//! and those of diagnostics are read with a limit.

use std::future::ready;
use std::sync::Arc;

use async_lsp::router::Router;
use async_lsp::{AnyRequest, ErrorCode, ResponseError};
use futures::FutureExt;
use lsp_types::request::{
    ApplyWorkspaceEdit, RegisterCapability, ShowDocument, ShowMessageRequest, UnregisterCapability,
    WorkDoneProgressCreate, WorkspaceConfiguration, WorkspaceDiagnosticRefresh, WorkspaceFoldersRequest,
};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tower_service::Service;

use super::request::Untyped;
use super::state::SessionState;
use crate::rpc::{PeerHandler, PeerResponse, RequestRefusal};

/// Answers a language server's requests, and handles its notifications.
pub(super) struct ServerHandler {
    state: Arc<SessionState>,
    router: Router<Arc<SessionState>>,
}

impl ServerHandler {
    /// Creates the handler for the server with this state.
    pub(super) fn new(state: Arc<SessionState>) -> Self {
        Self { router: router(state.clone()), state }
    }
}

fn router(state: Arc<SessionState>) -> Router<Arc<SessionState>> {
    let mut router = Router::new(state);
    router
        .request::<Untyped<WorkspaceConfiguration>, _>(|state, params| {
            let missing = || ResponseError::new(ErrorCode::INVALID_PARAMS, "`items` is missing");
            ready(state.workspace_configuration(&params).ok_or_else(missing))
        })
        .request::<Untyped<RegisterCapability>, _>(|state, params| {
            state.register(&params);
            ready(Ok(Value::Null))
        })
        .request::<Untyped<UnregisterCapability>, _>(|state, params| {
            state.unregister(&params);
            ready(Ok(Value::Null))
        })
        .request::<Untyped<WorkspaceFoldersRequest>, _>(|state, _| ready(Ok(state.workspace_folders())))
        .request::<Untyped<WorkDoneProgressCreate>, _>(|_, _| ready(Ok(Value::Null)))
        .request::<Untyped<ShowDocument>, _>(|_, _| ready(Ok(json!({ "success": false }))))
        // Only a person needs time for an answer.
        .request::<Untyped<ShowMessageRequest>, _>(|state, params| state.ask_user(params).map(Ok))
        .request::<Untyped<ApplyWorkspaceEdit>, _>(|state, params| ready(Ok(state.apply_edit(&params))))
        .request::<Untyped<WorkspaceDiagnosticRefresh>, _>(|state, _| {
            state.refresh_diagnostics();
            ready(Ok(Value::Null))
        })
        // Refreshes of data that the next question requests anyway (semantic tokens, code lenses,
        // hints).
        .unhandled_request(|_, AnyRequest { method, .. }| {
            let is_refresh = method.starts_with("workspace/") && method.ends_with("/refresh");
            let unknown =
                || ResponseError::new(ErrorCode::METHOD_NOT_FOUND, format!("{method} is not supported"));
            ready(if is_refresh { Ok(Value::Null) } else { Err(unknown()) })
        });
    router
}

impl PeerHandler for ServerHandler {
    fn request(&mut self, method: &str, params: Value) -> PeerResponse {
        // Errors make some servers abort their shutdown.
        if self.state.is_stopping() {
            return Ok(Value::Null).into();
        }
        // The answer's id is the peer's matter.
        let request = json!({ "id": 0, "method": method, "params": params });
        let request = match serde_json::from_value::<AnyRequest>(request) {
            Ok(request) => request,
            Err(error) => return Err(RequestRefusal::InvalidParams(error.to_string())).into(),
        };
        let refused = |error: ResponseError| RequestRefusal::Failed {
            code: error.code.0.into(),
            message: error.message,
        };
        let mut answer = self.router.call(request);
        match (&mut answer).now_or_never() {
            Some(answer) => answer.map_err(refused).into(),
            None => PeerResponse::Later(Box::pin(answer.map(move |answer| answer.map_err(refused)))),
        }
    }

    fn notification(&mut self, method: &str, params: &RawValue) {
        self.state.on_notification(method, params);
    }
}
