//! `conversation/invokeClientToolConfirmation`: the server's request to confirm a call of our tools
//! or its own.
//!
//! Our rules decide first. For our tools they are final; if they ask, the approver is asked here,
//! and not again when the call comes. The server's own tools run in the server, which requests a
//! confirmation because of its own rules. A denial by our rules dismisses the call, a user's rule
//! that allows it by name accepts it, and the approver decides all others. Without an approver, the
//! call is dismissed.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::context::CopilotContext;
use super::invoke::turn_cancellation;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::policy::approval::{Approval, ApprovalRequest};
use crate::policy::request::{Effect, PolicyDecision, PolicyVerdict};

/// The time limit for the approver's answer.
const CONFIRMATION_TIMEOUT: Duration = Duration::from_secs(300);
/// The prefix that the server adds to the names of its clients' tools in full ids.
const CLIENTS: &str = "copilot-editor.";
/// The name of the confirmation requested when a turn has used up its rounds.
const GO_ON: &str = "internal.tool_calling_loop_continue_confirmation";

/// The parameters, as far as they are used.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConfirmationParams {
    name: String,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    input: Value,
    #[serde(default)]
    tool_call_id: Value,
    #[serde(default)]
    conversation_id: Value,
}

/// Decides a confirmation, and returns the result of the request.
pub(super) async fn answer_confirmation(context: &CopilotContext, params: Value) -> Value {
    let accepted = match ConfirmationParams::deserialize(&params) {
        Ok(question) => is_accepted(context, &question).await,
        Err(error) => {
            tracing::warn!("a confirmation cannot be read: {error}");
            false
        }
    };
    json!([{"result": if accepted { "accept" } else { "dismiss" }}, null])
}

async fn is_accepted(context: &CopilotContext, question: &ConfirmationParams) -> bool {
    if context.turns.current().is_some_and(|turn| turn.is_foreign(&question.conversation_id)) {
        tracing::warn!(tool = question.name, "dismissed: it belongs to another client's conversation");
        return false;
    }
    let name = question.name.strip_prefix(CLIENTS).unwrap_or(&question.name);
    let offer = context.offer();
    match offer.get(name) {
        None => return is_yes(&approve_server_tool(context, question).await),
        // The server requests confirmation for an alias as for its own tool, but the call is one of
        // ours.
        Some(offered) if offered.name.is_some() => {
            let approval = approve_server_tool(context, question).await;
            let yes = is_yes(&approval);
            context.record_approval(id_of(question), name, &question.input, approval);
            return yes;
        }
        Some(_) => {}
    }
    let internal_name = offer.internal_name(name);
    match context.backend.approval_request(&context.caller, internal_name, &question.input).await {
        Ok(None) => true,
        Ok(Some(request)) => {
            let approval = ask_approver(context, &request).await;
            let yes = is_yes(&approval);
            context.record_approval(id_of(question), name, &question.input, approval);
            yes
        }
        // Other errors are reported by the call itself.
        Err(error) => error.code != ErrorCode::Denied,
    }
}

fn id_of(question: &ConfirmationParams) -> &str {
    question.tool_call_id.as_str().unwrap_or_default()
}

async fn approve_server_tool(context: &CopilotContext, question: &ConfirmationParams) -> Approval {
    let refused = Approval::Refused { why: None };
    let request = request_of(question);
    match decide_by_rules(context, question) {
        Some(Ok(decision)) if decision.verdict == PolicyVerdict::Deny => return refused,
        Some(Ok(decision)) if decision.verdict == PolicyVerdict::Allow && decision.rule.is_some() => {
            return Approval::Once;
        }
        Some(Err(error)) if matches!(error.code, ErrorCode::OutsideWorkspace | ErrorCode::Denied) => {
            tracing::info!(tool = question.name, "dismissed: {error}");
            return refused;
        }
        _ => {}
    }
    ask_approver(context, &request).await
}

fn is_yes(approval: &Approval) -> bool {
    matches!(approval, Approval::Once | Approval::ForSession)
}

/// Decides a call of the server's own tool by our rules on the files, commands or addresses that it
/// names. Returns `None` if these are unknown.
fn decide_by_rules(
    context: &CopilotContext,
    question: &ConfirmationParams,
) -> Option<Result<PolicyDecision, ToolError>> {
    let text = |key: &str| question.input.get(key).and_then(Value::as_str);
    let check =
        |tool: &str, arguments: Value| context.runtime().check_call(&context.caller, tool, &arguments);
    match text("toolType")? {
        "file_read" => Some(check("read", json!({"path": text("filePath").or_else(|| text("path"))?}))),
        "file_write" => Some(check("write", json!({"path": text("filePath")?, "content": ""}))),
        "terminal" => Some(Ok(context.runtime().check_command(&context.caller, text("command")?))),
        "web" => strictest(
            addresses(&question.input).into_iter().map(|url| check("fetch_web_page", json!({"url": url}))),
        ),
        _ => None,
    }
}

/// Returns the addresses of a web tool: one in `url`, or several in `urls`.
fn addresses(input: &Value) -> Vec<String> {
    let several = input.get("urls").and_then(Value::as_array).into_iter().flatten();
    input.get("url").into_iter().chain(several).filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Returns the strictest of several decisions.
fn strictest(
    decisions: impl Iterator<Item = Result<PolicyDecision, ToolError>>,
) -> Option<Result<PolicyDecision, ToolError>> {
    decisions.max_by_key(|decision| match decision {
        Ok(decision) => (decision.verdict, decision.rule.is_none()),
        Err(error) if error.code == ErrorCode::Denied => (PolicyVerdict::Deny, true),
        Err(_) => (PolicyVerdict::Ask, true),
    })
}

/// Creates the approval request for the approver.
fn request_of(question: &ConfirmationParams) -> ApprovalRequest {
    let text = |key: &str| question.input.get(key).and_then(Value::as_str);
    let one = |key: &str| text(key).map(str::to_owned).into_iter().collect::<Vec<_>>();
    let effect = match text("toolType") {
        Some("file_read" | "safe_tool") => Effect::Read,
        Some("file_write") => Effect::Edit,
        Some("web") => Effect::Network,
        None if question.name == GO_ON => Effect::Read,
        _ => Effect::Execute,
    };
    let why = match question.message.as_deref().filter(|message| !message.trim().is_empty()) {
        Some(message) => message.to_owned(),
        None if question.name == GO_ON => "the turn has used all its rounds and wants to continue".to_owned(),
        None => "the Copilot language server asks".to_owned(),
    };
    ApprovalRequest {
        tool: question.name.clone(),
        title: question.title.clone().unwrap_or_else(|| question.name.clone()),
        effect,
        why,
        paths: one("filePath"),
        commands: one("command"),
        urls: addresses(&question.input),
        arguments: question.input.clone(),
    }
}

/// Asks the approver while the turn runs.
async fn ask_approver(context: &CopilotContext, request: &ApprovalRequest) -> Approval {
    let Some(over) = turn_cancellation(context) else { return Approval::Nobody };
    tokio::select! {
        answer = tokio::time::timeout(CONFIRMATION_TIMEOUT, context.approver.ask(request)) => answer.unwrap_or(Approval::Nobody),
        () = over.cancelled() => Approval::Nobody,
    }
}
