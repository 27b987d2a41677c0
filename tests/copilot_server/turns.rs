//! Turns: their events, failures and cancellation.

use std::time::Duration;

use lsp_tools::internals::bridges::{CallState, CopilotError, CopilotEvent, TurnRequest};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::stage::{Client, LONG, copilot, plays, project, results};
use crate::support::{ServerLog, count_processes, wait_until};

const ALLOWED: &str = "[permissions]\nallow = [\"bash\"]\n";

#[test]
fn turn_reply_goes_to_stdout_and_progress_to_stderr() {
    let calls = json!([{"id": "s1", "name": "read_file", "status": "running"}]);
    let failed = json!([{"id": "s1", "name": "read_file", "status": "error", "error": "no such file"}]);
    let steps = json!([
        {"reply": "I look"},
        {"progress": {"kind": "report", "editAgentRounds": [{"roundId": 1, "reply": " at it.\n", "toolCalls": calls}]}},
        {"progress": {"kind": "report", "editAgentRounds": [{"roundId": 1, "toolCalls": failed}]}},
        {"progress": {"kind": "report", "steps": [{"id": "x", "title": "Think", "status": "completed"}]}},
        {"invoke": {"name": "read", "input": {"path": "a.txt"}}},
        {"reply": "Done \u{1b}[2Jnow"},
    ]);
    let project = project(&plays(steps), "", [("a.txt", "one")]);
    let ran = copilot(&project, &["agent", "go"]);
    assert_eq!((ran.status, ran.out.as_str()), (0, "I look at it.\nDone \\u{1b}[2Jnow\n"), "{}", ran.err);
    let lines: Vec<&str> = ran.err.lines().collect();
    assert_eq!(
        lines,
        [
            "the Copilot language server is being started",
            "→ read_file",
            "✗ read_file: no such file",
            "Think: completed",
            "→ read",
            "✓ read",
        ]
    );
    let asked = &project.log().params("conversation/create")[0];
    assert_eq!(asked["turns"], json!([{"request": "go"}]));
    assert_eq!(asked["capabilities"], json!({"skills": [], "allSkills": false}));
    assert_eq!((&asked["chatMode"], &asked["modelInfo"]["id"]), (&json!("Agent"), &json!("usual")));
}

#[test]
fn turn_failure_is_reported_with_its_cause() {
    let cases = [
        (
            json!([{"reply": "half"}, {"error": {"message": "the quota is used up", "code": 402}}]),
            "the quota is used up",
        ),
        (
            json!([{"fail": {"code": -32603, "message": "Request conversation/create failed with message: odd"}}]),
            "message: odd",
        ),
        (
            json!([{"fail": {"code": 1000, "message": "Not authenticated: TokenExpired"}}]),
            "not signed in to GitHub Copilot",
        ),
    ];
    for (steps, said) in cases {
        let project = project(&plays(steps), "", []);
        let ran = copilot(&project, &["agent", "go"]);
        assert_eq!(ran.status, 4, "{said}: {}", ran.err);
        assert!(ran.err.contains(said), "{said}: {}", ran.err);
    }
    let project = project(&plays(json!([])), "", []);
    let ran = copilot(&project, &["agent", "--model", "none-such", "go"]);
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("`none-such` is not among usual"), "{}", ran.err);
    let empty = copilot(&project, &["agent", " "]);
    assert_eq!(empty.status, 2, "{}", empty.err);
}

