//! JSON-RPC batches: accepted in sessions of MCP 2025-03-26, on pipes and over HTTP, and refused in
//! all others.

use serde_json::{Value, json};

use super::http::{Server, TOKEN};
use crate::support::Project;
use crate::support::mcp::{LEGACY, Mcp};

/// The only revision with batches.
const BATCHING: &str = "2025-03-26";

fn project() -> Project {
    let slow = json!({"answers": {"textDocument/hover": {"delay_ms": 300, "result": null}}});
    Project::scripted(&slow, "", [("a.scr", "def one\none\n"), ("a.txt", "x\n")])
}

fn initialize(version: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": "greeting", "method": "initialize", "params": {
        "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
    }})
}

fn client(project: &Project, version: &str) -> Mcp {
    let mut client = Mcp::start(project, None, &[]);
    client.send(&initialize(version));
    let answer = client.find("the greeting", |message| message["id"] == "greeting");
    assert_eq!(answer["result"]["protocolVersion"], version, "{answer}");
    client.notify("notifications/initialized", json!({}));
    client
}

fn call(id: &str, name: &str, arguments: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": arguments}})
}

/// Three requests, one of them slow, a notification, and an invalid message.
fn batch() -> Value {
    json!([
        call("hover", "lsp_hover", json!({"path": "a.scr", "line": 1, "symbol": "one"})),
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "nothing"}},
        call("read", "read", json!({"path": "a.txt"})),
        {"jsonrpc": "2.0", "id": "ping", "method": "ping"},
        {"id": "broken", "method": 5},
        initialize(BATCHING),
        7,
    ])
}

/// The ids of the responses, and which of them are errors.
fn outcomes(answers: &[Value]) -> Vec<(Value, bool)> {
    let mut outcomes: Vec<(Value, bool)> = answers
        .iter()
        .map(|answer| (answer.get("id").cloned().unwrap_or_default(), answer.get("error").is_some()))
        .collect();
    outcomes.sort_by_key(|(id, _)| id.to_string());
    outcomes
}

fn expected() -> Vec<(Value, bool)> {
    let ids = [("broken", true), ("greeting", true), ("hover", false), ("ping", false), ("read", false)];
    ids.into_iter().map(|(id, failed)| (json!(id), failed)).chain([(Value::Null, true)]).collect()
}

#[test]
fn batch_of_its_revision_is_answered_by_one_batch() {
    let project = project();
    let mut client = client(&project, BATCHING);
    client.send(&batch());
    let answers = client.find("the answers", Value::is_array);
    assert_eq!(outcomes(answers.as_array().expect("a list")), expected(), "{answers}");
    // A batch without requests has no answer, and an empty one is invalid.
    client.send(&json!([{"jsonrpc": "2.0", "method": "notifications/initialized"}]));
    client.send(&json!([]));
    let refused = client.find("an answer", |_| true);
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
    // A cancelled request has no answer, and the rest of its batch does not wait for one.
    let slow = call("slow", "bash_output", json!({"id": "none"}));
    client.send(&json!([slow, call("late", "read", json!({"path": "a.txt"}))]));
    let answers = client.find("the answers", Value::is_array);
    assert_eq!(answers.as_array().map(Vec::len), Some(2), "{answers}");
    assert_eq!(client.call("read", json!({"path": "a.txt"}))["isError"], false);
}

#[test]
fn batch_with_a_cancelled_request_is_answered_without_it() {
    let never = json!({"answers": {"textDocument/hover": {"delay_ms": 60_000, "result": null}}});
    let project = Project::scripted(&never, "", [("a.scr", "def one\none\n")]);
    let mut client = client(&project, BATCHING);
    let hover = call("hover", "lsp_hover", json!({"path": "a.scr", "line": 1, "symbol": "one"}));
    client.send(&json!([hover, {"jsonrpc": "2.0", "id": "ping", "method": "ping"}]));
    client.notify("notifications/cancelled", json!({"requestId": "hover"}));
    let answers = client.find("the answers", Value::is_array);
    assert_eq!(outcomes(answers.as_array().expect("a list")), [(json!("ping"), false)], "{answers}");
}

#[test]
fn batch_of_another_revision_is_refused() {
    let project = project();
    for version in ["2024-11-05", "2025-06-18", LEGACY] {
        let mut client = client(&project, version);
        client.send(&batch());
        let refused = client.find("an answer", |_| true);
        assert_eq!(
            (&refused["error"]["code"], refused.get("id").cloned().unwrap_or_default()),
            (&json!(-32600), Value::Null),
            "{version}: {refused}"
        );
    }
}

/// All messages of an event stream.
fn events(text: &str) -> Vec<Value> {
    let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
    data.filter_map(|data| serde_json::from_str(data.trim()).ok()).collect()
}

fn session(server: &Server, version: &str) -> String {
    let (status, text) = server.post(&[], &initialize(version).to_string());
    assert_eq!(status, 200, "{text}");
    text.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).expect("a session").to_owned()
}

#[test]
fn batch_over_http_is_answered_by_one_stream() {
    let project = project();
    let server = Server::known(&project);
    let session_id = session(&server, BATCHING);
    let headers = [("Mcp-Session-Id", session_id.as_str())];
    let greeted = json!([{"jsonrpc": "2.0", "method": "notifications/initialized"}]).to_string();
    assert_eq!(server.post(&headers, &greeted).0, 202, "a batch without requests");
    let (status, text) = server.post(&headers, &batch().to_string());
    assert_eq!((status, outcomes(&events(&text))), (200, expected()), "{text}");
    assert_eq!(server.post(&headers, "[]").0, 400);
    let other = session(&server, LEGACY);
    let (status, text) = server.post(&[("Mcp-Session-Id", other.as_str())], &batch().to_string());
    assert!((400..500).contains(&status), "{text}");
}

#[test]
fn http_session_ended_by_its_client_is_gone_at_once() {
    let project = project();
    let server = Server::known(&project);
    let session_id = session(&server, LEGACY);
    let delete = format!(
        "DELETE /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {TOKEN}\r\nMcp-Session-Id: {session_id}\r\n\
         MCP-Protocol-Version: {LEGACY}\r\nConnection: close\r\n\r\n",
        server.port
    );
    let (status, text) = server.raw(delete.as_bytes());
    assert_eq!(status, 204, "{text}");
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    assert_eq!(server.post(&[("Mcp-Session-Id", session_id.as_str())], &ping).0, 404);
}
