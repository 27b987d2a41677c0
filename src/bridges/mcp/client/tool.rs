//! One call of a mounted tool.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use rmcp::ServiceError;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotificationParam, ClientRequest, ElicitRequestParams,
    InputRequest, InputRequiredResult, InputResponses, RequestId, RequestMetaObject, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient};
use serde_json::Value;
use tokio::time::{Instant, sleep_until, timeout};

use super::connect::{MountConnection, error_chain};
use super::definitions::MountedToolDefinition;
use super::elicitation;
use super::pins::Callable;
use super::result;
use super::server::MountedMcpServer;
use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::config::MountTransport;
use crate::policy::approval::FormAnswer;
use crate::policy::request::CallSubjects;
use crate::tools::api::hidden::escape_hidden;
use crate::tools::api::result::ToolResult;
use crate::tools::api::tool::{AnyTool, Call, JsonTool, PreparedCall, ToolDefinition};

/// The time limit for sending the cancellation of a call.
const CANCEL_NOTIFICATION_TIMEOUT: Duration = Duration::from_secs(1);
/// The factor between the size limit of a mounted tool's text and that of our own answers, since a
/// mounted tool cannot be asked for less.
const MOUNTED_ANSWER_SIZE_FACTOR: usize = 4;

/// The limit on requests for input within one call.
const MAX_INPUT_ROUNDS: usize = 8;

/// The additional parameters of a call repeated after a request for input.
#[derive(Debug, Default)]
struct MountRetryInput {
    responses: Option<InputResponses>,
    state: Option<String>,
}

/// A mounted server's tool in our registry.
#[derive(Debug)]
pub(super) struct MountedAs {
    server: Arc<MountedMcpServer>,
    offered: Arc<MountedToolDefinition>,
}

impl MountedAs {
    pub(super) fn new(server: Arc<MountedMcpServer>, offered: Arc<MountedToolDefinition>) -> Self {
        Self { server, offered }
    }

    fn name(&self) -> &str {
        &self.offered.definition.card.name
    }

    async fn call(&self, call: Call<'_>, arguments: Value) -> Result<ToolResult, ToolError> {
        let limit = self.limit(&call);
        let connection = timeout(limit, self.server.connection()).await;
        let late = "was not reached, because its server is not ready";
        let connection = connection.map_err(|_| self.timeout_error(late, limit))??;
        self.check_agreed()?;
        match self.call_until_answered(&connection, &call, arguments).await? {
            Ok(ServerResult::CallToolResult(answer)) => {
                let most = call
                    .context
                    .config
                    .settings
                    .limits
                    .answer_bytes
                    .saturating_mul(MOUNTED_ANSWER_SIZE_FACTOR);
                Ok(result::to_tool_result(self.name(), answer, most))
            }
            Ok(_) => {
                let what = format!("{} returned an invalid tool result", self.name());
                Err(self.server.tool_error(ErrorCode::ServerFailed, what))
            }
            Err(error) => Err(self.to_tool_error(&connection, &error).await),
        }
    }

    fn limit(&self, call: &Call<'_>) -> Duration {
        let limit = self.server.mount.timeout;
        call.context.timeout.map_or(limit, |own| own.min(limit))
    }

    fn timeout_error(&self, what: &str, limit: Duration) -> ToolError {
        let what = format!("{} {what} within {} ms", self.name(), limit.as_millis());
        self.server.tool_error(ErrorCode::Timeout, what)
    }

    /// Repeats the call until it is complete, and passes the server's questions to the approver of
    /// the call. The time for the user's answers does not count as the server's.
    async fn call_until_answered(
        &self,
        connection: &MountConnection,
        call: &Call<'_>,
        arguments: Value,
    ) -> Result<Result<ServerResult, ServiceError>, ToolError> {
        let limit = self.limit(call);
        let mut deadline = Instant::now() + limit;
        let mut hearing = connection.elicitations.begin();
        let mut input = MountRetryInput::default();
        for _ in 0..MAX_INPUT_ROUNDS {
            let request = self.send_call(connection, call, arguments.clone(), std::mem::take(&mut input));
            tokio::pin!(request);
            let answer = loop {
                tokio::select! {
                    answer = &mut request => break answer,
                    () = sleep_until(deadline) => return Err(self.timeout_error("did not answer", limit)),
                    question = hearing.next() => {
                        let begun = Instant::now();
                        let answer = self.fill_form(call, question.form.clone(), false).await;
                        question.answer(elicitation::to_elicit_result(answer.unwrap_or(FormAnswer::Nobody)));
                        deadline += begun.elapsed();
                    }
                }
            };
            match answer {
                Ok(ServerResult::InputRequiredResult(wanted)) => {
                    let begun = Instant::now();
                    input = self.answer_input_requests(connection, call, wanted).await?;
                    deadline += begun.elapsed();
                }
                answer => return Ok(answer),
            }
        }
        let what = format!("{} requests input repeatedly", self.name());
        Err(self.server.tool_error(ErrorCode::ServerFailed, what))
    }

