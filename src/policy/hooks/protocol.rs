//! The input and output of hooks in hooks files: the Copilot command line's words and Claude's.
//!
//! The two programs continue if a hook fails (timeout, not found). Here the call does not run then.
//! If the output is not an object, the exit status decides.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::Deserialize;
use serde_json::{Value, json};

use super::{HookError, HookInput, HookProtocol, HookRunResult, MAX_HOOK_TEXT_CHARS, PostAnswer, PreAnswer};
use crate::policy::request::PolicyVerdict;
use crate::process::Exit;

/// The input of a hook in the format of its protocol.
pub(super) fn hook_input(protocol: HookProtocol, input: &HookInput<'_>) -> Value {
    let failed = input.result.is_some_and(|result| result.get("ok") == Some(&Value::Bool(false)));
    let text = input.result.map(|result| match result.get("text").and_then(Value::as_str) {
        Some(text) => text.to_owned(),
        None => result.to_string(),
    });
    match protocol {
        HookProtocol::Claude => {
            let event = match (&text, failed) {
                (None, _) => "PreToolUse",
                (Some(_), false) => "PostToolUse",
                (Some(_), true) => "PostToolUseFailure",
            };
            let mut payload = json!({
                "session_id": input.session, "hook_event_name": event, "cwd": input.workspace,
                "tool_name": input.tool, "tool_input": input.arguments,
            });
            if let Some(result) = input.result {
                payload["tool_response"] = result.clone();
            }
            payload
        }
        HookProtocol::Ours | HookProtocol::Copilot => {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let mut payload = json!({
                "sessionId": input.session, "timestamp": u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
                "cwd": input.workspace, "toolName": input.tool, "toolArgs": input.arguments,
            });
            match text {
                Some(text) if failed => payload["error"] = json!(text),
                Some(text) => {
                    payload["toolResult"] = json!({"resultType": "success", "textResultForLlm": text});
                }
                None => {}
            }
            payload
        }
    }
}

/// An answer in either format.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct HookAnswer {
    permission_decision: Option<PolicyVerdict>,
    permission_decision_reason: Option<String>,
    modified_args: Option<Value>,
    modified_result: Option<Value>,
    additional_context: Option<String>,
    hook_specific_output: Option<HookSpecificOutput>,
    decision: Option<String>,
    reason: Option<String>,
    #[serde(rename = "continue")]
    goes_on: Option<bool>,
    stop_reason: Option<String>,
}

/// The `hookSpecificOutput` object of Claude's format.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct HookSpecificOutput {
    permission_decision: Option<PolicyVerdict>,
    permission_decision_reason: Option<String>,
    updated_input: Option<Value>,
    additional_context: Option<String>,
}

fn read(hook: &str, output: &[u8]) -> Result<HookAnswer, HookError> {
    let text = output.trim_ascii();
    if !text.starts_with(b"{") {
        return Ok(HookAnswer::default());
    }
    serde_json::from_slice(text)
        .map_err(|error| HookError::NoAnswer { hook: hook.to_owned(), problem: error.to_string() })
}

/// Parses the answer of a hook before a call. Any status but 0 denies the call, with the hook's
/// standard error as the reason.
pub(super) fn parse_before_answer(hook: &str, ran: &HookRunResult) -> Result<PreAnswer, HookError> {
    if ran.exit != Exit::Code(0) {
        let why = ran.errors.join(" ");
        let why = if why.trim().is_empty() { format!("it ended with {}", ran.exit) } else { why };
        let why = Some(why.chars().take(MAX_HOOK_TEXT_CHARS).collect());
        return Ok(PreAnswer { decision: Some(PolicyVerdict::Deny), why, arguments: None });
    }
    let answer = read(hook, &ran.output)?;
    let inner = answer.hook_specific_output.unwrap_or_default();
    let mut decision = answer.permission_decision.or(inner.permission_decision);
    if decision.is_none() && (answer.decision.as_deref() == Some("block") || answer.goes_on == Some(false)) {
        decision = Some(PolicyVerdict::Deny);
    }
    let why = answer.permission_decision_reason.or(inner.permission_decision_reason);
    let why = why.or(answer.reason).or(answer.stop_reason);
    Ok(PreAnswer { decision, why, arguments: answer.modified_args.or(inner.updated_input) })
}

