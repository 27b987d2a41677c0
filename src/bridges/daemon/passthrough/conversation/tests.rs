//! Tests of MCP sessions that lose their daemon.

use super::*;

fn said(value: &Value) -> Vec<u8> {
    as_line(value).unwrap()
}

fn read(line: &[u8]) -> Value {
    serde_json::from_slice(line).unwrap()
}

fn request(id: i64, method: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method})
}

fn answer(id: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {}})
}

fn said_by_client(conversation: &mut PassthroughConversation, value: &Value) {
    assert_eq!(conversation.on_client_line(said(value)).map(|line| read(&line)), Some(value.clone()));
}

#[test]
fn lost_daemon_fails_tool_calls_and_replays_list_requests() {
    let mut conversation = PassthroughConversation::default();
    said_by_client(&mut conversation, &request(1, "tools/call"));
    said_by_client(&mut conversation, &request(2, "tools/list"));
    said_by_client(&mut conversation, &request(3, "something/new"));
    said_by_client(&mut conversation, &request(4, "resources/read"));
    conversation.on_daemon_line(said(&answer(&json!(4)))).unwrap();
    let loss = conversation.on_daemon_lost();
    let mut answers: Vec<Value> = loss.answers.iter().map(|line| read(line)).collect();
    answers.sort_by_key(|answer| answer["id"].as_i64());
    assert_eq!(answers.len(), 2);
    assert_eq!((answers[0]["id"].clone(), answers[0]["result"]["isError"].clone()), (json!(1), json!(true)));
    assert!(
        answers[0]["result"]["content"][0]["text"]
            .as_str()
            .unwrap()
            .contains("may or may not have taken effect")
    );
    assert_eq!((answers[1]["id"].clone(), answers[1]["error"]["code"].clone()), (json!(3), json!(-32603)));
    assert!(loss.waits);
    let again: Vec<Value> = conversation.replay().iter().map(|line| read(line)).collect();
    assert_eq!(again, [request(2, "tools/list")]);
    assert!(conversation.on_daemon_line(said(&answer(&json!(2)))).is_some());
    assert_eq!(conversation.on_daemon_lost(), DaemonLoss { answers: Vec::new(), waits: false });
}

#[test]
fn initialize_is_replayed_to_new_daemon_and_its_response_withheld() {
    let mut conversation = PassthroughConversation::default();
    let (initialize, initialized) =
        (request(0, "initialize"), json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let subscribe = |id: i64, uri: &str| json!({"jsonrpc": "2.0", "id": id, "method": "resources/subscribe", "params": {"uri": uri}});
    let unsubscribe =
        json!({"jsonrpc": "2.0", "id": 5, "method": "resources/unsubscribe", "params": {"uri": "lsp://b"}});
    for value in [&initialize, &initialized, &subscribe(1, "lsp://a"), &subscribe(2, "lsp://b"), &unsubscribe]
    {
        said_by_client(&mut conversation, value);
    }
    for id in [0, 1, 2, 5] {
        assert!(conversation.on_daemon_line(said(&answer(&json!(id)))).is_some(), "{id}");
    }
    assert_eq!(conversation.on_daemon_lost(), DaemonLoss { answers: Vec::new(), waits: true });
    let again: Vec<Value> = conversation.replay().iter().map(|line| read(line)).collect();
    assert_eq!(again, [initialize, initialized, subscribe(1, "lsp://a")]);
    for id in [0, 1] {
        assert_eq!(conversation.on_daemon_line(said(&answer(&json!(id)))), None, "{id}");
    }
}

#[test]
fn unanswered_initialize_is_replayed_first_and_answered_by_next_daemon() {
    let mut conversation = PassthroughConversation::default();
    said_by_client(&mut conversation, &request(7, "tools/list"));
    said_by_client(&mut conversation, &request(0, "initialize"));
    conversation.on_daemon_lost();
    let again: Vec<Value> = conversation.replay().iter().map(|line| read(line)).collect();
    assert_eq!(again, [request(0, "initialize"), request(7, "tools/list")]);
    assert!(conversation.on_daemon_line(said(&answer(&json!(0)))).is_some());
}

#[test]
fn response_to_a_former_daemon_is_dropped() {
    let mut conversation = PassthroughConversation::default();
    let asked = request(0, "elicitation/create");
    let shown = read(&conversation.on_daemon_line(said(&asked)).unwrap());
    assert_eq!(shown["id"], json!("0:0"));
    let back = conversation.on_client_line(said(&answer(&shown["id"]))).unwrap();
    assert_eq!(read(&back)["id"], json!(0));

    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 0}});
    let told = read(&conversation.on_daemon_line(said(&cancelled)).unwrap());
    assert_eq!(told["params"]["requestId"], json!("0:0"));

    conversation.on_daemon_lost();
    let other = read(&conversation.on_daemon_line(said(&asked)).unwrap());
    assert_eq!(other["id"], json!("1:0"));
    assert_eq!(conversation.on_client_line(said(&answer(&shown["id"]))), None);
    for made_up in [json!("x"), json!(0), json!("1:"), json!("9:0")] {
        assert_eq!(conversation.on_client_line(said(&answer(&made_up))), None, "{made_up}");
    }
    assert!(conversation.on_client_line(said(&answer(&other["id"]))).is_some());
}

#[test]
fn cancelled_tool_call_gets_no_response_after_daemon_loss() {
    let mut conversation = PassthroughConversation::default();
    said_by_client(&mut conversation, &request(1, "tools/call"));
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    said_by_client(&mut conversation, &cancelled);
    assert_eq!(conversation.on_daemon_lost(), DaemonLoss { answers: Vec::new(), waits: false });
}

#[test]
fn pending_requests_get_an_error_without_a_daemon() {
    let mut conversation = PassthroughConversation::default();
    said_by_client(&mut conversation, &request(1, "tools/list"));
    let answers = conversation.fail_all("no daemon can be had");
    assert_eq!(read(&answers[0])["error"]["message"], json!("no daemon can be had"));
    assert!(conversation.fail_all("again").is_empty());
}

#[test]
fn line_without_json_passes_through_unchanged() {
    let mut conversation = PassthroughConversation::default();
    for line in [&b"not json\n"[..], b"{\"id\": \xff}\n", b"[]\n", b"\n"] {
        assert_eq!(conversation.on_client_line(line.to_owned()).as_deref(), Some(line));
        assert_eq!(conversation.on_daemon_line(line.to_owned()).as_deref(), Some(line));
    }
}