    /// Passes a form to the approver. `Err` means that the form cannot be shown.
    async fn fill_form(
        &self,
        call: &Call<'_>,
        form: ElicitRequestParams,
        again: bool,
    ) -> Result<FormAnswer, &'static str> {
        let form = elicitation::to_form_request(self.server.name(), self.name(), form, again)?;
        let answer = call.approver.fill_form(&form).await;
        tracing::info!(
            tool = self.name(),
            answer = answer.outcome_text(),
            "a mounted server asked for input"
        );
        Ok(answer)
    }

    /// Answers the input requests of a server of the newest revision.
    async fn answer_input_requests(
        &self,
        connection: &MountConnection,
        call: &Call<'_>,
        wanted: InputRequiredResult,
    ) -> Result<MountRetryInput, ToolError> {
        let unsupported = |reason: &str| {
            let what = format!("{} wants input, and {reason}", self.name());
            ToolError::new(ErrorCode::Unsupported, what)
        };
        let mut responses = InputResponses::new();
        for (key, request) in wanted.input_requests.unwrap_or_default() {
            let response = match request {
                InputRequest::Elicitation(form) => match self.fill_form(call, form.params, true).await {
                    Ok(FormAnswer::Nobody) => {
                        return Err(unsupported("this client cannot ask a user for it"));
                    }
                    Ok(answer) => serde_json::to_value(elicitation::to_elicit_result(answer)),
                    Err(reason) => return Err(unsupported(reason)),
                },
                InputRequest::ListRoots(_) => Ok(connection.roots()),
                _ => return Err(unsupported("sampling is not supported")),
            };
            responses.insert(key, response.map_err(|error| unsupported(&error.to_string()))?);
        }
        Ok(MountRetryInput { responses: Some(responses), state: wanted.request_state })
    }

    /// Checks that the server's current definition is the one that the model received.
    fn check_agreed(&self) -> Result<(), ToolError> {
        let (tool, server) = (self.name(), self.server.name());
        match self.server.may_call(&self.offered.original_name) {
            Callable::Yes => Ok(()),
            Callable::Gone => {
                let what = format!("{tool} is gone: its server no longer has this tool");
                Err(ToolError::new(ErrorCode::UnknownTool, what))
            }
            Callable::Held => {
                let what = format!("{tool} is held back: its server changed its definition after approval");
                let hint = format!(
                    "`lsp-tools mcp show {server}` shows the difference, `lsp-tools mcp approve {server}` approves it"
                );
                Err(ToolError::new(ErrorCode::Denied, what).with_hint(hint))
            }
        }
    }

    async fn send_call(
        &self,
        connection: &MountConnection,
        call: &Call<'_>,
        arguments: Value,
        input: MountRetryInput,
    ) -> Result<ServerResult, ServiceError> {
        let mut params = CallToolRequestParams::new(self.offered.original_name.clone());
        (params.input_responses, params.request_state) = (input.responses, input.state);
        if let Value::Object(arguments) = arguments {
            params = params.with_arguments(arguments);
        }
        let mut meta = RequestMetaObject::new();
        if let Some(trace) = crate::tools::api::trace::current() {
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
            .map(|hearer| connection.progress.add(handle.progress_token.clone(), hearer));
        let mut unanswered = MountCallGuard { peer: connection.peer().clone(), id: Some(handle.id.clone()) };
        let answer = handle.await_response().await;
        unanswered.id = None;
        answer
    }

    async fn to_tool_error(&self, connection: &MountConnection, error: &ServiceError) -> ToolError {
        match error {
            ServiceError::McpError(error) => {
                let message: String = escape_hidden(&error.message).chars().take(2_000).collect();
                let code = match error.code.0 {
                    -32602 => ErrorCode::InvalidArgs,
                    _ => ErrorCode::ServerFailed,
                };
                ToolError::new(code, format!("{} was refused by its server: {message}", self.name()))
            }
            _ if connection.is_closed() || matches!(error, ServiceError::TransportClosed) => {
                let words = connection.exit_report().await;
                self.server.record_exit().await;
                let what = format!("{} got no answer: its server is gone; {words}", self.name());
                // The server may have completed the work before it ended, so the caller must decide
                // on a repetition.
                self.server.tool_error(ErrorCode::ServerFailed, what)
            }
            error => {
                let what = format!("{} got no answer: {}", self.name(), error_chain(error));
                self.server.tool_error(ErrorCode::ServerFailed, what)
            }
        }
    }
}

/// A call without a response yet. Dropping it cancels the call on the server.
struct MountCallGuard {
    peer: Peer<RoleClient>,
    id: Option<RequestId>,
}

impl Drop for MountCallGuard {
    fn drop(&mut self) {
        let (Some(id), Ok(handle)) = (self.id.take(), tokio::runtime::Handle::try_current()) else { return };
        let peer = self.peer.clone();
        // The task has a time limit.
        handle.spawn(async move {
            let params =
                CancelledNotificationParam::new(Some(id), Some("the caller cancelled it".to_owned()));
            let _ignored = timeout(CANCEL_NOTIFICATION_TIMEOUT, peer.notify_cancelled(params)).await;
        });
    }
}

impl AnyTool for MountedAs {
    fn definition(&self) -> &ToolDefinition {
        &self.offered.definition
    }

    fn prepare<'a>(&'a self, _context: &Context, arguments: &Value) -> Result<PreparedCall<'a>, ToolError> {
        self.offered.definition.input.check(self.name(), arguments)?;
        let urls = match &self.server.mount.transport {
            MountTransport::Http { url, .. } => vec![url.to_string()],
            MountTransport::Stdio { .. } => Vec::new(),
        };
        let subjects = CallSubjects { urls, ..CallSubjects::default() };
        Ok(PreparedCall::of_json(self, subjects, arguments))
    }
}

impl JsonTool for MountedAs {
    fn run_json<'a>(
        &'a self,
        call: Call<'a>,
        arguments: Value,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async move { self.call(call, arguments).await })
    }
}
