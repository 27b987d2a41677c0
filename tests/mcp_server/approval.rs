//! Calls that need approval, requested through the client.

use serde_json::{Value, json};

use crate::support::Project;
use crate::support::mcp::Mcp;

const RUN: &str = "echo ran > ran.txt";

fn project() -> Project {
    Project::new([("a.txt", "x\n")])
}

fn bash() -> Value {
    json!({"name": "bash", "arguments": {"command": RUN}})
}

#[test]
fn approval_without_elicitation_call_is_denied() {
    let project = project();
    for mut client in [Mcp::legacy(&project, None, json!({})), Mcp::modern(&project, None, json!({}))] {
        let result = client.result("tools/call", bash());
        assert_eq!(
            (&result["isError"], &result["structuredContent"]["code"]),
            (&json!(true), &json!("denied")),
            "{result}"
        );
        assert!(
            result["structuredContent"]["hint"].as_str().is_some_and(|hint| hint.contains("permissions")),
            "{result}"
        );
    }
    assert!(!project.path("ran.txt").exists());
}

#[test]
#[ignore = "slow: just slow"]
fn legacy_client_elicitation_decides_waiting_call() {
    let project = project();
    let mut client = Mcp::legacy(&project, None, json!({"elicitation": {}}));
    let answers = [
        (json!({"action": "decline"}), false),
        (json!({"action": "cancel"}), false),
        (json!({"action": "accept", "content": {}}), false),
        (json!({"action": "accept", "content": {"decision": "no"}}), false),
        (json!({"action": "accept", "content": {"decision": "session"}}), true),
    ];
    for (said, runs) in answers {
        let id = client.request("tools/call", bash());
        let question = client.find("the question", |message| message["method"] == "elicitation/create");
        let text = question["params"]["message"].as_str().expect("a message");
        assert!(text.contains(&format!("run: {RUN}")), "{text}");
        client.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": said}));
        let result = client.answer(id)["result"].clone();
        assert_eq!(result["isError"] == false, runs, "{said}: {result}");
        assert_eq!(project.path("ran.txt").exists(), runs, "{said}");
    }
    let result = client.result("tools/call", bash());
    assert_eq!(result["isError"], false, "it was agreed to for the session: {result}");
}

fn modern(project: &Project) -> Mcp {
    Mcp::modern(project, None, json!({"elicitation": {"form": {}}}))
}

/// Calls, and returns the state that the client has to send back.
fn asked(client: &mut Mcp, call: &Value) -> Value {
    let result = client.result("tools/call", call.clone());
    assert_eq!(result["resultType"], "input_required", "{result}");
    result
}

fn again(call: &Value, state: &Value, answer: Value) -> Value {
    let mut call = call.clone();
    call["requestState"] = state.clone();
    call["inputResponses"] = json!({"approval": answer});
    call
}

fn yes() -> Value {
    json!({"action": "accept", "content": {"decision": "once"}})
}

#[test]
fn modern_client_input_required_call_is_retried_with_answer() {
    let project = project();
    let mut client = modern(&project);
    let question = asked(&mut client, &bash());
    let form = &question["inputRequests"]["approval"];
    assert_eq!(form["method"], "elicitation/create");
    assert!(form["params"]["message"].as_str().is_some_and(|text| text.contains(RUN)), "{form}");
    assert!(!project.path("ran.txt").exists(), "nothing runs before the answer");
    let refused =
        client.result("tools/call", again(&bash(), &question["requestState"], json!({"action": "decline"})));
    assert_eq!(refused["structuredContent"]["code"], "denied", "{refused}");
    assert!(!project.path("ran.txt").exists());
    let done = client.result("tools/call", again(&bash(), &question["requestState"], yes()));
    assert_eq!(done["isError"], false, "{done}");
    assert!(project.path("ran.txt").exists());
    assert_eq!(asked(&mut client, &bash())["resultType"], "input_required", "a yes counts once");
}

#[test]
fn request_state_forged_or_for_other_call_is_refused() {
    let project = project();
    let mut client = modern(&project);
    let state = asked(&mut client, &bash())["requestState"].clone();
    let other = json!({"name": "bash", "arguments": {"command": "echo other > ran.txt"}});
    assert_eq!(client.error("tools/call", again(&other, &state, yes())), -32602, "another command");
    let mut forged = state.as_str().expect("a state").to_owned();
    let last = forged.pop().expect("a character");
    forged.push(if last == 'A' { 'B' } else { 'A' });
    assert_eq!(client.error("tools/call", again(&bash(), &json!(forged), yes())), -32602, "a changed one");
    assert_eq!(client.error("tools/call", again(&bash(), &json!("x"), yes())), -32602, "an invalid one");
    let mut stranger = modern(&project);
    assert_eq!(stranger.error("tools/call", again(&bash(), &state, yes())), -32602, "another server's");
    let mut bare = bash();
    bare["inputResponses"] = json!({"approval": yes()});
    assert_eq!(asked(&mut client, &bare)["resultType"], "input_required", "an answer without a question");
    assert!(!project.path("ran.txt").exists());
}

#[test]
fn row_38_approval_question_escapes_invisible_characters() {
    let project = project();
    let mut client = modern(&project);
    let call = json!({"name": "bash", "arguments": {"command": "echo a\u{202e}b\u{e0041}c"}});
    let question = asked(&mut client, &call);
    let text =
        question["inputRequests"]["approval"]["params"]["message"].as_str().expect("a message").to_owned();
    assert!(text.contains("echo a\\u{202e}b\\u{e0041}c"), "{text}");
}
