//! The one shape of tool results.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::answer_text::answer_text;
use crate::analysis::error::{ErrorCode, ToolError};

/// The outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ResultType {
    /// The call succeeded.
    Success,
    /// The call failed.
    Failure,
    /// A person refused approval.
    Rejected,
    /// The rules forbid the call.
    Denied,
    /// The call timed out.
    Timeout,
}

/// Binary data in a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BinaryContent {
    /// The data in base64.
    pub data: String,
    /// The MIME type, such as `image/png`.
    pub mime_type: String,
    /// The kind: `image`, `resource`, …
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The description for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The outcome.
    pub kind: ResultType,
    /// The answer: one object with `ok`.
    pub value: Value,
    /// The text for the model, if it differs from the answer; see [`ToolResult::model_text`].
    pub text: Option<String>,
    /// The error for the log, never for the model.
    pub error: Option<String>,
    /// The text for the transcript, never for the model.
    pub session_log: Option<String>,
    /// Figures for telemetry.
    pub telemetry: Map<String, Value>,
    /// The binary parts.
    pub binary: Vec<BinaryContent>,
    /// True for a failure that is an answer ([`ToolError::is_answer`]).
    pub is_answer: bool,
}

/// A result that specifies its own presentation. Its first field distinguishes it from an ordinary
/// answer.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExplicitResult {
    text_result_for_llm: String,
    result_type: Option<ResultType>,
    error: Option<String>,
    session_log: Option<String>,
    #[serde(default)]
    tool_telemetry: Map<String, Value>,
    #[serde(default)]
    binary_results_for_llm: Vec<BinaryContent>,
}

impl ToolResult {
    /// The text for the model: the one that the tool gave, else that of its answer.
    pub(crate) fn model_text(&self) -> String {
        self.text.clone().unwrap_or_else(|| answer_text(&self.value))
    }

    /// Converts a tool's return value:
    ///
    /// | returned | becomes |
    /// |---|---|
    /// | an object | that object, with `ok: true` unless it has an `ok` (`false` is a failure) |
    /// | an object with `"result": "error"` | a failure with its `message`; its other fields stay |
    /// | an object with `textResultForLlm` | that text, with the fields below |
    /// | a string | `{"ok": true, "text": …}`, with the string as the text for the model |
    /// | a list of `{"type": "text", "value": …}` | the same, with one text below the other |
    /// | nothing (`null`) | a failure: "Tool returned no result" |
    /// | anything else | `{"ok": true, "result": …}` |
    ///
    /// Beside `textResultForLlm`, the fields `resultType`, `error`, `sessionLog`, `toolTelemetry`
    /// and `binaryResultsForLlm` are read.
    pub fn from_value(value: Value) -> Self {
        match value {
            Value::Null => {
                let error = ToolError::new(ErrorCode::Internal, "Tool returned no result");
                Self::from_error(&error)
            }
            Value::String(text) => Self::from_plain_value(json!({"ok": true, "text": text}), Some(text)),
            Value::Object(map) if map.contains_key("textResultForLlm") => Self::from_explicit(map),
            Value::Object(map) if map.contains_key("ok") => Self::from_plain_value(Value::Object(map), None),
            Value::Object(map) if map.get("result").is_some_and(|result| result == "error") => {
                Self::from_reported_failure(map)
            }
            Value::Object(map) => {
                let mut whole = Map::new();
                whole.insert("ok".to_owned(), Value::Bool(true));
                whole.extend(map);
                Self::from_plain_value(Value::Object(whole), None)
            }
            other => match joined_texts(&other) {
                Some(text) => Self::from_value(Value::String(text)),
                None => Self::from_plain_value(json!({"ok": true, "result": other}), None),
            },
        }
    }

    /// A failure that the tool itself reports.
    fn from_reported_failure(mut map: Map<String, Value>) -> Self {
        map.remove("result");
        let message = match map.remove("message") {
            Some(Value::String(message)) if !message.trim().is_empty() => message,
            _ => "the tool failed without a reason".to_owned(),
        };
        let error = ToolError::new(ErrorCode::Internal, message);
        Self::from_error(&error.with_details(&map))
    }

    /// The result for a failed call.
    pub(crate) fn from_error(error: &ToolError) -> Self {
        let kind = match error.code {
            ErrorCode::Denied => ResultType::Denied,
            _ => ResultType::Failure,
        };
        let value = serde_json::to_value(error).unwrap_or_else(|_| json!({"ok": false}));
        Self { kind, is_answer: error.is_answer, ..Self::from_plain_value(value, None) }
    }

    /// Returns true if the call succeeded.
    pub fn ok(&self) -> bool {
        self.kind == ResultType::Success
    }

    /// The text for the model: the one made for it, else the answer as JSON.
    pub fn text_for_model(&self) -> String {
        self.text.clone().unwrap_or_else(|| self.value.to_string())
    }

    fn from_plain_value(value: Value, text: Option<String>) -> Self {
        let failed = value.get("ok") == Some(&Value::Bool(false));
        Self {
            kind: if failed { ResultType::Failure } else { ResultType::Success },
            value,
            text,
            error: None,
            session_log: None,
            telemetry: Map::new(),
            binary: Vec::new(),
            is_answer: false,
        }
    }

