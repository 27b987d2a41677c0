//! `tools/call`: one call of a tool, and its result in MCP's form.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResponse, ErrorData};
use rmcp::service::RequestContext;
use serde_json::{Value, json};
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

use super::ask::{CallRespondent, is_modern};
use super::conversation::McpConversation;
use super::handles::{McpCallHandles, name_list};
use super::tasks::{self, McpCallOutcome};
use super::tool_call::McpToolCall;
use super::{list, progress, trace_context};
use crate::analysis::error::ErrorCode;
use crate::policy::approval::Approver;
use crate::runtime::Client;
use crate::runtime::calls::call::CallRequest;
use crate::tools::api::result::ToolResult;
use crate::tools::api::trace::with_trace;

/// Calls a tool, and requests approval if necessary.
pub(super) async fn call(
    conversation: &McpConversation,
    mut params: CallToolRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let modern = is_modern(&context);
    let caller = conversation.caller(modern);
    let ask =
        Arc::new(CallRespondent::for_call(&mut params, &context, conversation.seal(), &caller.session)?);
    let arguments = params.arguments.clone().map_or(Value::Null, Value::Object);
    let runtime = conversation.runtime();
    let name = list::from_mcp_name(&params.name);
    let (name, mut arguments) = runtime.named_call(&caller, &name, arguments);
    let own_name = runtime.own_name(&name);
    let handles = McpCallHandles::take_from(&runtime, &own_name, &mut arguments, &context.meta);
    let named = name_list(&own_name, &mut arguments, &context.meta, conversation.is_shared(modern));
    let handles = match handles.and_then(|handles| named.map(|()| handles)) {
        Ok(handles) => handles,
        Err(error) => {
            return Ok(conversation.answer_form().to_call_result(ToolResult::from_error(&error)).into());
        }
    };
    let tool_call = McpToolCall {
        caller: &caller,
        name: &name,
        arguments,
        handles,
        trace: trace_context::trace_context(&context),
    };
    let result = if tasks::can_become_task(conversation, &own_name, &context) {
        match tasks::call(conversation, tool_call, &ask, &context).await? {
            McpCallOutcome::Done(result) => result,
            McpCallOutcome::Goes(task) => return Ok(task.into()),
        }
    } else {
        run(conversation, tool_call, ask.as_ref(), &context).await
    };
    if let Some(question) = ask.open_question(&params, conversation.seal(), &caller.session) {
        return Ok(question?.into());
    }
    if !result.ok() && result.value.get("code") == Some(&json!(ErrorCode::UnknownTool)) {
        return Err(unknown_tool_error(&result.value, &params.name));
    }
    Ok(conversation.answer_form().to_call_result(result).into())
}

/// Calls a tool for a client that may disconnect, and reports progress of slow work if the client
/// requested it.
pub(super) async fn run(
    conversation: &McpConversation,
    tool_call: McpToolCall<'_>,
    approver: &dyn Approver,
    context: &RequestContext<RoleServer>,
) -> ToolResult {
    let client = tool_call.client(conversation);
    let McpToolCall { caller, name, arguments, handles, trace } = tool_call;
    tracing::debug!(tool = name, session = caller.session, "MCP call");
    let cancelled = conversation.gone().child_token();
    let answered = CancellationToken::new();
    let token = context.meta.get_progress_token();
    let (sender, events) = token.is_some().then(unbounded_channel).unzip();
    let client = Client { progress: sender, ..client };
    let call = async {
        let runtime = conversation.runtime().for_client(client);
        let id = context.id.to_string();
        let request = CallRequest::new(name, arguments, caller)
            .approved_by(approver)
            .in_group(handles.group.as_deref())
            .known_as(Some(&id))
            .with_cancellation(cancelled.clone());
        let call = with_trace(trace, runtime.call(request));
        tokio::pin!(call);
        let result = tokio::select! {
            result = &mut call => result,
            () = context.ct.cancelled() => {
                cancelled.cancel();
                call.await
            }
        };
        answered.cancel();
        result
    };
    let progress = async {
        if let (Some(token), Some(events)) = (token, events) {
            tokio::select! {
                () = progress::forward(context.peer.clone(), token, events, answered.clone()) => {}
                // A client that has disconnected needs no progress, and must not delay the end.
                () = context.ct.cancelled() => {}
                () = conversation.gone().cancelled() => {}
            }
        }
    };
    let (result, ()) = tokio::join!(call, progress);
    tracing::debug!(tool = name, ok = result.ok(), "MCP call answered");
    result
}

fn unknown_tool_error(failure: &Value, name: &str) -> ErrorData {
    let field = |key: &str| failure.get(key).and_then(Value::as_str);
    let mut message = field("error").unwrap_or("unknown tool").to_owned();
    if let Some(hint) = field("hint") {
        message = format!("{message}; {hint}");
    }
    ErrorData::invalid_params(message, Some(json!({"name": name})))
}