/// Parses the answer of a hook after a call.
pub(super) fn parse_after_answer(hook: &str, ran: &HookRunResult) -> Result<PostAnswer, HookError> {
    if ran.exit != Exit::Code(0) {
        return Err(HookError::Failed { hook: hook.to_owned(), exit: ran.exit });
    }
    let answer = read(hook, &ran.output)?;
    let inner = answer.hook_specific_output.unwrap_or_default();
    let blocked = answer.reason.filter(|_| answer.decision.as_deref() == Some("block"));
    let context = answer.additional_context.or(inner.additional_context).or(blocked);
    Ok(PostAnswer { result: answer.modified_result, context })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(code: i32, output: &str, error: &str) -> HookRunResult {
        let errors = error.lines().map(str::to_owned).collect();
        HookRunResult { exit: Exit::Code(code), output: output.into(), errors }
    }

    #[test]
    fn pre_tool_use_hook_output_and_exit_code_give_decision() {
        let deny = Some(PolicyVerdict::Deny);
        for (code, output, error, decision, why) in [
            (0, "", "", None, None),
            (0, "checked 3 files", "", None, None),
            (0, r#"{"permissionDecision": "deny", "permissionDecisionReason": "no"}"#, "", deny, Some("no")),
            (0, r#"{"permissionDecision": "ask"}"#, "", Some(PolicyVerdict::Ask), None),
            (
                0,
                r#"{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "c"}}"#,
                "",
                deny,
                Some("c"),
            ),
            (0, r#"{"decision": "block", "reason": "old"}"#, "", deny, Some("old")),
            (0, r#"{"continue": false, "stopReason": "stop"}"#, "", deny, Some("stop")),
            (2, "", "not here", deny, Some("not here")),
            (1, r#"{"permissionDecision": "allow"}"#, "", deny, Some("it ended with exit status 1")),
            (127, "", "bash: no: command not found", deny, Some("bash: no: command not found")),
        ] {
            let answer = parse_before_answer("h", &ran(code, output, error)).unwrap();
            assert_eq!((answer.decision, answer.why.as_deref()), (decision, why), "{output}");
        }
        for output in ["{\"permissionDecision\": \"maybe\"}", "{not json"] {
            assert!(
                matches!(parse_before_answer("h", &ran(0, output, "")), Err(HookError::NoAnswer { .. })),
                "{output}"
            );
        }
        let changed = parse_before_answer("h", &ran(0, r#"{"modifiedArgs": {"a": 1}}"#, "")).unwrap();
        assert_eq!(changed.arguments, Some(json!({"a": 1})));
        let changed = r#"{"hookSpecificOutput": {"updatedInput": {"a": 2}}}"#;
        assert_eq!(parse_before_answer("h", &ran(0, changed, "")).unwrap().arguments, Some(json!({"a": 2})));
    }

    #[test]
    fn post_tool_use_hook_output_gives_context_and_result() {
        let answer = parse_after_answer(
            "h",
            &ran(0, r#"{"additionalContext": "look", "modifiedResult": {"x": 1}}"#, ""),
        );
        let answer = answer.unwrap();
        assert_eq!((answer.context.as_deref(), answer.result), (Some("look"), Some(json!({"x": 1}))));
        let blocked =
            parse_after_answer("h", &ran(0, r#"{"decision": "block", "reason": "run the tests"}"#, ""))
                .unwrap();
        assert_eq!(blocked.context.as_deref(), Some("run the tests"));
        assert!(matches!(parse_after_answer("h", &ran(2, "", "")), Err(HookError::Failed { .. })));
    }
}
