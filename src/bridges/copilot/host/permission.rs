//! `permission.requested`: permissions for the command line, by the rules of our equivalent tools.
//!
//! A refusal is sent as `reject` with its reason, which the model reads; the turn continues. A
//! missing approver is such a reason as well.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::approvals::RecordingApprover;
use super::turn_state::{HostTurnState, text_of};
use crate::analysis::error::{ErrorCode, ToolError};
use crate::policy::approval::{Approval, ApprovalRequest};
use crate::policy::request::{CallSubjects, Effect};
use crate::runtime::calls::authorize::IntendedAction;
use crate::runtime::calls::call::CallRequest;
use crate::tools::api::tool::Caller;

/// The time limit for the approver's answer.
const HOST_APPROVAL_TIMEOUT: Duration = Duration::from_secs(300);

/// Decides one request and sends the answer.
pub(super) async fn decide(shared: Arc<HostTurnState>, data: Value, agent: Option<String>) {
    let caller = shared.caller(agent.as_deref());
    let request = &data["permissionRequest"];
    let result = match check_permission(&shared, &caller, request).await {
        Ok(()) => json!({"kind": "approve-once"}),
        Err(error) => json!({"kind": "reject", "feedback": text_of(&error)}),
    };
    let params = json!({"sessionId": shared.session, "requestId": data["requestId"], "result": result});
    shared.reply("session.permissions.handlePendingPermissionRequest", params).await;
}

async fn check_permission(shared: &HostTurnState, caller: &Caller, request: &Value) -> Result<(), ToolError> {
    let word = |key: &str| request.get(key).and_then(Value::as_str).unwrap_or_default();
    let runtime = &shared.runtime();
    let intent = |tool: &str, title: &str, effect: Effect, subjects: CallSubjects| IntendedAction {
        tool: tool.to_owned(),
        title: title.to_owned(),
        effect,
        subjects,
        arguments: request.clone(),
    };
    let intent = match word("kind") {
        "custom-tool" => return check_own_tool(shared, caller, request).await,
        "shell" => {
            let commands = vec![word("fullCommandText").to_owned()];
            intent(
                "bash",
                "Shell command",
                Effect::Execute,
                CallSubjects { commands, ..CallSubjects::default() },
            )
        }
        "write" => {
            let subjects = runtime.subjects_of_path(Path::new(word("fileName")))?;
            intent("write", "Write a file", Effect::Edit, subjects)
        }
        "read" => {
            let subjects = runtime.subjects_of_path(Path::new(word("path")))?;
            intent("read", "Read a file", Effect::Read, subjects)
        }
        "url" => {
            let urls = vec![word("url").to_owned()];
            intent(
                "fetch_web_page",
                "Fetch an address",
                Effect::Network,
                CallSubjects { urls, ..CallSubjects::default() },
            )
        }
        "mcp" => {
            // A server's own description of its tool does not determine the tool's effect.
            let tool = format!("{}/{}", word("serverName"), word("toolName"));
            intent(&tool, "Tool of an MCP server", Effect::Execute, CallSubjects::default())
        }
        "memory" => intent("memory", "Remember something", Effect::Edit, CallSubjects::default()),
        "hook" => return ask_approver(shared, word("toolName"), word("hookMessage"), request).await,
        other => {
            let reason = format!("the command line wants approval for `{}`", other.escape_debug());
            return ask_approver(shared, other, &reason, request).await;
        }
    };
    runtime.authorize(caller, shared.approver.as_ref(), &intent).await
}

/// Checks a call of our tools. An approval given here is not requested again when the same call
/// arrives.
async fn check_own_tool(shared: &HostTurnState, caller: &Caller, request: &Value) -> Result<(), ToolError> {
    let theirs = request.get("toolName").and_then(Value::as_str).unwrap_or_default();
    let name = shared.internal_name(theirs)?;
    let arguments = request.get("args").cloned().unwrap_or_default();
    let id = request.get("toolCallId").and_then(Value::as_str).unwrap_or_default();
    let noting = RecordingApprover { approver: shared.approver.as_ref(), agreed: &shared.agreed, call: id };
    let call = CallRequest::new(name, arguments, caller).approved_by(&noting);
    match shared.backend.authorize_tool_call(call).await {
        // The call itself reports invalid arguments in full.
        Err(error) if error.code == ErrorCode::Denied => Err(error),
        _ => Ok(()),
    }
}

/// Requests approval for an action that no rule covers.
async fn ask_approver(
    shared: &HostTurnState,
    tool: &str,
    reason: &str,
    request: &Value,
) -> Result<(), ToolError> {
    let question = ApprovalRequest {
        tool: tool.to_owned(),
        title: tool.to_owned(),
        effect: Effect::Execute,
        why: reason.to_owned(),
        paths: Vec::new(),
        commands: Vec::new(),
        urls: Vec::new(),
        arguments: request.clone(),
    };
    let denied = |what: String| Err(ToolError::new(ErrorCode::Denied, what));
    match tokio::time::timeout(HOST_APPROVAL_TIMEOUT, shared.approver.ask(&question)).await {
        Ok(Approval::Once | Approval::ForSession) => Ok(()),
        Ok(Approval::Refused { why: answer }) => {
            let answer = answer.map(|answer| format!(": {answer}")).unwrap_or_default();
            denied(format!("{reason}; the request for approval was declined{answer}"))
        }
        Ok(Approval::Nobody) => denied(format!("{reason}; this client cannot ask a user for approval")),
        Err(_) => denied(format!(
            "{reason}; the request for approval was not answered within {} s",
            HOST_APPROVAL_TIMEOUT.as_secs()
        )),
    }
}
