//! A session of a model with tools: what it says, what it calls, and what comes back.

use serde_json::Value;

use super::escape;
use super::look::{BAD, BOLD, DIM, GOOD, Look, WARN};

/// So many lines of a result are shown.
const MOST_LINES: usize = 40;
/// And so many characters of its arguments.
const MOST_ARGUMENTS: usize = 2_000;

/// The model's own words in an event, for stdout; an agent's are told by [`lines`].
pub fn words(event: &Value) -> String {
    match (kind(event), event.get("agentId")) {
        ("assistant.message", None) => match text(&event["data"], "content") {
            "" => String::new(),
            words => format!("{}\n", escape::block(words).trim_end()),
        },
        _ => String::new(),
    }
}

/// What an event tells beside them, for stderr.
pub fn lines(event: &Value, look: &Look) -> Vec<String> {
    let data = &event["data"];
    let of_agent = if event.get("agentId").is_some() { "  " } else { "" };
    let mut lines = match kind(event) {
        "assistant.message" if !of_agent.is_empty() => block(text(data, "content"), look),
        "tool.execution_start" => vec![called(data, look)],
        "tool.execution_complete" => result(data, look),
        "subagent.started" => {
            vec![format!("{} {}", look.paint(BOLD, "agent"), escape::line(text(data, "agentName")))]
        }
        "subagent.failed" => {
            vec![format!("{} {}", look.paint(BAD, "agent failed:"), escape::line(text(data, "error")))]
        }
        "session.warning" => {
            vec![format!("{} {}", look.paint(WARN, "warning:"), escape::line(text(data, "message")))]
        }
        _ => Vec::new(),
    };
    lines.iter_mut().for_each(|line| line.insert_str(0, of_agent));
    lines
}

fn called(data: &Value, look: &Look) -> String {
    let arguments = data.get("arguments").map(Value::to_string).unwrap_or_default();
    let shown: String = arguments.chars().take(MOST_ARGUMENTS).collect();
    let more = if shown.len() < arguments.len() { " …" } else { "" };
    format!(
        "{} {} {}{more}",
        look.paint(GOOD, "→"),
        look.paint(BOLD, &escape::line(text(data, "toolName"))),
        escape::line(&shown)
    )
}

fn result(data: &Value, look: &Look) -> Vec<String> {
    let said = match data.get("success") {
        Some(Value::Bool(false)) => &data["error"]["message"],
        _ => &data["result"]["content"],
    };
    block(said.as_str().unwrap_or_default(), look)
}

fn block(words: &str, look: &Look) -> Vec<String> {
    let words = escape::block(words.trim_end());
    let all: Vec<&str> = words.lines().collect();
    let mut lines: Vec<String> =
        all.iter().take(MOST_LINES).map(|line| look.paint(DIM, &format!("    {line}"))).collect();
    if all.len() > MOST_LINES {
        lines.push(look.paint(DIM, &format!("    … {} more lines", all.len() - MOST_LINES)));
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
    fn what_is_said_called_and_answered() {
        let said = json!({"type": "assistant.message", "data": {"content": "Look:\u{1b}[2K\nthere"}});
        assert_eq!(words(&said), "Look:\\u{1b}[2K\nthere\n");
        assert!(lines(&said, &Look::PLAIN).is_empty());
        let of_agent = json!({"type": "assistant.message", "agentId": "a", "data": {"content": "x"}});
        assert_eq!(
            (words(&of_agent).as_str(), lines(&of_agent, &Look::PLAIN)),
            ("", vec!["      x".to_owned()])
        );
        let call =
            json!({"type": "tool.execution_start", "data": {"toolName": "read", "arguments": {"path": "a"}}});
        assert_eq!(lines(&call, &Look::PLAIN), ["→ read {\"path\":\"a\"}"]);
        let failed = json!({"type": "tool.execution_complete", "data": {"success": false, "error": {"message": "no\n"}}});
        assert_eq!(lines(&failed, &Look::PLAIN), ["    no"]);
        let long = json!({"type": "tool.execution_complete", "data": {"success": true, "result": {"content": "x\n".repeat(60)}}});
        assert_eq!(lines(&long, &Look::PLAIN)[40], "    … 20 more lines");
        assert!(lines(&json!({"type": "other"}), &Look::PLAIN).is_empty());
    }
}
