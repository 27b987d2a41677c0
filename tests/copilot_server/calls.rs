//! Calls of tools: each is answered with the tuple, for any arguments and any result.

use std::time::Duration;

use lsp_tools::internals::bridges::ResultFormat;
use serde_json::{Value, json};

use super::stage::{Client, LONG, answers, copilot, plays, project, results};
use crate::support::{count_processes, wait_until};

fn call(name: &str, input: Value) -> Value {
    json!({"invoke": {"name": name, "input": input}})
}

#[test]
fn tool_call_is_answered_with_text_or_error() {
    let steps = json!([
        call("read", json!({"path": "a.txt"})),
        call("read", json!({"path": "none.txt"})),
        call("read", json!({})),
        call("read", Value::Null),
        call("read", json!({"path": 5})),
        call("read", json!("a.txt")),
        call("no_such_tool", json!({"path": "a.txt"})),
        call("bash", json!({"command": "true"})),
        call("read", json!({"path": "../outside"})),
        {"invoke": 7},
        {"invoke": {"input": {}, "name": ["read"]}},
        {"invoke": {"name": "read", "input": {"path": "a.txt"}, "toolCallId": 9, "conversationId": null, "roundId": {}}},
    ]);
    let project = project(&plays(steps), "", [("a.txt", "one\ntwo\n")]);
    let ran = copilot(&project, &["--format", "json", "agent", "go"]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    let results = results(&project);
    let expected: [(&str, &[&str]); 12] = [
        ("success", &["one\n", "two"]),
        ("error", &["not_found", "none.txt"]),
        ("error", &["no arguments", "`path`"]),
        ("error", &["no arguments", "`path`"]),
        ("error", &["invalid_args", "path"]),
        ("error", &["invalid_args"]),
        ("error", &["unknown tool: no_such_tool"]),
        ("error", &["denied", "cannot ask a user", "permissions"]),
        ("error", &["outside_workspace"]),
        ("error", &["cannot be read"]),
        ("error", &["cannot be read"]),
        ("success", &["one"]),
    ];
    assert_eq!(results.len(), expected.len());
    for ((status, text), (wanted, words)) in results.iter().zip(expected) {
        assert_eq!(status, wanted, "{text}");
        assert!(words.iter().all(|word| text.contains(word)), "{words:?}: {text}");
    }
    let outcome = ran.json();
    assert_eq!((&outcome["ok"], &outcome["edits"]), (&json!(true), &json!([])));
    assert_eq!(outcome["calls"][0], json!({"name": "read", "state": "completed"}));
}

#[test]
fn long_tool_result_is_cut_below_host_limit() {
    let long = "a line of words\n".repeat(5_000);
    let project = project(
        &plays(json!([call("read", json!({"path": "long.txt"}))])),
        "",
        [("long.txt", long.as_str())],
    );
    copilot(&project, &["agent", "go"]);
    let (status, text) = &results(&project)[0];
    assert_eq!(status, "success");
    assert!(text.len() <= 20_000 && text.contains("a line of words"), "{}", text.len());
}

#[test]
fn result_format_option_list_and_built_in_shape_tool_results() {
    let steps = json!([
        call("read", json!({"path": "a.txt"})),
        call("write", json!({"path": "b.txt", "content": "x"})),
        call("write", json!({"path": "../b.txt", "content": "x"})),
    ]);
    let project = project(&plays(steps), "", [("a.txt", "one\n")]);
    let shapes = |format: &str| {
        let before = answers(&project, "conversation/invokeClientTool").len();
        let ran = copilot(&project, &["agent", "--result-format", format, "go"]);
        assert_eq!(ran.status, 0, "{}", ran.err);
        let answers = answers(&project, "conversation/invokeClientTool").split_off(before);
        answers.into_iter().map(|mut answer| answer["result"].take()).collect::<Vec<_>>()
    };
    let list = shapes("list");
    assert!(list.iter().all(|part| part[0]["type"] == "text" && part[0]["value"].is_string()), "{list:?}");
    let built_in = shapes("built-in");
    assert_eq!(built_in[0][0]["type"], "text");
    assert_eq!(built_in[1], json!({"result": "success"}));
    assert_eq!(built_in[2]["result"], "error");
    assert!(built_in[2]["message"].as_str().unwrap().contains("outside_workspace"), "{built_in:?}");
}

#[test]
fn hundred_concurrent_tool_calls_are_all_answered() {
    let quick: Vec<Value> = (0..100).map(|_| json!({"name": "read", "input": {"path": "a.txt"}})).collect();
    let project = project(&plays(json!([{"together": quick}])), "", [("a.txt", "one\n")]);
    copilot(&project, &["agent", "go"]);
    let results = results(&project);
    assert_eq!(results.len(), 100);
    assert!(results.iter().all(|(status, text)| status == "success" && text.contains("one")));
}

#[test]
#[ignore = "slow: just slow"]
fn slow_tool_call_does_not_delay_quick_one() {
    let slow =
        json!({"name": "bash", "input": {"command": "until [ -e go ]; do sleep 0.02; done; echo slow"}});
    let quick = json!({"name": "write", "input": {"path": "go", "content": "x"}});
    let settings = "[permissions]\nallow = [\"bash\"]\n";
    let project = project(&plays(json!([{"together": [slow, quick]}])), settings, []);
    copilot(&project, &["agent", "go"]);
    let results = results(&project);
    assert!(results[0].1.contains("slow"), "{results:?}");
    assert_eq!((results[0].0.as_str(), results[1].0.as_str()), ("success", "success"));
}

#[tokio::test(flavor = "multi_thread")]
async fn tool_calls_beyond_queue_limit_are_refused() {
    let slow = json!({"name": "bash", "input": {"command": "until [ -e go ]; do sleep 0.02; done"}});
    let mut all = vec![slow; 140];
    all.push(json!({"name": "read", "input": {"path": "a.txt"}}));
    let settings = "[permissions]\nallow = [\"bash\"]\n";
    let project = project(&plays(json!([{"together": all}])), settings, [("a.txt", "one\n")]);
    let client = Client::new(&project, |_| {}).await;
    let turn = client.turn();
    let opened = async {
        // The last call is refused at once, so its answer is among the first.
        let log = project.log();
        tokio::task::spawn_blocking(move || {
            let refused = |log: &crate::support::ServerLog| {
                let messages = log.messages();
                let texts = messages
                    .iter()
                    .filter_map(|message| message["result"][0]["content"][0]["value"].as_str());
                (texts.filter(|text| text.contains("calls are waiting already")).count() == 13).then_some(())
            };
            log.wait_for("calls are refused", LONG, refused);
        })
        .await
        .expect("calls are refused");
        project.write("go", "");
    };
    let (outcome, ()) = tokio::join!(turn, opened);
    outcome.expect("a turn");
    let results = results(&project);
    assert_eq!(results.iter().filter(|(status, _)| status == "success").count(), 128);
    client.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tool_call_past_its_limit_is_ended_with_its_command() {
    let project = project(
        &plays(json!([call("bash", json!({"command": "sleep 61.27"}))])),
        "[permissions]\nallow = [\"bash\"]\n",
        [],
    );
    let client = Client::new(&project, |options| {
        options.call_limit = Some(Duration::from_secs(2));
        options.format = ResultFormat::Tuple;
    })
    .await;
    client.turn().await.expect("a turn");
    let (status, text) = results(&project).remove(0);
    assert_eq!(status, "error");
    assert!(text.contains("took longer than 2 s"), "{text}");
    wait_until("the command has ended", LONG, || count_processes("61.27") == 0);
    client.close().await;
}

#[test]
fn tool_call_of_another_conversation_is_refused() {
    let alien = |name: &str, input: Value| json!({"name": name, "input": input, "conversationId": "alien"});
    let steps = json!([
        {"invoke": alien("write", json!({"path": "a.txt", "content": "theirs"}))},
        {"confirm": alien("read", json!({"path": "a.txt"}))},
        {"confirm": {"name": "read", "input": {"path": "a.txt"}}},
        call("read", json!({"path": "a.txt"})),
    ]);
    let project = project(&plays(steps), "", [("a.txt", "ours\n")]);
    assert_eq!(copilot(&project, &["agent", "go"]).status, 0);
    let results = results(&project);
    let foreign = "the call belongs to another client's conversation, so the tool is not called";
    assert_eq!(results[0], ("error".to_owned(), foreign.to_owned()));
    assert_eq!((results[1].0.as_str(), project.read("a.txt").as_str()), ("success", "ours\n"));
    let confirmed = answers(&project, "conversation/invokeClientToolConfirmation");
    let confirmed: Vec<&Value> = confirmed.iter().map(|answer| &answer["result"][0]["result"]).collect();
    assert_eq!(confirmed, ["dismiss", "accept"]);
}
