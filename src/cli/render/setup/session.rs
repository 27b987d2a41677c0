//! The transcript of a model's session with tools: its text, its calls, and their results.

use std::collections::HashMap;

use serde_json::Value;

use crate::cli::render::terminal::display::{BAD, BOLD, DIM, DisplayCapabilities, GOOD, WARN};
use crate::cli::render::terminal::escape;

/// The number of lines shown of a result.
const MAX_TOOL_RESULT_LINES: usize = 40;
/// The length limit of a call's arguments, in characters.
const MAX_TOOL_ARGUMENTS_CHARS: usize = 2_000;

/// The renderer of a session, which relates results to their calls.
#[derive(Debug, Default)]
pub(crate) struct CopilotSessionRenderer {
    /// The tools of running calls.
    calls: HashMap<String, String>,
}

/// Returns the model's own text in an event, for stdout. An agent's text is rendered by
/// [`CopilotSessionRenderer::lines`].
pub(crate) fn model_text(event: &Value) -> String {
    match (kind(event), event.get("agentId")) {
        ("assistant.message", None) => match text(&event["data"], "content") {
            "" => String::new(),
            words => format!("{}\n", escape::block(words).trim_end()),
        },
        _ => String::new(),
    }
}

impl CopilotSessionRenderer {
    /// Renders the other content of an event for stderr.
    pub(crate) fn lines(&mut self, event: &Value, display: &DisplayCapabilities) -> Vec<String> {
        let data = &event["data"];
        let of_agent = event.get("agentId").is_some();
        let named = |style, what: &str, key: &str| {
            vec![format!("{} {}", display.paint(style, what), escape::line(text(data, key)))]
        };
        let mut lines = match kind(event) {
            "assistant.message" if of_agent => block(text(data, "content"), display),
            "tool.execution_start" => {
                self.calls.insert(text(data, "toolCallId").to_owned(), text(data, "toolName").to_owned());
                vec![tool_call_line(data, display)]
            }
            "tool.execution_complete" => {
                let tool = self.calls.remove(text(data, "toolCallId")).unwrap_or_default();
                tool_result_lines(&tool, data, display)
            }
            "subagent.started" => named(BOLD, "agent", "agentName"),
            "subagent.failed" => named(BAD, "agent failed:", "error"),
            "session.warning" => named(WARN, "warning:", "message"),
            _ => Vec::new(),
        };
        if of_agent {
            lines.iter_mut().for_each(|line| line.insert_str(0, "  "));
        }
        lines
    }
}

fn tool_call_line(data: &Value, display: &DisplayCapabilities) -> String {
    let arguments = data.get("arguments").map(Value::to_string).unwrap_or_default();
    let shown: String = arguments.chars().take(MAX_TOOL_ARGUMENTS_CHARS).collect();
    let more = if shown.len() < arguments.len() { " …" } else { "" };
    format!(
        "{} {} {}{more}",
        display.paint(GOOD, "→"),
        display.paint(BOLD, &escape::line(text(data, "toolName"))),
        escape::line(&shown)
    )
}

fn tool_result_lines(tool: &str, data: &Value, display: &DisplayCapabilities) -> Vec<String> {
    let failed = data.get("success") == Some(&Value::Bool(false));
    let content = if failed { &data["error"]["message"] } else { &data["result"]["content"] };
    let how = if failed { display.paint(BAD, "failed") } else { String::new() };
    let head = format!("{} {} {how}", display.paint(DIM, "←"), escape::line(tool));
    let mut lines = vec![head.trim_end().to_owned()];
    lines.extend(block(content.as_str().unwrap_or_default(), display));
    lines
}

fn block(words: &str, display: &DisplayCapabilities) -> Vec<String> {
    let words = escape::block(words.trim_end());
    let all: Vec<&str> = words.lines().collect();
    let mut lines: Vec<String> = all
        .iter()
        .take(MAX_TOOL_RESULT_LINES)
        .map(|line| display.paint(DIM, &format!("    {line}")))
        .collect();
    if all.len() > MAX_TOOL_RESULT_LINES {
        lines.push(display.paint(DIM, &format!("    … {} more lines", all.len() - MAX_TOOL_RESULT_LINES)));
    }
    lines
}

fn kind(event: &Value) -> &str {
    text(event, "type")
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn copilot_session_events_are_rendered_as_messages_and_calls() {
        let said = json!({"type": "assistant.message", "data": {"content": "Look:\u{1b}[2K\nthere"}});
        assert_eq!(model_text(&said), "Look:\\u{1b}[2K\nthere\n");
        let mut session = CopilotSessionRenderer::default();
        let mut lines = |event: &Value| session.lines(event, &DisplayCapabilities::PLAIN);
        assert!(lines(&said).is_empty());
        let of_agent = json!({"type": "assistant.message", "agentId": "a", "data": {"content": "x"}});
        assert_eq!((model_text(&of_agent).as_str(), lines(&of_agent)), ("", vec!["      x".to_owned()]));
        let call = |id: &str, tool: &str| json!({"type": "tool.execution_start", "data": {"toolCallId": id, "toolName": tool, "arguments": {"path": "a"}}});
        assert_eq!(lines(&call("1", "read")), ["→ read {\"path\":\"a\"}"]);
        lines(&call("2", "list"));
        let failed = json!({"type": "tool.execution_complete", "data": {"toolCallId": "1", "success": false, "error": {"message": "no\n"}}});
        assert_eq!(lines(&failed), ["← read failed", "    no"]);
        let long = json!({
            "type": "tool.execution_complete",
            "data": {"toolCallId": "2", "success": true, "result": {"content": "x\n".repeat(60)}},
        });
        let long = lines(&long);
        assert_eq!((long[0].as_str(), long[41].as_str()), ("← list", "    … 20 more lines"));
        assert!(lines(&json!({"type": "other"})).is_empty());
    }
}
