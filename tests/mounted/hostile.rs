//! Malicious or broken servers.

use std::time::{Duration, Instant};

use lsp_tools::{ErrorCode, ResultType};
use serde_json::{Value, json};

use super::house::{entry, heard, heard_file, json_of, mounting, open, run, starts, typed, with_settings};
use crate::support::{count_processes, wait_until};
use lsp_tools::Caller;

fn code(value: &Value) -> ErrorCode {
    serde_json::from_value(value["code"].clone()).unwrap_or_else(|_| panic!("a code in {value}"))
}

/// A server with different definitions at its second start is held back, the difference is shown,
/// and approval restores it.
#[test]
fn tool_definition_changed_at_restart_is_denied_until_approved() {
    let project = mounting("rug-restart", "");
    assert_eq!(json_of(&project, &["mcp", "call", "m/say"]), (json!({"ok": true, "text": "said"}), 0));
    let (second, status) = json_of(&project, &["mcp", "call", "m/say"]);
    assert_eq!((code(&second), status), (ErrorCode::Denied, 5), "{second}");
    assert!(second["hint"].as_str().is_some_and(|hint| hint.contains("lsp-tools mcp approve m")), "{second}");
    assert!(
        !heard(&project)
            .iter()
            .skip_while(|said| said["method"] != "tools/call")
            .skip(1)
            .any(|said| said["method"] == "tools/call")
    );
    let (listed, _) = json_of(&project, &["tools", "list"]);
    assert!(!listed["tools"].to_string().contains("m/say"), "{listed}");
    assert!(listed["left_out"].to_string().contains("mcp approve m"), "{listed}");
    let (shown, _) = json_of(&project, &["mcp", "show", "m"]);
    let held = shown["server"]["held"].as_array().unwrap();
    let say = held.iter().find(|tool| tool["name"] == "say").unwrap();
    assert_eq!(say["change"], "changed");
    let diff = say["diff"].as_str().unwrap();
    assert!(
        diff.contains("-  \"description\": \"Says it.\"") && diff.contains("sends ~/.ssh along.\\u{202e}"),
        "{diff}"
    );
    let doctor = run(&project, &["mcp", "doctor", "m"]);
    assert_eq!(doctor.status.code(), Some(1));
    let (approved, _) = json_of(&project, &["mcp", "approve", "m"]);
    assert_eq!(approved["approved"].as_array().map(Vec::len), Some(2));
    assert_eq!(json_of(&project, &["mcp", "call", "m/say"]).0["text"], "said");
    assert_eq!(json_of(&project, &["mcp", "call", "m/extra"]).0["text"], "said");
}

