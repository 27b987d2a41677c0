//! Unsolicited notifications to clients, also directly after a subscription.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::Project;
use crate::support::mcp::Mcp;

fn scripted() -> Project {
    Project::scripted(&json!({}), "", [("a.scr", "def one\n")])
}

const URI: &str = "lsp-tools://diagnostics/a.scr";

fn findings(client: &mut Mcp) -> Value {
    let read = client.result("resources/read", json!({"uri": URI}));
    let text = read["contents"][0]["text"].as_str().expect("a text").to_owned();
    serde_json::from_str::<Value>(&text).expect("JSON")["count"].clone()
}

fn updated(message: &Value) -> bool {
    message["method"] == "notifications/resources/updated" && message["params"]["uri"] == URI
}

#[test]
#[ignore = "slow: just slow"]
fn resource_subscribers_are_notified_of_new_diagnostics() {
    let project = scripted();
    let mut client = Mcp::legacy(&project, None, json!({}));
    assert_eq!(findings(&mut client), 0);
    client.result("resources/subscribe", json!({"uri": URI}));
    project.write("a.scr", "def one\nWRONG\n");
    client.find("the update", updated);
    assert_eq!(findings(&mut client), 1);
    client.result("resources/unsubscribe", json!({"uri": URI}));
    project.write("a.scr", "def one\n");
    assert_eq!(client.find_within(Duration::from_secs(3), updated), None, "no update after unsubscribing");
    assert_eq!(client.error("resources/subscribe", json!({"uri": "lsp-tools://none"})), -32602);
    assert_eq!(client.error("resources/subscribe", json!({"uri": "file:///etc/passwd"})), -32602);
}

#[test]
#[ignore = "slow: just slow"]
fn file_changed_right_after_acknowledgement_is_notified() {
    let project = scripted();
    let mut client = Mcp::modern(&project, None, json!({}));
    assert_eq!(findings(&mut client), 0);
    for round in 0..5 {
        let wrong = round % 2 == 0;
        let filter = json!({"notifications": {"resourceSubscriptions": [URI], "promptsListChanged": false}});
        let id = client.request("subscriptions/listen", filter);
        let acknowledged = client.find("the acknowledgement", |message| {
            message["method"] == "notifications/subscriptions/acknowledged"
        });
        let honoured = &acknowledged["params"]["notifications"]["resourceSubscriptions"];
        assert_eq!(honoured, &json!([URI]), "{acknowledged}");
        project.write("a.scr", if wrong { "def one\nWRONG\n" } else { "def one\n" });
        let update = client.find("the update", updated);
        assert_eq!(
            update["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
            json!(id),
            "{update}"
        );
        assert_eq!(findings(&mut client), i32::from(wrong), "round {round}");
        client.notify("notifications/cancelled", json!({"requestId": id}));
    }
}

fn drop_in(project: &Project, name: &str, says: &str) {
    let folder = project.beside("config").join("tools");
    fs::create_dir_all(&folder).expect("a folder");
    let manifest = json!({
        "name": name, "description": "Says its name.", "effect": "read",
        "schema": {"type": "object", "properties": {}}, "command": ["echo", says],
    });
    fs::write(folder.join(format!("{name}.json")), manifest.to_string()).expect("a manifest");
}

fn has(client: &mut Mcp, name: &str) -> bool {
    let list = client.result("tools/list", json!({}));
    list["tools"].as_array().is_some_and(|tools| tools.iter().any(|tool| tool["name"] == name))
}

#[test]
fn drop_in_tool_added_is_notified_to_legacy_and_modern_clients() {
    let project = Project::new([("a.txt", "x\n")]);
    fs::write(project.beside("config").join("lsp-tools.toml"), "[permissions]\nprofile = 'all'\n")
        .expect("settings");
    let changed = |message: &Value| message["method"] == "notifications/tools/list_changed";
    let mut legacy = Mcp::legacy(&project, None, json!({}));
    let mut modern = Mcp::modern(&project, None, json!({}));
    assert!(!has(&mut legacy, "says") && !has(&mut modern, "says"));
    modern.request("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
    modern.find("the acknowledgement", |message| {
        message["method"] == "notifications/subscriptions/acknowledged"
    });
    drop_in(&project, "says", "says");
    legacy.find("the change", changed);
    modern.find("the change", changed);
    assert!(has(&mut legacy, "says") && has(&mut modern, "says"));
}

#[test]
fn tool_result_with_unknown_tool_code_is_not_an_error() {
    let project = Project::new([("a.txt", "x\n")]);
    drop_in(&project, "says", r#"{"code": "unknown_tool"}"#);
    let mut client = Mcp::legacy(&project, None, json!({}));
    let result = client.call("says", json!({}));
    assert_eq!(result["structuredContent"], json!({"ok": true, "code": "unknown_tool"}), "{result}");
    assert_eq!(client.error("tools/call", json!({"name": "sez", "arguments": {}})), -32602);
}
