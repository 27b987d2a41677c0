//! The decision on a call: our rules first, then the approver, and never twice.

use std::sync::Arc;

use lsp_tools::Approval;
use serde_json::{Value, json};

use super::stage::{Answers, Client, answers, plays, project, results};

const CONFIRM: &str = "conversation/invokeClientToolConfirmation";

fn said(project: &crate::support::Project) -> Vec<String> {
    answers(project, CONFIRM)
        .iter()
        .map(|answer| {
            assert_eq!(answer["result"][1], Value::Null, "{answer}");
            answer["result"][0]["result"].as_str().expect("a word").to_owned()
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn confirmed_command_runs_without_second_question_refused_does_not() {
    let bash = json!({"name": "bash", "input": {"command": "echo ran >> ran"}, "toolCallId": "x"});
    let other = json!({"name": "bash", "input": {"command": "echo other >> ran"}, "toolCallId": "x"});
    let steps = json!([{"confirm": bash}, {"invoke": bash}, {"invoke": other}]);
    for (answer, said_by_us, ran) in
        [(Approval::Once, "accept", "ran\nother\n"), (Approval::Refused { why: None }, "dismiss", "")]
    {
        let project = project(&plays(steps.clone()), "", [("ran", "")]);
        let approver = Answers::with(answer.clone());
        let client = Client::new(&project, |options| options.approver = Arc::new(approver.clone())).await;
        client.turn().await.expect("a turn");
        assert_eq!(said(&project), [said_by_us]);
        assert_eq!(project.read("ran"), ran);
        // For the confirmation, and for the call that was not confirmed.
        assert_eq!(approver.tools(), ["bash", "bash"]);
        client.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn approval_for_session_is_not_asked_again() {
    let bash = |id: &str| json!({"name": "bash", "input": {"command": "true"}, "toolCallId": id});
    let steps =
        json!([{"confirm": bash("1")}, {"invoke": bash("1")}, {"confirm": bash("2")}, {"invoke": bash("2")}]);
    let project = project(&plays(steps), "", []);
    let approver = Answers::with(Approval::ForSession);
    let client = Client::new(&project, |options| options.approver = Arc::new(approver.clone())).await;
    client.turn().await.expect("a turn");
    assert_eq!(said(&project), ["accept", "accept"]);
    assert_eq!(approver.tools(), ["bash"]);
    client.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn server_tool_confirmation_follows_rules_then_approver() {
    let file = |path: &str| {
        json!({"confirm": {"name": "copilot.read_file", "title": "Read", "message": "May I?",
        "input": {"filePath": path, "toolType": "file_read"}, "annotations": {}, "toolMetadata": {}}})
    };
    let terminal = |command: &str| {
        json!({"confirm": {"name": "run_in_terminal",
        "input": {"command": command, "toolType": "terminal"}}})
    };
    let web = |input: Value| {
        let mut input = input;
        input["toolType"] = json!("web");
        json!({"confirm": {"name": "copilot.fetch_webpage", "input": input}})
    };
    let steps = json!([
        file("a.txt"),
        file("denied.txt"),
        file("allowed.txt"),
        file("/etc/passwd"),
        terminal("rm -rf /"),
        terminal("cargo check"),
        {"confirm": {"name": "internal.tool_calling_loop_continue_confirmation"}},
        {"confirm": {"name": "their-server/tool", "input": {"toolType": "mcp_tool", "mcpServerName": "s"}}},
        web(json!({"urls": ["https://docs.example/a", "https://other.example/"]})),
        web(json!({"urls": ["https://docs.example/a", "https://evil.example/"]})),
        web(json!({"urls": ["https://docs.example/a", "https://docs.example/b"]})),
        web(json!({"url": "https://evil.example/"})),
        {"confirm": 5},
        {"confirm": {"name": "read", "input": {"path": "a.txt"}}},
        {"confirm": {"name": "copilot-editor.read", "input": {"path": "denied.txt"}}},
    ]);
    let settings = "[permissions]\nallow = [\"read(allowed.txt)\", \"bash(cargo check)\", \"effect:network(docs.example)\"]\n\
                    deny = [\"read(denied.txt)\", \"bash(rm *)\", \"effect:network(evil.example)\"]\n";
    let files = [("a.txt", "a"), ("denied.txt", "d"), ("allowed.txt", "a")];
    for (answer, somebody) in [(Approval::Once, "accept"), (Approval::Nobody, "dismiss")] {
        let project = project(&plays(steps.clone()), settings, files);
        let approver = Answers::with(answer);
        let client = Client::new(&project, |options| options.approver = Arc::new(approver.clone())).await;
        client.turn().await.expect("a turn");
        assert_eq!(
            said(&project),
            [
                somebody, "dismiss", "accept", "dismiss", "dismiss", "accept", somebody, somebody, somebody,
                "dismiss", "accept", "dismiss", "dismiss", "accept", "dismiss"
            ]
        );
        let asked = approver.asked.lock().expect("a lock").clone();
        assert_eq!((asked[0].why.as_str(), &asked[0].paths[0][..]), ("May I?", "a.txt"));
        assert_eq!(asked[3].urls, ["https://docs.example/a", "https://other.example/"]);
        assert_eq!(asked.len(), 4);
        client.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn approval_unavailable_call_is_denied_with_allow_hint() {
    let steps = json!([{"invoke": {"name": "bash", "input": {"command": "true"}}}]);
    let project = project(&plays(steps), "", []);
    let client = Client::new(&project, |_| {}).await;
    client.turn().await.expect("a turn");
    let (status, text) = results(&project).remove(0);
    assert_eq!(status, "error");
    assert!(text.contains("denied") && text.contains("allow = [\"bash(true)\"]"), "{text}");
    client.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn project_allow_rule_ends_when_trust_is_revoked() {
    let steps = json!([{"invoke": {"name": "bash", "input": {"command": "true"}}}]);
    let scenario = json!({"user": "somebody", "turns": [steps, steps]});
    let project =
        project(&scenario, "", [(".lsp-tools/lsp-tools.toml", "[permissions]\nallow = ['bash']\n")]);
    project.trust(None);
    let client = Client::new(&project, |_| {}).await;
    client.turn().await.expect("a turn");
    let revoked = project.command(None).args(["trust", "--revoke"]).output().expect("lsp-tools");
    assert!(revoked.status.success(), "{revoked:?}");
    client.turn().await.expect("a turn");
    let statuses: Vec<String> = results(&project).into_iter().map(|(status, _)| status).collect();
    assert_eq!(statuses, ["success", "error"]);
    client.close().await;
}
