//! A mounted server's questions for a person: forwarded to the person at our own client only.

use serde_json::{Value, json};

use super::house::{heard, json_of, mounting};
use crate::support::Project;
use crate::support::mcp::Mcp;

/// A project that mounts a server which asks for a name; `mode` selects the revision of the
/// protocol.
fn asking(mode: &str) -> Project {
    mounting(mode, "\n[permissions]\nallow = [\"m/*\"]")
}

fn said(result: &Value) -> &Value {
    &result["structuredContent"]["text"]
}

fn call() -> Value {
    json!({"name": "m.say", "arguments": {}})
}

fn answer() -> Value {
    json!({"action": "accept", "content": {"name": "Ada"}})
}

#[test]
fn legacy_client_answers_elicitation_of_mounted_server() {
    for mode in ["asks-name", "modern-asks-name"] {
        let project = asking(mode);
        let mut client = Mcp::legacy(&project, None, json!({"elicitation": {}}));
        for (given, expected) in [
            (answer(), "hello Ada"),
            (json!({"action": "decline"}), "declined"),
            (json!({"action": "cancel"}), "cancelled"),
        ] {
            let id = client.request("tools/call", call());
            let question = client.find("the question", |message| message["method"] == "elicitation/create");
            let message = question["params"]["message"].as_str().expect("a message");
            assert!(
                message.starts_with("The MCP server `m`") && message.ends_with("Who are you?"),
                "{message}"
            );
            let fields = &question["params"]["requestedSchema"]["properties"];
            assert_eq!(fields["name"]["type"], "string", "{question}");
            client.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": given}));
            let result = client.answer(id)["result"].clone();
            assert_eq!(said(&result), expected, "{mode}: {result}");
        }
    }
}

#[test]
fn modern_client_retries_call_with_elicitation_answer() {
    let project = asking("modern-asks-name");
    let mut client = Mcp::modern(&project, None, json!({"elicitation": {"form": {}}}));
    let question = client.result("tools/call", call());
    assert_eq!(question["resultType"], "input_required", "{question}");
    let form = &question["inputRequests"]["input"];
    assert!(form["params"]["message"].as_str().is_some_and(|text| text.ends_with("Who are you?")), "{form}");
    let mut again = call();
    again["requestState"] = question["requestState"].clone();
    again["inputResponses"] = json!({"input": answer()});
    let result = client.result("tools/call", again.clone());
    assert_eq!(said(&result), "hello Ada", "{result}");
    again["arguments"] = json!({"other": 1});
    assert_eq!(client.error("tools/call", again), -32602, "the answer is to one call");
    // The server gets its own state back, and the answer under its own name.
    let retried = heard(&project).into_iter().find(|said| said["params"]["inputResponses"].is_object());
    let params = retried.expect("a retry")["params"].clone();
    assert_eq!((&params["requestState"], &params["inputResponses"]["who"]), (&json!("theirs"), &answer()));
}

#[test]
fn elicitation_unsupported_by_client_is_declined() {
    let legacy = asking("asks-name");
    let mut clients = [
        Mcp::legacy(&legacy, None, json!({})),
        // It would have to repeat the call, and the server has begun its work.
        Mcp::modern(&legacy, None, json!({"elicitation": {"form": {}}})),
    ];
    for client in &mut clients {
        let result = client.result("tools/call", call());
        assert_eq!(said(&result), "declined", "{result}");
    }
    assert_eq!(json_of(&legacy, &["mcp", "call", "m/say"]).0["text"], "declined");
    let modern = asking("modern-asks-name");
    let (result, _) = json_of(&modern, &["mcp", "call", "m/say"]);
    assert_eq!(result["code"], "unsupported", "{result}");
    assert!(result["error"].as_str().is_some_and(|why| why.contains("cannot ask a user")), "{result}");
}

#[test]
fn client_traceparent_is_forwarded_to_mounted_server() {
    let project = asking("meta");
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let trace = json!({"traceparent": parent, "tracestate": "a=1", "baggage": "user=7"});
    for mut client in [Mcp::legacy(&project, None, json!({})), Mcp::modern(&project, None, json!({}))] {
        let mut traced = call();
        traced["_meta"] = trace.clone();
        let result = client.result("tools/call", traced);
        let meta: Value = serde_json::from_str(said(&result).as_str().expect("a text")).expect("JSON");
        for key in ["traceparent", "tracestate", "baggage"] {
            assert_eq!(meta[key], trace[key], "{key}: {meta}");
        }
        let result = client.result("tools/call", call());
        assert!(!said(&result).to_string().contains("traceparent"), "{result}");
    }
}
