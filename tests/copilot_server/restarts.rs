//! A server that ends: it is restarted and reported, and no turn with side effects is repeated.

use lsp_tools::internals::bridges::{CopilotError, CopilotEvent};
use serde_json::json;

use super::stage::{Client, copilot, plays, project};

#[tokio::test(flavor = "multi_thread")]
async fn server_crash_before_turn_output_is_restarted_and_turn_retried() {
    let mut scenario =
        plays(json!([{"invoke": {"name": "read", "input": {"path": "a.txt"}}}, {"reply": "done"}]));
    scenario["crash"] = json!({"at": "create", "times": 2});
    let project = project(&scenario, "", [("a.txt", "one")]);
    let mut client = Client::new(&project, |_| {}).await;
    client.copilot.open_document("a.txt".as_ref()).await.expect("a document");
    let outcome = client.turn().await.expect("a turn");
    assert_eq!(outcome.reply, "done");
    let told = client.told();
    let ended: Vec<&str> = told
        .iter()
        .filter_map(|event| match event {
            CopilotEvent::Ended { detail, .. } => Some(detail.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(ended, ["exit status 3; its last output: scripted-copilot: told to end here"; 2]);
    let again = told.iter().filter(|event| matches!(event, CopilotEvent::Restarted { tools: 30 }));
    assert_eq!(again.count(), 2, "{told:?}");
    let log = project.log();
    assert_eq!(log.starts(), 3);
    // Each server received the tools, and the open documents.
    assert_eq!(log.count("conversation/registerTools"), 6);
    assert_eq!(log.count("textDocument/didOpen"), 3);
    client.close().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn server_that_always_crashes_is_given_up() {
    let mut scenario = plays(json!([]));
    scenario["crash"] = json!({"at": "create", "times": 99});
    let project = project(&scenario, "", []);
    let client = Client::new(&project, |_| {}).await;
    let error = client.turn().await.expect_err("no turn");
    assert!(matches!(&error, CopilotError::Ended { detail } if detail.contains("exit status 3")), "{error}");
    assert_eq!(project.log().starts(), 3);
    for _ in 0..3 {
        client.turn().await.expect_err("no turn");
    }
    let error = client.turn().await.expect_err("no turn").to_string();
    assert!(error.contains("it ended 5 times within 180 s; next attempt in"), "{error}");
    assert_eq!(project.log().starts(), 5);
    client.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn client_end_during_restart_pause_does_not_wait() {
    let mut scenario = plays(json!([]));
    scenario["crash"] = json!({"at": "create", "times": 99});
    let project = project(&scenario, "", []);
    let mut client = Client::new(&project, |_| {}).await;
    client.turn().await.expect_err("no turn");
    let starts = project.log().starts();
    client.told();
    let paused = async {
        // The server has ended, and the next one is started after a pause.
        while !matches!(client.events.recv().await, Some(CopilotEvent::Ended { .. })) {}
        client.copilot.end().await;
    };
    let (restarted, ()) = tokio::join!(client.copilot.registration(), paused);
    let error = restarted.expect_err("no server").to_string();
    assert!(error.contains("its client was ended"), "{error}");
    assert_eq!(project.log().starts(), starts);
    client.runtime.shutdown().await;
}

#[test]
fn server_crash_after_tool_call_turn_is_not_retried_but_undoable() {
    let steps =
        json!([{"invoke": {"name": "write", "input": {"path": "a.txt", "content": "new"}}}, {"exit": 7}]);
    let project = project(&plays(steps), "", [("a.txt", "old")]);
    let ran = copilot(&project, &["agent", "go"]);
    assert_eq!(ran.status, 4);
    assert!(ran.err.contains("ended: exit status 7; its last output"), "{}", ran.err);
    assert_eq!(project.log().count("conversation/create"), 1);
    let (_, undo) = ran.err.split_once("lsp-tools copilot undo ").expect("the way back");
    assert_eq!(project.read("a.txt"), "new");
    assert_eq!(copilot(&project, &["undo", undo.trim()]).status, 0);
    assert_eq!(project.read("a.txt"), "old");
}

#[test]
fn server_failing_to_start_error_names_exit_and_last_words() {
    let project = project(&json!({"crash": {"at": "initialize", "times": 99}}), "", []);
    let ran = copilot(&project, &["status"]);
    assert_eq!(ran.status, 4);
    assert!(
        ran.err.contains("cannot be started: exit status 3; its last output: scripted-copilot"),
        "{}",
        ran.err
    );
}
