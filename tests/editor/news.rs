//! Unsolicited messages of servers: to people, and about changed findings; and the server that
//! receives an editor's answer.

use serde_json::{Value, json};

use super::client::{Client, able, open};
use crate::support::{Project, fingerprint};

/// A server that pushes a checker's findings besides its responses.
const CHECKED: &str = "diagnostics = { source = \"pull\", background-check = { name = \"the checker\", start = \"scripted/check\", \
                       progress-token = \"checker/\" } }";

#[tokio::test(flavor = "multi_thread")]
async fn server_messages_and_questions_reach_the_editor() {
    let message = |kind: u8, text: &str| json!({"type": kind, "message": text});
    let mut question = message(3, "restart?");
    question["actions"] = json!([{"title": "Yes"}, {"title": "No"}]);
    let scenario = json!({"rules": [
        {"at": "textDocument/didOpen", "do": {"notify": {"method": "window/showMessage", "params": message(1, "broken")}}},
        {"at": "textDocument/didOpen", "do": {"notify": {"method": "window/logMessage", "params": message(4, "detail")}}},
        {"at": "textDocument/didOpen", "do": {"request": {"method": "window/showMessageRequest", "params": question, "id": "ask-1"}}},
    ]});
    let project = Project::scripted(&scenario, "", [("a.scr", "def foo\n")]);
    let (mut client, _) = Client::start(open(&project), able()).await;
    client.choose("Yes");
    client.open("a.scr", 1, "def foo\n").await;
    for (method, kind, text) in [
        ("window/showMessage", 1, "broken"),
        ("window/logMessage", 4, "detail"),
        ("window/showMessageRequest", 3, "restart?"),
    ] {
        let told = client
            .find(text, |told| {
                told["method"] == method
                    && told["params"]["message"].as_str().is_some_and(|message| message.ends_with(text))
            })
            .await;
        assert_eq!(told["params"]["message"], format!("scripted: {text}"));
        assert_eq!(told["params"]["type"], kind);
    }
    let chosen = project.log().wait_for("the answer", super::client::SOON, |log| log.answer(&json!("ask-1")));
    assert_eq!(chosen["result"], json!({"title": "Yes"}));
    client.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn server_question_without_editor_is_answered_null_at_once() {
    let ask = json!({"request": {"method": "window/showMessageRequest", "params": {"type": 3, "message": "?"}, "id": "ask-1"}});
    let scenario = json!({"rules": [{"at": "textDocument/didOpen", "do": ask}]});
    let project = Project::scripted(&scenario, "", [("a.scr", "def foo\n")]);
    let runtime = open(&project);
    let target = lsp_tools::Target::File("a.scr".into());
    runtime.symbols(target, 10).await.expect("symbols");
    let chosen = project.log().wait_for("the answer", super::client::SOON, |log| log.answer(&json!("ask-1")));
    assert_eq!(chosen["result"], Value::Null);
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn late_server_diagnostics_are_published_again() {
    let found = |text: &str| {
        let at = |character: u32| json!({"line": 0, "character": character});
        json!({"range": {"start": at(0), "end": at(3)}, "severity": 1, "message": text})
    };
    let push = json!({"notify": {
        "method": "textDocument/publishDiagnostics",
        "params": {"uri": "${uri}", "version": 1, "diagnostics": [found("late")]},
    }});
    for (mode, table) in [("push_versioned", ""), ("pull", CHECKED)] {
        let project = Project::scripted(&json!({}), table, [("a.scr", "def foo WRONG\n")]);
        let uri = format!("file://{}/a.scr", project.root().display());
        let push: Value = serde_json::from_str(&push.to_string().replace("${uri}", &uri)).expect("JSON");
        let rule = json!({"at": "scripted/late", "do": push});
        project.set_scenario(&json!({"diagnostics": {"mode": mode}, "rules": [rule]}));
        let (mut client, _) = Client::start(open(&project), able()).await;
        client.open("a.scr", 1, "def foo WRONG\n").await;
        let first = client.diagnostics("a.scr", 1).await;
        assert_eq!(first.len(), 1, "{mode}: {first:?}");
        client.tell("scripted/late", json!({"textDocument": {"uri": uri}})).await;
        let late = client
            .find(mode, |message| {
                message["method"] == "textDocument/publishDiagnostics"
                    && message["params"]["diagnostics"].to_string().contains("late")
            })
            .await;
        let count = late["params"]["diagnostics"].as_array().map(Vec::len);
        assert_eq!(count, Some(if mode == "pull" { 2 } else { 1 }), "{mode}: {late}");
        client.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn editor_notification_skips_server_private_to_other_editor() {
    let project = Project::scripted(&json!({"hover_version": false}), "", [("a.scr", "def disk\n")]);
    let (mut left, _) = Client::start(open(&project), able()).await;
    let (mut right, _) = Client::start(left.runtime.clone(), able()).await;
    let (mut other, _) = Client::start(left.runtime.clone(), able()).await;
    for (client, name) in [(&mut left, "left"), (&mut right, "right")] {
        client.open("a.scr", 1, &format!("def {name}\n")).await;
    }
    let asks = async |client: &mut Client, name: &str| {
        let hover = client.ask("textDocument/hover", client.at("a.scr", 0, 4)).await;
        assert!(hover.to_string().contains(&fingerprint(&format!("def {name}\n"))), "{hover}");
    };
    for _ in 0..5_000 {
        tokio::join!(asks(&mut left, "left"), asks(&mut right, "right"));
        if project.log().starts() == 2 {
            break;
        }
    }
    project.log().wait_for("the second server", super::client::SOON, |log| {
        (log.count("initialized") == 2).then_some(())
    });
    other.tell("scripted/note", json!({"from": "other"})).await;
    // The server that both share has received the preceding message.
    other.ask("workspace/symbol", json!({"query": "disk"})).await;
    assert_eq!(project.log().params("scripted/note"), [json!({"from": "other"})]);
    right.vanish_alone().await;
    other.vanish_alone().await;
    left.close().await;
}
