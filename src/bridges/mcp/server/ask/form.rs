//! Approval requests and forms as MCP elicitations, and their answers.

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema};
use serde_json::{Value, json};

use crate::policy::approval::{Approval, ApprovalRequest, FormAnswer, FormRequest};
use crate::tools::api::hidden::approval_text;

/// The limit on shown items; users do not read longer lists.
const SHOWN_ITEMS: usize = 20;

/// Converts a response to a decision. Every response except a clear approval is a refusal.
pub(super) fn to_approval(result: &ElicitResult) -> Approval {
    let decision =
        result.content.as_ref().and_then(|content| content.get("decision")).and_then(Value::as_str);
    match (&result.action, decision) {
        (ElicitationAction::Accept, Some("once")) => Approval::Once,
        (ElicitationAction::Accept, Some("session")) => Approval::ForSession,
        (ElicitationAction::Accept, Some("no")) | (ElicitationAction::Decline, _) => {
            Approval::Refused { why: None }
        }
        (ElicitationAction::Accept, _) => {
            Approval::Refused { why: Some("the answer has no `decision`".to_owned()) }
        }
        _ => Approval::Refused { why: Some("the question was dismissed".to_owned()) },
    }
}

/// Converts the client's response to a mounted server's form.
pub(super) fn to_form_answer(result: ElicitResult) -> FormAnswer {
    match (result.action, result.content) {
        (ElicitationAction::Accept, Some(Value::Object(content))) => FormAnswer::Filled(content),
        // Accepting a form without fields answers it.
        (ElicitationAction::Accept, None) => FormAnswer::Filled(serde_json::Map::new()),
        (ElicitationAction::Accept | ElicitationAction::Decline, _) => FormAnswer::Declined,
        _ => FormAnswer::Dismissed,
    }
}

/// Creates the form of a mounted server, with the server's name before its message.
pub(super) fn mounted_form(form: &FormRequest) -> Result<ElicitRequestParams, serde_json::Error> {
    let (from, tool) = (approval_text(&form.from), approval_text(&form.tool));
    Ok(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: format!("The MCP server `{from}`, working on {tool}, asks: {}", form.message),
        requested_schema: serde_json::from_value(form.schema.clone())?,
    })
}

/// Creates the approval request of a call as a form with one choice.
pub(super) fn approval_form(
    request: &ApprovalRequest,
    sessions: bool,
) -> Result<ElicitRequestParams, serde_json::Error> {
    let mut choices = vec![json!({"const": "once", "title": "Allow this once"})];
    if sessions {
        choices.push(json!({"const": "session", "title": "Allow this until the session ends"}));
    }
    choices.push(json!({"const": "no", "title": "Do not allow it"}));
    let schema: ElicitationSchema = serde_json::from_value(json!({
        "type": "object",
        "properties": {"decision": {"type": "string", "title": "Decision", "oneOf": choices}},
        "required": ["decision"],
    }))?;
    Ok(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message(request),
        requested_schema: schema,
    })
}

/// Lists everything that the call would touch, one line each.
fn message(request: &ApprovalRequest) -> String {
    let mut text = format!("{}: {}", approval_text(&request.title), approval_text(&request.why));
    let lists =
        [("run", &request.commands), ("fetch", &request.urls), (request.effect.as_str(), &request.paths)];
    for (what, list) in lists {
        for item in list.iter().take(SHOWN_ITEMS) {
            text.push_str(&format!("\n{what}: {}", approval_text(item)));
        }
        if list.len() > SHOWN_ITEMS {
            text.push_str(&format!("\n{what}: and {} more", list.len() - SHOWN_ITEMS));
        }
    }
    if lists.iter().all(|(_, list)| list.is_empty()) {
        text.push('\n');
        text.push_str(&approval_text(&request.arguments.to_string()));
    }
    text
}
