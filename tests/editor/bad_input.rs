//! Editors that break the protocol, and editors that disconnect.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Client, able, open};
use crate::support::Project;

fn project(scenario: &Value) -> Project {
    Project::scripted(scenario, "", [("a.scr", "def foo\n")])
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_messages_are_answered_and_next_ones_work() {
    let project = project(&json!({}));
    let (mut client, _) = Client::start(open(&project), able()).await;
    for garbage in [
        "Content-Length: 9\r\n\r\n{\"broken\"",
        "Content-Length: 2\r\n\r\n[]",
        "Content-Length: 4\r\n\r\nnull",
    ] {
        client.bytes(garbage.as_bytes()).await;
        client.find("an error", |message| message["id"].is_null() && message["error"]["code"].is_i64()).await;
    }
    for params in [json!(null), json!(7), json!({"textDocument": {"uri": 7}}), json!({"textDocument": []})] {
        client.tell("textDocument/didOpen", params.clone()).await;
        client.tell("textDocument/didChange", params.clone()).await;
        client.tell("textDocument/didClose", params.clone()).await;
        assert_eq!(client.ask("textDocument/hover", params).await, Value::Null);
    }
    // A change of a document that is not open, and one far outside its text.
    client.change("a.scr", 9, "never opened\n").await;
    client.open("a.scr", 1, "def foo\n").await;
    let far = json!({"line": 99, "character": 99});
    let change = json!({"range": {"start": far, "end": far}, "text": "WRONG\n"});
    let document = json!({"uri": client.uri("a.scr"), "version": 2});
    for bad in [json!({"text": 7}), json!(8), json!({"range": {"start": far}, "text": "gone"})] {
        let params = json!({"textDocument": document, "contentChanges": [change, bad]});
        client.tell("textDocument/didChange", params).await;
    }
    client.find("a complaint", |message| message["method"] == "window/showMessage").await;
    let params = json!({"textDocument": document, "contentChanges": [change]});
    client.tell("textDocument/didChange", params).await;
    assert_eq!(client.diagnostics("a.scr", 2).await.len(), 1);
    // Positions outside the text are left to the server, which is sent the request.
    client.ask("textDocument/hover", client.at("a.scr", 4_000_000_000, 4_000_000_000)).await;
    client.close().await;
    assert_eq!(project.log().violations(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn lifecycle_violations_are_refused_with_lsp_errors() {
    let project = project(&json!({}));
    let mut client = Client::connect(open(&project));
    let id = client.put("textDocument/hover", json!({})).await;
    assert_eq!(client.answer(id).await["error"]["code"], -32002);
    client.ask("initialize", json!({"capabilities": {}})).await;
    let id = client.put("initialize", json!({"capabilities": {}})).await;
    assert_eq!(client.answer(id).await["error"]["code"], -32600);
    client.ask("shutdown", Value::Null).await;
    let id = client.put("textDocument/hover", json!({})).await;
    assert_eq!(client.answer(id).await["error"]["code"], -32600);
    client.tell("exit", Value::Null).await;
    client.vanish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelled_or_disconnected_editor_request_is_cancelled_at_server() {
    let project = project(&json!({"answers": {"textDocument/hover": {"never": true}}}));
    let runtime = open(&project);
    let (mut client, _) = Client::start(runtime.clone(), able()).await;
    client.open("a.scr", 1, "def foo\n").await;
    client.diagnostics("a.scr", 1).await;
    let log = project.log();
    let wait = |what: &str, method: &str, count: usize| {
        log.wait_for(what, Duration::from_secs(60), |log| (log.count(method) >= count).then_some(()));
    };
    // The request after an answered one is dropped a moment later, so the server is ended only
    // after that.
    let cancelled = |count: usize| {
        log.wait_for("hovers cancelled", Duration::from_secs(60), |log| {
            let ids: Vec<Value> =
                log.params("$/cancelRequest").into_iter().map(|params| params["id"].clone()).collect();
            let messages = log.messages();
            let hovers = messages.iter().filter(|message| message["method"] == "textDocument/hover");
            (hovers.filter(|hover| ids.contains(&hover["id"])).count() >= count).then_some(())
        });
    };
    let id = client.put("textDocument/hover", client.at("a.scr", 0, 4)).await;
    wait("a hover", "textDocument/hover", 1);
    client.tell("$/cancelRequest", json!({"id": id})).await;
    assert_eq!(client.answer(id).await["error"]["code"], -32800);
    cancelled(1);
    client.put("textDocument/hover", client.at("a.scr", 0, 4)).await;
    wait("another hover", "textDocument/hover", 2);
    let begun = Instant::now();
    client.vanish_alone().await;
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    // The server reads on after the front end has closed.
    cancelled(2);
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn editor_that_never_reads_is_blocked_and_ended_with_door() {
    let project = project(&json!({}));
    let mut client = Client::connect(open(&project));
    client.deafen();
    client.put("initialize", json!({"capabilities": {}})).await;
    let text = "def foo\n".repeat(2_000);
    client.open("a.scr", 1, &text).await;
    // Sends requests until the front end stops reading.
    let mut sent = 0;
    while tokio::time::timeout(
        Duration::from_secs(3),
        client.put("textDocument/hover", client.at("a.scr", 0, 4)),
    )
    .await
    .is_ok()
    {
        sent += 1;
        assert!(sent < 20_000, "the front end never stops reading");
    }
    client.ended.cancel();
    client.vanish().await;
}