/// Runs a turn, stops it once one of its calls is running, and returns the outcome.
async fn stopped(client: &mut Client, limit: Option<Duration>) -> Result<Value, CopilotError> {
    let stop = CancellationToken::new();
    let mut request = TurnRequest::new("go");
    if let Some(limit) = limit {
        request.limit = limit;
    }
    let turn = client.copilot.run_turn(&request, &stop);
    tokio::pin!(turn);
    loop {
        tokio::select! {
            Some(event) = client.events.recv() => {
                if limit.is_none() && matches!(event, CopilotEvent::Call { state: CallState::Running, .. }) {
                    stop.cancel();
                }
            }
            outcome = &mut turn => return outcome.map(|outcome| json!(outcome)),
            () = tokio::time::sleep(LONG) => panic!("the turn does not end"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn turn_cancelled_ends_its_calls_on_both_sides() {
    let steps =
        json!([{"start": {"name": "bash", "input": {"command": "sleep 62.31"}}}, {"wait_cancel": true}]);
    let project = project(&plays(steps), ALLOWED, []);
    let mut client = Client::new(&project, |_| {}).await;
    let outcome = stopped(&mut client, None).await.expect("an outcome");
    assert_eq!(outcome["cancelled"], true);
    let answered = |log: &ServerLog| {
        let messages = log.messages();
        let mut answers = messages.iter().filter(|message| message["result"][0]["status"] == "cancelled");
        answers.next().map(|_| ())
    };
    project.log().wait_for("the call is answered as cancelled", LONG, answered);
    wait_until("the command has ended", LONG, || count_processes("62.31") == 0);
    assert_eq!(project.log().count("window/workDoneProgress/cancel"), 1);
    client.close().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn turn_past_limit_with_deaf_server_ends_in_time() {
    let deaf = json!([{"invoke": {"name": "bash", "input": {"command": "sleep 63.17"}}}, {"wait_file": "/nonexistent"}]);
    let project = project(&plays(deaf), ALLOWED, []);
    let mut client = Client::new(&project, |_| {}).await;
    let error = stopped(&mut client, Some(Duration::from_secs(2))).await.expect_err("no outcome");
    assert!(matches!(error, CopilotError::Timeout { .. }), "{error}");
    let (status, text) = loop {
        if let Some(result) = results(&project).pop() {
            break result;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(status, "cancelled");
    assert!(text.contains("its turn has ended") || text.contains("cancelled"), "{text}");
    wait_until("the command has ended", LONG, || count_processes("63.17") == 0);
    client.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tool_call_outliving_its_turn_is_ended_and_next_turn_works() {
    let steps =
        json!([{"start": {"name": "bash", "input": {"command": "sleep 64.19"}}}, {"wait_file": "begun"}]);
    let mut scenario = plays(steps);
    scenario["turns"].as_array_mut().unwrap().push(json!([{"reply": "second"}]));
    let project = project(&scenario, ALLOWED, []);
    scenario["turns"][0][1]["wait_file"] = json!(project.path("begun"));
    project.set_scenario(&scenario);
    let mut client = Client::new(&project, |_| {}).await;
    let first = async {
        let stop = CancellationToken::new();
        client.copilot.run_turn(&TurnRequest::new("go"), &stop).await
    };
    let begun = async {
        while !matches!(
            client.events.recv().await,
            Some(CopilotEvent::Call { state: CallState::Running, .. })
        ) {}
        let stop = CancellationToken::new();
        let second = client.copilot.run_turn(&TurnRequest::new("go"), &stop).await;
        assert!(matches!(second, Err(CopilotError::Busy)), "{second:?}");
        project.write("begun", "");
    };
    let (first, ()) = tokio::join!(first, begun);
    first.expect("a turn");
    wait_until("the command has ended", LONG, || count_processes("64.19") == 0);
    assert_eq!(client.turn().await.expect("a turn").reply, "second");
    client.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tool_call_for_finished_turn_is_refused_in_next_turn() {
    let write = json!({"name": "write", "input": {"path": "late.txt", "content": "x"}, "turnId": "t1"});
    let mut scenario = plays(json!([]));
    scenario["turns"].as_array_mut().unwrap().push(json!([{"invoke": write}]));
    let project = project(&scenario, "", []);
    let client = Client::new(&project, |_| {}).await;
    client.turn().await.expect("a turn");
    client.turn().await.expect("a turn");
    let (status, text) = results(&project).remove(0);
    assert_eq!(status, "error");
    assert!(text.contains("the call's turn has ended"), "{text}");
    assert!(!project.path("late.txt").exists());
    client.close().await;
}