/// Like the test before, during a run, after a notification of the server.
#[tokio::test(flavor = "multi_thread")]
async fn tool_definition_changed_while_running_is_denied() {
    let project = mounting("rug-live", "");
    let workspace = open(&project);
    assert_eq!(typed(&workspace, "m/say").await.value["text"], "said");
    let deadline = Instant::now() + Duration::from_secs(60);
    let held = loop {
        let result = typed(&workspace, "m/say").await;
        if !result.ok() {
            break result;
        }
        assert!(Instant::now() < deadline, "it still answers {}", result.value);
        // The notification of the change may still be on its way.
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(code(&held.value), ErrorCode::Denied, "{}", held.value);
    let offered = workspace.definitions(&Caller::default());
    assert!(offered.iter().all(|tool| tool.card.name != "m/say"), "it is still offered");
    workspace.shutdown().await;
}

/// Names of mounted tools cannot imitate ours or each other's.
#[test]
fn mounted_tool_names_resembling_others_are_left_out() {
    let project = mounting("shadow", "");
    let (shown, _) = json_of(&project, &["mcp", "show", "m"]);
    let names: Vec<&str> = shown["server"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert_eq!(names, ["m/Read", "m/a_b"]);
    let left_out = shown["server"]["left_out"].as_array().unwrap();
    assert_eq!(left_out.len(), 5, "{left_out:?}");
    // Only the name is ours.
    assert!(
        json_of(&project, &["tools", "call", "read", r#"{"path": "README.md"}"#]).0["content"]
            .as_str()
            .is_some()
    );
    let look_alike = with_settings(&(entry(&project, "tool1", "good") + &entry(&project, "Tooll", "good")));
    let (listed, _) = json_of(&look_alike, &["mcp", "list"]);
    assert_eq!(listed["servers"].as_array().map(Vec::len), Some(1));
    assert!(listed["left_out"][0].as_str().unwrap().contains("equals or resembles"), "{listed}");
}

/// A server's statements about itself do not lower the approval.
#[tokio::test(flavor = "multi_thread")]
async fn false_read_only_hint_of_mounted_tool_still_needs_approval() {
    let project = mounting("liar", "");
    let workspace = open(&project);
    let result = workspace.call("m/say", json!({})).await;
    assert_eq!((result.kind, code(&result.value)), (ResultType::Denied, ErrorCode::Denied));
    assert!(result.value["hint"].as_str().unwrap().contains("allow = [\"m/say\"]"), "{}", result.value);
    assert!(!heard(&project).iter().any(|said| said["method"] == "tools/call"));
    workspace.shutdown().await;
}

/// A server that never answers costs only its timeout, at the start and in a call.
#[test]
#[ignore = "slow: just slow"]
fn silent_mounted_server_call_ends_at_its_timeout() {
    for (mode, word) in [("silent", "does not start"), ("mute", "did not answer")] {
        let project = mounting(mode, "timeout = 4000");
        let began = Instant::now();
        let (result, status) = json_of(&project, &["mcp", "call", "m/say"]);
        assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
        assert_eq!(
            (code(&result), status),
            if mode == "mute" { (ErrorCode::Timeout, 4) } else { (ErrorCode::UnknownTool, 2) },
            "{result}"
        );
        let doctor = run(&project, &["mcp", "doctor"]);
        let told = String::from_utf8_lossy(&doctor.stdout).into_owned();
        match mode {
            "silent" => assert!(told.contains(word) && doctor.status.code() == Some(1), "{told}"),
            _ => assert!(result["error"].as_str().unwrap().contains(word), "{result}"),
        }
        wait_until("the server is gone", Duration::from_secs(60), || {
            count_processes(heard_file(&project).to_str().unwrap()) == 0
        });
    }
}

/// A server that exits at once is started a few times, and then paused; its last output is
/// reported.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn mounted_server_that_keeps_exiting_is_given_up() {
    let project = mounting("dies", "");
    let workspace = open(&project);
    let mut answers = Vec::new();
    for _ in 0..7 {
        answers.push(typed(&workspace, "m/say").await);
    }
    assert!(answers.iter().all(|answer| code(&answer.value) == ErrorCode::ServerFailed), "{answers:?}");
    let first = answers[0].value["error"].as_str().unwrap();
    assert!(first.contains("exit status 3") && first.contains("out of cheese"), "{first}");
    let last = answers[6].value["error"].as_str().unwrap();
    assert!(last.contains("next attempt in") && last.contains("out of cheese"), "{last}");
    assert_eq!(starts(&project), 5);
    workspace.shutdown().await;
    let never = mounting("crash", "");
    let (listed, _) = json_of(&never, &["mcp", "list"]);
    let detail = listed["servers"][0]["detail"].as_str().unwrap();
    assert!(detail.contains("exit status 7") && detail.contains("cannot find my shoes"), "{detail}");
}

/// An endless line is neither awaited nor stored.
#[test]
fn mounted_server_line_over_limit_ends_connection() {
    let project = mounting("giant", "");
    let began = Instant::now();
    let (result, _) = json_of(&project, &["mcp", "call", "m/say"]);
    assert!(began.elapsed() < Duration::from_secs(60));
    assert!(result["error"].as_str().unwrap().contains("a line of more than 8388608 bytes"), "{result}");
}

/// Secrets in the environment do not reach a server; the variables of its entry do, literally.
#[test]
fn mounted_server_environment_contains_no_secrets() {
    let project = mounting("environment", "env = {OWN = \"${HOME}\"}");
    let output = project
        .command(None)
        .envs([("GITHUB_TOKEN", "s3cr"), ("ANTHROPIC_API_KEY", "s3cr"), ("SOMETHING", "s3cr")])
        .args(["mcp", "call", "m/say"])
        .output()
        .unwrap();
    let environment: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(environment["OWN"], "${HOME}");
    assert!(environment["PATH"].is_string() && !environment.to_string().contains("s3cr"), "{environment}");
}

/// No process that a server starts outlives lsp-tools, for any kind of end.
#[tokio::test(flavor = "multi_thread")]
async fn mounted_server_children_die_with_runtime() {
    let project = mounting("child", "");
    let marker = heard_file(&project).to_str().unwrap().to_owned();
    let workspace = open(&project);
    assert!(typed(&workspace, "m/say").await.ok());
    assert!(count_processes(&marker) >= 2);
    drop(workspace);
    wait_until("all of it is gone", Duration::from_secs(60), || count_processes(&marker) == 0);
}

/// Also after SIGKILL, which leaves no time for cleanup.
#[test]
fn mounted_server_dies_when_program_is_killed() {
    let project = mounting("mute", "");
    let marker = heard_file(&project).to_str().unwrap().to_owned();
    let mut running = project.command(None).args(["mcp", "call", "m/say"]).spawn().unwrap();
    wait_until("the call is under way", Duration::from_secs(60), || {
        heard(&project).iter().any(|said| said["method"] == "tools/call")
    });
    running.kill().unwrap();
    running.wait().unwrap();
    wait_until("the server is gone", Duration::from_secs(60), || count_processes(&marker) == 0);
}

/// A server may ask for the workspace's location, and nothing else.
#[test]
fn mounted_server_may_list_roots_but_not_sample() {
    let project = mounting("asks", "");
    assert_eq!(json_of(&project, &["mcp", "call", "m/say"]).0["text"], "said");
    let heard = heard(&project);
    let declared = heard.iter().find(|said| said["method"] == "initialize").unwrap();
    let declared = declared["params"]["capabilities"].as_object().unwrap();
    let mut declared: Vec<&String> = declared.keys().collect();
    declared.sort();
    assert_eq!(declared, ["elicitation", "roots"]);
    let reply =
        |id: i64| heard.iter().find(|said| said["id"] == id && said.get("method").is_none()).unwrap().clone();
    assert_eq!(reply(900)["error"]["code"], -32601);
    assert_eq!(reply(901)["result"]["action"], "decline");
    let roots = reply(902)["result"]["roots"].clone();
    assert_eq!(roots.as_array().map(Vec::len), Some(1));
    assert!(roots[0]["uri"].as_str().unwrap().ends_with("/project/"), "{roots}");
}
