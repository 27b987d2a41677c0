//! Tasks for long calls (`io.modelcontextprotocol/tasks`, SEP-2663), for clients that declared the
//! extension.
//!
//! After a short time the call is answered with a task, which the client polls and may cancel.

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{CallToolResult, CreateTaskResult, ErrorData};
use rmcp::service::RequestContext;
use rmcp::task_manager::{TaskContext, TaskExit, TaskOptions};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::answer_form::AnswerForm;
use super::ask::{CallRespondent, is_modern};
use super::conversation::McpConversation;
use super::tool_call::McpToolCall;
use crate::runtime::calls::call::{CallOptions, CallRequest};
use crate::tools::api::result::ToolResult;
use crate::tools::api::trace::with_trace;

/// Calls that finish within this time are answered directly.
const IMMEDIATE_ANSWER_WINDOW: Duration = Duration::from_secs(2);

/// The lifetime of a task, in milliseconds: longer than any tool may run.
const TASK_TTL_MS: u64 = 3_600_000;

/// The outcome of a call.
pub(super) enum McpCallOutcome {
    /// The call has finished.
    Done(ToolResult),
    /// The call continues as a task.
    Goes(CreateTaskResult),
}

/// Returns true if a call of `tool` may become a task of this client.
pub(super) fn can_become_task(
    conversation: &McpConversation,
    tool: &str,
    context: &RequestContext<RoleServer>,
) -> bool {
    let declared = || context.client_capabilities().is_some_and(|client| client.supports_tasks());
    let is_long = || conversation.runtime().tools().get(tool).is_ok_and(|tool| tool.definition().card.long);
    is_modern(context) && declared() && is_long()
}

/// Calls a tool, and turns the call into a task if it takes long.
///
/// # Errors
/// The call failed with an internal error.
pub(super) async fn call(
    conversation: &McpConversation,
    tool_call: McpToolCall<'_>,
    ask: &Arc<CallRespondent>,
    context: &RequestContext<RoleServer>,
) -> Result<McpCallOutcome, ErrorData> {
    let (cancelled, name) = (conversation.gone().child_token(), tool_call.name);
    let mut running = tokio::spawn({
        let runtime = conversation.runtime().for_client(tool_call.client(conversation));
        let (caller, name, ask) = (tool_call.caller.clone(), tool_call.name.to_owned(), Arc::clone(ask));
        let McpToolCall { arguments, handles, trace, .. } = tool_call;
        let (cancelled, id) = (cancelled.clone(), context.id.to_string());
        async move {
            let (name, caller, approver) = (name.as_str(), &caller, ask.as_ref());
            let group = handles.group.as_deref();
            let id = Some(id.as_str());
            let options = CallOptions { caller, approver, group, id, cancelled, limit: None };
            let request = CallRequest { name, arguments, options };
            with_trace(trace, runtime.call(request)).await
        }
    });
    let broken = |error: tokio::task::JoinError| ErrorData::internal_error(error.to_string(), None);
    tokio::select! {
        result = &mut running => return Ok(McpCallOutcome::Done(result.map_err(broken)?)),
        () = context.ct.cancelled() => {
            cancelled.cancel();
            return Ok(McpCallOutcome::Done(running.await.map_err(broken)?));
        }
        () = tokio::time::sleep(IMMEDIATE_ANSWER_WINDOW) => {}
    }
    tracing::debug!(tool = name, "an MCP call continues as a task");
    let form = conversation.answer_form();
    let task = conversation.tasks().spawn(TaskOptions::default().with_ttl_ms(TASK_TTL_MS), move |task| {
        Box::pin(run_as_task(task, running, cancelled, form))
    });
    Ok(McpCallOutcome::Goes(CreateTaskResult::new(task)))
}

async fn run_as_task(
    task: TaskContext,
    mut running: JoinHandle<ToolResult>,
    cancelled: CancellationToken,
    form: AnswerForm,
) -> Result<CallToolResult, TaskExit> {
    let result = tokio::select! {
        result = &mut running => result,
        () = task.cancelled() => {
            cancelled.cancel();
            // The call ends by itself now; its answer is not needed.
            let _ended = running.await;
            return Err(TaskExit::Cancelled);
        }
    };
    match result {
        Ok(result) => Ok(form.to_call_result(result)),
        Err(error) => Err(TaskExit::Error(ErrorData::internal_error(error.to_string(), None))),
    }
}
