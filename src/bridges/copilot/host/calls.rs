//! `external_tool.requested`: calls of our tools, and their results in the command line's form.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::approvals::ReplayingApprover;
use super::turn_state::HostTurnState;
use crate::runtime::calls::call::CallRequest;
use crate::tools::api::result::{ResultType, ToolResult};

/// The size limit of a result's text, in bytes. From 20,480 bytes on, the command line stores the
/// text in a file and shows the model its beginning.
const MAX_HOST_TEXT_BYTES: usize = 20_000;

/// Runs one call and sends its result.
pub(super) async fn run_call(
    shared: Arc<HostTurnState>,
    data: Value,
    agent: Option<String>,
    cancelled: CancellationToken,
) {
    let caller = shared.caller(agent.as_deref());
    let theirs = data.get("toolName").and_then(Value::as_str).unwrap_or_default();
    let arguments = data.get("arguments").cloned().unwrap_or_default();
    let result = match shared.internal_name(theirs) {
        Err(error) => ToolResult::from_error(&error),
        Ok(name) => {
            let id = data.get("toolCallId").and_then(Value::as_str).unwrap_or_default();
            let approver = ReplayingApprover::for_call(shared.approver.as_ref(), &shared.agreed, id);
            let request = CallRequest::new(name, arguments, &caller)
                .approved_by(&approver)
                .in_group(Some(&shared.session))
                .known_as(Some(id).filter(|id| !id.is_empty()))
                .with_cancellation(cancelled.clone());
            shared.backend.call(request).await
        }
    };
    // A cancelled call needs no result.
    if cancelled.is_cancelled() {
        return;
    }
    let result = to_host_result(&result);
    let params = json!({"sessionId": shared.session, "requestId": data["requestId"], "result": result});
    shared.reply("session.tools.handlePendingToolCall", params).await;
}

/// Converts a result into a form whose whole text reaches the model. The kind is never `error`,
/// which would hide the text, or `rejected`, which would end the turn.
pub(super) fn to_host_result(result: &ToolResult) -> Value {
    let text = result.model_text();
    let kind = match result.kind {
        ResultType::Success => "success",
        ResultType::Failure | ResultType::Timeout => "failure",
        ResultType::Denied | ResultType::Rejected => "denied",
    };
    let mut answer = json!({"textResultForLlm": truncate_text(&text), "resultType": kind});
    if let Some(log) = &result.session_log {
        answer["sessionLog"] = json!(log);
    }
    if !result.telemetry.is_empty() {
        answer["toolTelemetry"] = Value::Object(result.telemetry.clone());
    }
    if !result.binary.is_empty() {
        answer["binaryResultsForLlm"] = json!(result.binary);
    }
    answer
}

fn truncate_text(text: &str) -> String {
    if text.len() <= MAX_HOST_TEXT_BYTES {
        return text.to_owned();
    }
    let kept = text.floor_char_boundary(MAX_HOST_TEXT_BYTES - 100);
    format!("{}\n[cut: the first {kept} of {} bytes; request less at once]", &text[..kept], text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::error::{ErrorCode, ToolError};

    #[test]
    fn tool_result_is_normalised_to_text_result_for_llm() {
        let object = to_host_result(&ToolResult::from_value(json!({"path": "a.py", "count": 2})));
        assert_eq!(object, json!({"textResultForLlm": "path: a.py\ncount: 2", "resultType": "success"}));
        let text = to_host_result(&ToolResult::from_value(json!("done")));
        assert_eq!(text["textResultForLlm"], "done");
        let nothing = to_host_result(&ToolResult::from_value(Value::Null));
        assert_eq!(nothing["resultType"], "failure");
        assert!(nothing["textResultForLlm"].as_str().unwrap().contains("Tool returned no result"));
        let denied = ToolResult::from_error(&ToolError::new(ErrorCode::Denied, "no").with_hint("ask"));
        let rejected = ToolResult { kind: ResultType::Rejected, ..denied.clone() };
        for refused in [to_host_result(&denied), to_host_result(&rejected)] {
            assert_eq!(refused["resultType"], "denied");
            assert!(refused["textResultForLlm"].as_str().unwrap().contains("no"));
        }
        let full = ToolResult::from_value(json!({
            "textResultForLlm": "not now", "resultType": "failure", "error": "10.0.0.5 is down", "sessionLog": "tried",
        }));
        assert_eq!(
            to_host_result(&full),
            json!({"textResultForLlm": "not now", "resultType": "failure", "sessionLog": "tried"})
        );
    }

    #[test]
    fn tool_result_text_over_limit_is_cut_with_a_note() {
        let long = to_host_result(&ToolResult::from_value(json!("ü".repeat(40_000))));
        let text = long["textResultForLlm"].as_str().unwrap();
        assert!(
            text.len() < 20_480 && text.ends_with("of 80000 bytes; request less at once]"),
            "{}",
            text.len()
        );
    }
}