    fn from_explicit(map: Map<String, Value>) -> Self {
        let explicit: ExplicitResult = match serde_json::from_value(Value::Object(map)) {
            Ok(explicit) => explicit,
            Err(error) => {
                let what = format!("the tool's result object is invalid: {error}");
                return Self::from_error(&ToolError::new(ErrorCode::Internal, what));
            }
        };
        let kind = explicit.result_type.unwrap_or(ResultType::Success);
        let text = explicit.text_result_for_llm;
        let value = json!({"ok": kind == ResultType::Success, "text": text});
        Self {
            kind,
            value,
            text: Some(text),
            error: explicit.error,
            session_log: explicit.session_log,
            telemetry: explicit.tool_telemetry,
            binary: explicit.binary_results_for_llm,
            is_answer: false,
        }
    }
}

/// The joined texts of a list that contains only texts.
fn joined_texts(list: &Value) -> Option<String> {
    let parts = list.as_array().filter(|parts| !parts.is_empty())?;
    let text = |part: &Value| match part.get("type")?.as_str()? {
        "text" => part.get("value").or_else(|| part.get("text"))?.as_str().map(str::to_owned),
        _ => None,
    };
    Some(parts.iter().map(text).collect::<Option<Vec<String>>>()?.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_result_follows_the_reported_success_or_error() {
        let failed = ToolResult::from_value(json!({"result": "error", "message": "disk full", "free": 0}));
        assert_eq!(failed.kind, ResultType::Failure);
        assert_eq!(failed.value, json!({"ok": false, "code": "internal", "error": "disk full", "free": 0}));
        let mute = ToolResult::from_value(json!({"result": "error"}));
        assert_eq!(mute.value["error"], "the tool failed without a reason");
        let done = ToolResult::from_value(json!({"result": "success"}));
        assert_eq!((done.ok(), done.value), (true, json!({"ok": true, "result": "success"})));
        assert!(ToolResult::from_value(json!({"result": {"error": 1}})).ok(), "data of its own");
        let late = ToolResult::from_value(json!({"textResultForLlm": "too slow", "resultType": "timeout"}));
        assert_eq!((late.kind, late.value), (ResultType::Timeout, json!({"ok": false, "text": "too slow"})));
    }

    #[test]
    fn tool_result_of_text_parts_joins_the_texts() {
        let parts = json!([{"type": "text", "value": "one"}, {"type": "text", "value": "two"}]);
        let told = ToolResult::from_value(parts);
        assert_eq!(told.text_for_model(), "one\ntwo");
        assert_eq!(told.value, json!({"ok": true, "text": "one\ntwo"}));
        for other in
            [json!([]), json!([{"type": "text"}]), json!([{"type": "text", "value": "a"}, {"type": "image"}])]
        {
            assert_eq!(ToolResult::from_value(other.clone()).value, json!({"ok": true, "result": other}));
        }
    }

    #[test]
    fn tool_result_is_built_from_every_json_shape() {
        let object = ToolResult::from_value(json!({"path": "a"}));
        assert_eq!(object.text_for_model(), r#"{"ok":true,"path":"a"}"#);
        assert!(object.ok());
        let text = ToolResult::from_value(json!("done"));
        assert_eq!((text.text_for_model(), text.value["text"].clone()), ("done".to_owned(), json!("done")));
        let nothing = ToolResult::from_value(Value::Null);
        assert_eq!(nothing.kind, ResultType::Failure);
        assert_eq!(nothing.value["error"], "Tool returned no result");
        let list = ToolResult::from_value(json!([1, 2]));
        assert_eq!(list.value, json!({"ok": true, "result": [1, 2]}));
        let failed = ToolResult::from_value(json!({"ok": false, "exit_code": 124}));
        assert_eq!(failed.kind, ResultType::Failure);
    }

    #[test]
    fn tool_result_object_keeps_error_detail_out_of_model_text() {
        let result = ToolResult::from_value(json!({
            "textResultForLlm": "not to be had now",
            "resultType": "failure",
            "error": "connection to 10.0.0.5 failed",
            "sessionLog": "asked once",
            "toolTelemetry": {"tries": 3},
            "binaryResultsForLlm": [{"data": "AA==", "mimeType": "image/png", "type": "image"}],
        }));
        assert_eq!(result.kind, ResultType::Failure);
        assert_eq!(result.text_for_model(), "not to be had now");
        assert!(!result.value.to_string().contains("10.0.0.5"));
        assert_eq!(result.error.as_deref(), Some("connection to 10.0.0.5 failed"));
        assert_eq!(result.telemetry["tries"], 3);
        assert_eq!(result.binary[0].mime_type, "image/png");
        let odd = ToolResult::from_value(json!({"textResultForLlm": 5}));
        assert_eq!(odd.kind, ResultType::Failure);
    }

    #[test]
    fn tool_result_from_denied_error_has_kind_denied() {
        let denied = ToolResult::from_error(&ToolError::new(ErrorCode::Denied, "no"));
        assert_eq!(denied.kind, ResultType::Denied);
        assert_eq!(denied.value, json!({"ok": false, "code": "denied", "error": "no"}));
    }
}
