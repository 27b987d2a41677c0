//! The registration of the tools, for agents and in the log; over MCP, with the real program.

use std::fs;

use lsp_tools::Caller;
use serde_json::{Value, json};

use super::store::{CHAT_TOOLS, GET, GET_FIRST, MOMENT, Stores};
use crate::support::mcp::Mcp;

fn description(stores: &Stores, name: &str) -> String {
    let runtime = stores.open();
    let listed = runtime.definitions(&Caller::default());
    let definition = listed.iter().find(|definition| definition.card.name == name);
    definition.expect("it is listed").card.description.to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn tool_description_includes_use_cases() {
    let stores = Stores::new();
    for name in [GET, GET_FIRST] {
        let description = description(&stores, name);
        for part in [
            "Use this tool when:\n- ",
            "Parameters:\n- ",
            "Returns JSON:\n- {\"success\": true",
            "\"success\": false",
        ] {
            assert!(description.contains(part), "{name}: {part}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tool_description_includes_example_usage() {
    let stores = Stores::new();
    for (name, without, with) in [
        (GET, "{\"index\": 2}", "{\"index\": 3, \"sessionId\": \"abc-123\"}"),
        (GET_FIRST, ": {}", "{\"sessionId\": \"abc-123\"}"),
    ] {
        let description = description(&stores, name);
        let examples = description.split("Example usage scenarios").nth(1).expect("the section");
        assert!(examples.contains(without) && examples.contains(with), "{name}: {examples}");
    }
}

#[test]
fn tool_name_format() {
    for name in [GET, GET_FIRST] {
        let action = name.strip_prefix("copilot_chat_secretary_").expect("the prefix");
        assert!(
            action.chars().all(|character| character.is_ascii_lowercase() || character == '_'),
            "{action}"
        );
        assert!(CHAT_TOOLS.contains(&name));
    }
}

fn logs(stores: &Stores) -> String {
    let mut all = String::new();
    let mut folders = vec![stores.project.beside("state")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path => all.push_str(&String::from_utf8_lossy(&fs::read(path).unwrap_or_default())),
            }
        }
    }
    all
}

fn listed(mcp: &mut Mcp) -> Vec<Value> {
    let (mut tools, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let params = if cursor.is_null() { json!({}) } else { json!({"cursor": cursor}) };
        let page = mcp.result("tools/list", params);
        tools.extend(page["tools"].as_array().cloned().unwrap_or_default());
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            return tools;
        }
    }
}

#[test]
fn tool_registered_successfully() {
    let stores = Stores::new();
    let mut mcp = Mcp::legacy(&stores.project, None, json!({}));
    listed(&mut mcp);
    mcp.close();
    let log = logs(&stores);
    for name in CHAT_TOOLS {
        assert!(log.contains(&format!("MCP tool registered: {name}")), "{name}");
    }
}

#[test]
fn registration_logged() {
    let stores = Stores::new();
    let mut mcp = Mcp::legacy(&stores.project, None, json!({}));
    listed(&mut mcp);
    listed(&mut mcp);
    mcp.close();
    let line = format!("MCP tool registered: {GET}\n");
    assert_eq!(logs(&stores).matches(&line).count(), 1, "once, however often tools are listed");
}

#[test]
fn tool_available_to_ai_agents() {
    let stores = Stores::new();
    stores.session("abc-123", MOMENT, &["What is a rope?"]);
    let mut mcp = Mcp::legacy(&stores.project, None, json!({}));
    let tools = listed(&mut mcp);
    let tool = tools.iter().find(|tool| tool["name"] == GET).expect("it is there");
    assert_eq!(tool["inputSchema"]["required"], json!(["index"]));
    let result = mcp.call(GET, json!({"index": 1}));
    let text = result["content"][0]["text"].as_str().expect("a text part");
    let told: Value = serde_json::from_str(text).expect("JSON");
    assert_eq!((&told["success"], &told["request"]), (&json!(true), &json!("What is a rope?")));
    let failed = mcp.call(GET, json!({}));
    assert_eq!(failed["isError"], true);
    let text = failed["content"][0]["text"].as_str().expect("a text part");
    assert_eq!(text, r#"{"success":false,"error":"Index parameter is required"}"#);
    mcp.close();
}

#[test]
fn invocation_logged_optional_for_debugging() {
    let stores = Stores::new();
    stores.session("abc-123", MOMENT, &["a private matter"]);
    let settings = stores.project.beside("config").join("lsp-tools.toml");
    let text = fs::read_to_string(&settings).expect("settings");
    fs::write(&settings, format!("{text}\n[log]\nlevel = \"debug\"\n")).expect("settings");
    let mut mcp = Mcp::legacy(&stores.project, None, json!({}));
    mcp.call(GET, json!({"index": 1}));
    mcp.close();
    let log = logs(&stores);
    assert!(log.contains(&format!("MCP tool invoked: {GET}")), "{log}");
    assert!(!log.contains("a private matter"), "the log has no chat text");
}
