//! One call of a mounted tool.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use rmcp::ServiceError;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotificationParam, ClientRequest, RequestId,
    RequestMetaObject, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient};
use serde_json::Value;
use tokio::time::timeout;

use super::connect::{Connection, causes};
use super::definitions::Offered;
use super::pins::Callable;
use super::result;
use super::server::Server;
use crate::config::MountTransport;
use crate::policy::request::Subjects;
use crate::tools::context::Context;
use crate::tools::error::{ErrorCode, ToolError};
use crate::tools::hidden::escaped;
use crate::tools::result::ToolResult;
use crate::tools::tool::{AnyTool, Call, Definition};

/// How long the word that a call is given up may be on its way.
const GIVE_UP: Duration = Duration::from_secs(1);
/// A mounted tool's text may be so many times the size that our own answers are kept under: nobody can ask it for less.
const ANSWERS: usize = 4;

/// A tool of a mounted server among ours.
#[derive(Debug)]
pub(super) struct MountedAs {
    server: Arc<Server>,
    offered: Arc<Offered>,
}

impl MountedAs {
    pub(super) fn new(server: Arc<Server>, offered: Arc<Offered>) -> Self {
        Self { server, offered }
    }

    fn name(&self) -> &str {
        &self.offered.definition.card.name
    }

    async fn call(&self, call: Call<'_>, arguments: Value) -> Result<ToolResult, ToolError> {
        let limit =
            call.context.timeout.map_or(self.server.mount.timeout, |own| own.min(self.server.mount.timeout));
        let late = |what: &str| {
            let what = format!("{} {what} within {} ms", self.name(), limit.as_millis());
            self.server.failure(ErrorCode::Timeout, what)
        };
        let connection = timeout(limit, self.server.connection()).await;
        let connection = connection.map_err(|_| late("was not reached, its server not being ready"))??;
        self.still_agreed()?;
        let answer = timeout(limit, self.ask(&connection, &call, arguments)).await;
        let answer = answer.map_err(|_| late("did not answer"))?;
        match answer {
            Ok(ServerResult::CallToolResult(answer)) => {
                let most = call.context.config.settings.limits.answer_bytes.saturating_mul(ANSWERS);
                Ok(result::of(self.name(), answer, most))
            }
            Ok(ServerResult::InputRequiredResult(_)) => {
                let what = format!(
                    "{} wants input from a person, and nobody can be asked on its behalf",
                    self.name()
                );
                Err(ToolError::new(ErrorCode::Unsupported, what))
            }
            Ok(_) => {
                let what = format!("{} answered with something that is no result of a tool", self.name());
                Err(self.server.failure(ErrorCode::ServerFailed, what))
            }
            Err(error) => Err(self.failed(&connection, &error).await),
        }
    }

    /// The definition that a model chose by must be the one that its server has now.
    fn still_agreed(&self) -> Result<(), ToolError> {
        let (tool, server) = (self.name(), self.server.name());
        match self.server.may_call(&self.offered.theirs) {
            Callable::Yes => Ok(()),
            Callable::Gone => {
                let what = format!("{tool} is gone: its server has no such tool any more");
                Err(ToolError::new(ErrorCode::UnknownTool, what))
            }
            Callable::Held => {
                let what = format!(
                    "{tool} is held back: its server has changed its definition since it was agreed to"
                );
                let hint = format!(
                    "`lsp-tools mcp show {server}` shows the difference, `lsp-tools mcp approve {server}` agrees to it"
                );
                Err(ToolError::new(ErrorCode::Denied, what).with_hint(hint))
            }
        }
    }

    async fn ask(
        &self,
        connection: &Connection,
        call: &Call<'_>,
        arguments: Value,
    ) -> Result<ServerResult, ServiceError> {
        let mut params = CallToolRequestParams::new(self.offered.theirs.clone());
        if let Value::Object(arguments) = arguments {
            params = params.with_arguments(arguments);
        }
        let mut meta = RequestMetaObject::new();
        if let Some(trace) = crate::tools::trace::current() {
            meta.set_traceparent(trace.traceparent);
            if let Some(state) = trace.tracestate {
                meta.set_tracestate(state);
            }
            if let Some(baggage) = trace.baggage {
                meta.set_baggage(baggage);
            }
        }
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let options = PeerRequestOptions::no_options().with_meta(meta);
        let handle = connection.peer().send_cancellable_request(request, options).await?;
        let _hearing = call
            .context
            .progress
            .clone()
            .map(|hearer| connection.waiting.add(handle.progress_token.clone(), hearer));
        let mut unanswered = Unanswered { peer: connection.peer().clone(), id: Some(handle.id.clone()) };
        let answer = handle.await_response().await;
        unanswered.id = None;
        answer
    }

    async fn failed(&self, connection: &Connection, error: &ServiceError) -> ToolError {
        match error {
            ServiceError::McpError(error) => {
                let said: String = escaped(&error.message).chars().take(2_000).collect();
                let code = match error.code.0 {
                    -32602 => ErrorCode::InvalidArgs,
                    _ => ErrorCode::ServerFailed,
                };
                ToolError::new(code, format!("{} was refused by its server: {said}", self.name()))
            }
            _ if connection.is_closed() || matches!(error, ServiceError::TransportClosed) => {
                let words = connection.last_words().await;
                self.server.bury().await;
                let what = format!("{} got no answer: its server is gone; {words}", self.name());
                // It may have done its work before it went: to call it again is for whoever knows what it does.
                self.server.failure(ErrorCode::ServerFailed, what)
            }
            error => {
                let what = format!("{} got no answer: {}", self.name(), causes(error));
                self.server.failure(ErrorCode::ServerFailed, what)
            }
        }
    }
}

/// A call that was not answered: where it is dropped, its server is told to give it up.
struct Unanswered {
    peer: Peer<RoleClient>,
    id: Option<RequestId>,
}

impl Drop for Unanswered {
    fn drop(&mut self) {
        let (Some(id), Ok(handle)) = (self.id.take(), tokio::runtime::Handle::try_current()) else { return };
        let peer = self.peer.clone();
        // Ends by its time.
        handle.spawn(async move {
            let told = CancelledNotificationParam::new(Some(id), Some("the caller gave it up".to_owned()));
            let _unheard = timeout(GIVE_UP, peer.notify_cancelled(told)).await;
        });
    }
}

impl AnyTool for MountedAs {
    fn definition(&self) -> &Definition {
        &self.offered.definition
    }

    fn subjects(&self, _context: &Context, arguments: &Value) -> Result<Subjects, ToolError> {
        self.offered.definition.input.check(self.name(), arguments)?;
        let urls = match &self.server.mount.transport {
            MountTransport::Http { url, .. } => vec![url.to_string()],
            MountTransport::Stdio { .. } => Vec::new(),
        };
        Ok(Subjects { urls, ..Subjects::default() })
    }

    fn run<'a>(&'a self, call: Call<'a>, arguments: Value) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async move { self.call(call, arguments).await })
    }
}
