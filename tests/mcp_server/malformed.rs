//! Invalid messages: they are answered, and the conversation continues.

use serde_json::{Value, json};

use crate::support::Project;
use crate::support::mcp::Mcp;

/// The input, the code in the response, and its id.
fn cases() -> Vec<(&'static str, Vec<u8>, i64, Value)> {
    let deep = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":71,\"method\":\"tools/call\",\"params\":{{\"a\":{}{}}}}}",
        "[".repeat(500),
        "]".repeat(500)
    );
    let mut bad_bytes =
        b"{\"jsonrpc\":\"2.0\",\"id\":72,\"method\":\"tools/call\",\"params\":{\"name\":\"".to_vec();
    bad_bytes.extend_from_slice(b"\xff\xfe\"}}");
    let long = |last: &str| {
        let mut line = b"{\"method\":\"tools/call\",\"params\":{\"name\":\"".to_vec();
        line.resize((16 << 20) + 100, b'x');
        line.extend_from_slice(format!("\"}}{last}}}").as_bytes());
        line
    };
    let text = |text: &str| text.as_bytes().to_vec();
    vec![
        ("no JSON", text("this is no JSON"), -32700, Value::Null),
        ("half of it", text("{\"jsonrpc\":\"2.0\",\"id\":70,\"method\":\"ping\""), -32700, json!(70)),
        (
            "a lone surrogate",
            text(
                "{\"jsonrpc\":\"2.0\",\"id\":\"s\",\"method\":\"tools/call\",\"params\":{\"name\":\"\\ud800\"}}",
            ),
            -32700,
            json!("s"),
        ),
        ("bytes that are no UTF-8", bad_bytes, -32700, json!(72)),
        ("nested without measure", deep.into_bytes(), -32600, json!(71)),
        ("a batch", text("[{\"jsonrpc\":\"2.0\",\"id\":73,\"method\":\"ping\"}]"), -32600, Value::Null),
        ("a number", text("5"), -32600, Value::Null),
        ("no method", text("{\"jsonrpc\":\"2.0\",\"id\":74}"), -32600, json!(74)),
        (
            "a fraction for an id",
            text("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}"),
            -32600,
            Value::Null,
        ),
        ("another version", text("{\"jsonrpc\":\"1.0\",\"id\":75,\"method\":\"ping\"}"), -32600, json!(75)),
        ("17 MB, its id at the end", long(",\"jsonrpc\":\"2.0\",\"id\":76"), -32600, json!(76)),
        ("17 MB without an id", long(""), -32600, Value::Null),
        (
            "parameters that are none",
            text("{\"jsonrpc\":\"2.0\",\"id\":77,\"method\":\"tools/call\",\"params\":{}}"),
            -32602,
            json!(77),
        ),
        (
            "a method that nobody knows",
            text("{\"jsonrpc\":\"2.0\",\"id\":78,\"method\":\"a/b\",\"params\":{}}"),
            -32601,
            json!(78),
        ),
    ]
}

#[test]
fn row_40_unreadable_message_gets_one_error_and_next_call_works() {
    let project = Project::new([("a.txt", "x\n")]);
    let mut client = Mcp::legacy(&project, None, json!({}));
    for (what, bytes, code, id) in cases() {
        client.raw(&bytes);
        client.raw(b"\n");
        let answer = client.find(what, |message| message.get("error").is_some());
        assert_eq!(answer["error"]["code"], code, "{what}: {answer}");
        assert_eq!(answer.get("id").cloned().unwrap_or(Value::Null), id, "{what}: {answer}");
        assert_eq!(client.call("read", json!({"path": "a.txt"}))["isError"], false, "{what}");
    }
    let resident = resident(client.pid());
    assert!(resident < 150 << 20, "{resident} bytes are still held");
}

#[test]
fn row_40_messages_without_reply_expected_get_none() {
    let project = Project::new([("a.txt", "x\n")]);
    let mut client = Mcp::legacy(&project, None, json!({}));
    for line in [
        "",
        "   \t\r",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/nobody/knows\",\"params\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":99,\"error\":{\"code\":\"x\"}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":12345}}",
    ] {
        client.raw(line.as_bytes());
        client.raw(b"\n");
    }
    client.raw(b"\xEF\xBB\xBF{\"jsonrpc\":\"2.0\",\"id\":\"bom\",\"method\":\"ping\"}\r\n");
    let first = client.find("the first answer", |_| true);
    assert_eq!(first, json!({"jsonrpc": "2.0", "id": "bom", "result": {}}));
}

#[test]
fn row_40_junk_before_first_request_keeps_session_alive() {
    let project = Project::new([("a.txt", "x\n")]);
    let mut client = Mcp::start(&project, None, &[]);
    client.raw(b"hello?\n");
    client.notify("notifications/cancelled", json!({"requestId": 1}));
    client.notify("notifications/initialized", json!({}));
    client.send(&json!({"jsonrpc": "2.0", "id": 9, "result": {}}));
    assert_eq!(
        client.error("tools/list", json!({})),
        -32602,
        "without a handshake, every request states its version"
    );
    client.notify("notifications/initialized", json!({}));
    let initialize = json!({"protocolVersion": "1999-01-01", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let answer = client.result("initialize", initialize);
    assert_eq!(
        answer["protocolVersion"], "2025-11-25",
        "an unknown revision is answered with the last of its era"
    );
    assert!(client.result("tools/list", json!({}))["tools"].as_array().is_some_and(|tools| tools.len() > 10));
}

#[test]
fn row_40_duplicate_request_id_is_refused_and_first_is_answered() {
    let project = Project::scripted(
        &json!({"answers": {"textDocument/hover": {"delay_ms": 700, "result": null}}}),
        "",
        [("a.scr", "def one\n")],
    );
    let mut client = Mcp::legacy(&project, None, json!({}));
    let call = |name: &str, arguments: Value| json!({"jsonrpc": "2.0", "id": "twice", "method": "tools/call", "params": {"name": name, "arguments": arguments}});
    client.send(&call("lsp_hover", json!({"path": "a.scr", "line": 0, "symbol": "one"})));
    client.send(&call("read", json!({"path": "a.scr"})));
    let refused = client.find("the refusal", |message| message["id"] == "twice");
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
    let answered = client.find("the answer", |message| message["id"] == "twice");
    assert_eq!(answered["result"]["structuredContent"]["ok"], true, "{answered}");
}

fn resident(pid: u32) -> u64 {
    let statm = std::fs::read_to_string(format!("/proc/{pid}/statm")).expect("a process");
    let pages: u64 = statm.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("a number");
    pages * 4096
}
