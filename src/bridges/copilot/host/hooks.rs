//! `hooks.invoke`: the hooks of the user and of the trusted repository, around the command line's
//! own tools.
//!
//! Around our tools they run as in every other call.

use std::sync::Arc;

use serde_json::{Value, json};

use super::built_in;
use super::rpc::QuestionAnswer;
use super::turn_state::{HostTurnState, text_of};
use crate::policy::request::PolicyVerdict;
use crate::runtime::calls::call_hooks::ForeignToolCall;

/// Runs the hooks and sends their output.
pub(super) async fn on_hook(shared: Arc<HostTurnState>, answer: QuestionAnswer, params: Value) {
    let output = output(&shared, &params).await;
    answer.send(json!({"output": output}));
}

async fn output(shared: &HostTurnState, params: &Value) -> Value {
    let input = &params["input"];
    let tool = input.get("toolName").and_then(Value::as_str).unwrap_or_default();
    if tool.is_empty() || shared.internal_name(tool).is_ok() {
        return Value::Null;
    }
    let caller = shared.caller(input.get("agentId").and_then(Value::as_str));
    let arguments = input.get("toolArgs").cloned().unwrap_or_default();
    let call =
        ForeignToolCall { tool, effect: built_in::effect_of(tool), arguments: &arguments, caller: &caller };
    match params.get("hookType").and_then(Value::as_str).unwrap_or_default() {
        "preToolUse" => before(shared, &call).await,
        "postToolUse" => {
            let text = input.pointer("/toolResult/textResultForLlm").cloned().unwrap_or_default();
            after(shared, &call, &json!({"ok": true, "text": text})).await
        }
        "postToolUseFailure" => {
            let error = input.get("error").cloned().unwrap_or_default();
            after(shared, &call, &json!({"ok": false, "error": error})).await
        }
        _ => Value::Null,
    }
}

async fn before(shared: &HostTurnState, call: &ForeignToolCall<'_>) -> Value {
    match shared.runtime().hooks_before(call).await {
        Err(error) => json!({"permissionDecision": "deny", "permissionDecisionReason": text_of(&error)}),
        Ok(answer) => {
            let mut output = json!({});
            if answer.decision == Some(PolicyVerdict::Ask) {
                output["permissionDecision"] = json!("ask");
                output["permissionDecisionReason"] = json!(answer.why);
            }
            if let Some(arguments) = answer.arguments {
                output["modifiedArgs"] = arguments;
            }
            output
        }
    }
}

async fn after(shared: &HostTurnState, call: &ForeignToolCall<'_>, result: &Value) -> Value {
    let answer = shared.runtime().hooks_after(call, result).await;
    let mut output = json!({});
    if let Some(result) = answer.result {
        output["modifiedResult"] = match result.get("textResultForLlm") {
            Some(_) => result,
            None => json!({"textResultForLlm": result.to_string(), "resultType": "success"}),
        };
    }
    if let Some(context) = answer.context {
        output["additionalContext"] = json!(context);
    }
    output
}
