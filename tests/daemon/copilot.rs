//! Both Copilot front ends over the daemon: its warm servers execute their calls; all other state
//! stays in the front end.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::house::{House, SOON, ended, said};
use super::trusting::at_a_terminal;
use crate::support::{Marker, ServerLog, copy_executable, scripted_copilot, wait_until};

const FILES: &str = "def foo\nfoo WRONG\n";

/// A house with a scripted Copilot server whose turns play these steps, and these settings.
fn house(steps: &Value, settings: &str) -> House {
    let house = House::playing(&json!({}));
    let config = house.project.beside("config");
    let scenario = json!({"user": "somebody", "turns": [steps], "log": copilot_log(&house).path()});
    let file = house.project.beside("logs").join("copilot.json");
    fs::write(&file, scenario.to_string()).expect("a scenario");
    let mut catalogue = fs::read_to_string(config.join("servers.toml")).expect("servers.toml");
    catalogue.push_str(&format!("\n[server.copilot]\ncommand = {}\n", json!([scripted_copilot(), file])));
    fs::write(config.join("servers.toml"), catalogue).expect("servers.toml");
    fs::write(config.join("lsp-tools.toml"), settings).expect("settings");
    house
}

/// The log of the scripted Copilot server.
fn copilot_log(house: &House) -> ServerLog {
    ServerLog::new(house.project.beside("logs").join("copilot.jsonl"))
}

/// The status and text of the answers to tool calls, in order.
fn results(house: &House) -> Vec<(String, String)> {
    let answered = copilot_log(house).events("answered");
    let calls = answered.iter().filter(|event| event["method"] == "conversation/invokeClientTool");
    calls
        .map(|event| {
            let result = &event["answer"]["result"][0];
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            (text(&result["status"]), text(&result["content"][0]["value"]))
        })
        .collect()
}

fn call(name: &str, input: Value) -> Value {
    json!({"invoke": {"name": name, "input": input}})
}

fn hover() -> Value {
    call("lsp_hover", json!({"path": "a.scr", "line": 0, "character": 4}))
}

#[test]
fn copilot_sessions_use_the_warm_server_of_the_daemon_and_their_own_without_it() {
    let house = house(&json!([hover()]), "");
    assert_eq!(house.run(&["hover", "a.scr:1:5"]).code, Some(0));
    let edit = house.run(&["edit", "a.scr", "--old", "foo WRONG", "--new", "foo foo"]);
    assert_eq!(edit.code, Some(0), "{edit:?}");
    for _ in 0..2 {
        let said = house.run(&["copilot", "agent", "go"]);
        assert_eq!((said.code, said.err.contains("without the daemon")), (Some(0), false), "{said:?}");
    }
    let warm = results(&house);
    assert_eq!(warm.len(), 2);
    // A newly started server has the text's first version.
    assert!(warm.iter().all(|(status, text)| status == "success" && text.contains("foo v2 ")), "{warm:?}");
    assert_eq!((house.project.log().starts(), house.daemons().len()), (1, 1));

    let alone = house.run_alone(&["copilot", "agent", "go"]);
    assert_eq!(alone.code, Some(0), "{alone:?}");
    let cold = results(&house).pop().expect("a result");
    assert!(cold.0 == "success" && cold.1.contains("foo v1 "), "{cold:?}");
    assert_eq!(house.project.log().starts(), 2);
}

#[test]
fn copilot_edit_through_daemon_tells_new_errors_and_copilot_server_and_is_undone() {
    let text = "def foo\nfoo WRONG\nWRONG\n";
    let house = house(&json!([call("write", json!({"path": "a.scr", "content": text}))]), "");
    // An edit does not wait for a server to start, so the server must run for it to have findings.
    assert_eq!(house.run(&["hover", "a.scr:1:5"]).code, Some(0));
    let said = house.run(&["--format", "json", "copilot", "agent", "--open", "a.scr", "go"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let (status, answer) = results(&house).remove(0);
    assert!(status == "success" && answer.contains("WRONG") && answer.contains("W1"), "{answer}");
    let changed = copilot_log(&house).params("textDocument/didChange");
    assert_eq!(changed[0]["contentChanges"], json!([{"text": text}]));
    let outcome: Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!(outcome["edits"], json!(["modified a.scr"]));
    let undone = house.run(&["copilot", "undo", outcome["turn"].as_str().expect("a turn")]);
    assert_eq!((undone.code, house.project.read("a.scr").as_str()), (Some(0), FILES), "{undone:?}");
    assert_eq!((house.project.log().starts(), house.daemons().len()), (1, 1));
}

#[test]
fn copilot_door_that_ends_ends_its_command_in_the_daemon() {
    for signal in [Signal::INT, Signal::KILL] {
        let running = Marker::new();
        let command = format!("sleep 300; : {}", running.as_str());
        let steps =
            json!([{"start": {"name": "bash", "input": {"command": command}}}, {"wait_cancel": true}]);
        let house = house(&steps, "[permissions]\nallow = [\"bash\"]\n");
        let child = house.begin(&["copilot", "agent", "go"]);
        let pid = i32::try_from(child.id()).expect("a pid");
        wait_until("the command runs", SOON, || running.living() > 0);
        let daemon = house.pid();
        house.kill(pid, signal);
        let said = ended(child, "copilot agent");
        assert_eq!(said.code, (signal == Signal::INT).then_some(130), "{said:?}");
        wait_until("the command has ended", SOON, || running.living() == 0);
        assert_eq!(house.pid(), daemon);
    }
}

#[test]
fn background_command_of_copilot_session_ends_with_it_and_not_before() {
    let running = Marker::new();
    let command = format!("sleep 300; : {}", running.as_str());
    let folder = tempfile::tempdir().expect("a folder");
    let go = folder.path().join("go");
    let background = call("bash", json!({"command": command, "background": true}));
    let house = house(&json!([background, {"wait_file": go}]), "[permissions]\nallow = [\"bash\"]\n");
    let child = house.begin(&["copilot", "agent", "go"]);
    wait_until("the call is answered", SOON, || !results(&house).is_empty());
    assert!(running.living() > 0, "{:?}", results(&house));
    fs::write(&go, "").expect("a file");
    assert_eq!(ended(child, "copilot agent").code, Some(0));
    wait_until("the command has ended", SOON, || running.living() == 0);
    assert_eq!(house.daemons().len(), 1);
}

#[test]
fn copilot_call_through_daemon_is_approved_at_the_doors_terminal_once_for_its_session() {
    let bash = |id: &str| json!({"name": "bash", "input": {"command": "echo ran >> ran"}, "toolCallId": id});
    let steps = json!([{"invoke": bash("1")}, {"confirm": bash("2")}, {"invoke": bash("2")}]);
    for (typed, questions, ran) in [("s\n", 1, "ran\nran\n"), ("n\nn\n", 2, "")] {
        let house = house(&steps, "");
        house.project.write("ran", "");
        let Some(seen) = at_a_terminal(&house, "copilot agent go", typed) else { return };
        assert_eq!(seen.matches("Allow this?").count(), questions, "{seen}");
        assert_eq!(house.project.read("ran"), ran, "{seen}");
        assert_eq!(house.daemons().len(), 1, "{seen}");
    }
    // The approval belongs to the front end's session, which has no person here.
    let house = house(&steps, "");
    let said = house.run(&["copilot", "agent", "go"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let results = results(&house);
    assert!(
        results.iter().all(|(status, text)| status == "error" && text.contains("cannot ask a user")),
        "{results:?}"
    );
}

#[test]
fn copilot_session_goes_on_with_the_next_daemon_and_tells_of_the_call_that_was_lost() {
    let running = Marker::new();
    let command = format!("sleep 300; : {}", running.as_str());
    let steps = json!([hover(), call("bash", json!({"command": command})), hover()]);
    let house = house(&steps, "[permissions]\nallow = [\"bash\"]\n");
    let child = house.begin(&["copilot", "agent", "go"]);
    wait_until("the command runs", SOON, || running.living() > 0);
    let first = house.pid();
    house.kill(first, Signal::KILL);
    let said = ended(child, "copilot agent");
    assert_eq!(said.code, Some(0), "{said:?}");
    let results = results(&house);
    let states: Vec<&str> = results.iter().map(|(status, _)| status.as_str()).collect();
    assert_eq!(states, ["success", "error", "success"], "{results:?}");
    assert!(results[1].1.contains("may or may not have taken effect"), "{results:?}");
    assert_ne!(house.pid(), first);
    assert_eq!(house.project.log().starts(), 2);
}

/// `copilot host` on a command line that plays these steps.
fn host(house: &House, steps: &[Value]) -> Command {
    let logs = house.project.beside("logs");
    let idle = json!({"event": {"type": "session.idle", "data": {}}});
    let steps: Vec<&Value> = steps.iter().chain([&idle]).collect();
    let play = json!({"after": steps});
    fs::write(logs.join("play.json"), play.to_string()).expect("a play");
    let program = logs.join("copilot");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/copilot_host/fake_cli.py");
    copy_executable(script, &program);
    let mut command = house.command(&["copilot", "host", "--profile", "all", "--cli"]);
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("COPILOT_")) {
            command.env_remove(name);
        }
    }
    command.arg(program).arg("go").env("FAKE_PLAY", logs.join("play.json")).env("FAKE_LOG", told(house));
    command
}

/// The messages that the command line received.
fn told(house: &House) -> PathBuf {
    house.project.beside("logs").join("told.jsonl")
}

/// The response that it received to `request`.
fn result(house: &House, request: &str) -> Value {
    let told = fs::read_to_string(told(house)).expect("its messages");
    let messages = told.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut params = messages.map(|message| message["params"].clone());
    let found = params.find(|params| params["requestId"] == request);
    found.unwrap_or_else(|| panic!("nothing for {request}: {told}"))["result"].clone()
}

#[test]
fn copilot_host_has_its_calls_carried_out_and_judged_by_the_daemon() {
    let house = house(&json!([]), "");
    assert_eq!(house.run(&["hover", "a.scr:1:5"]).code, Some(0));
    let asked = |kind: &str, request: &str, data: Value| {
        let mut data = data;
        data["requestId"] = json!(request);
        json!({"event": {"type": kind, "data": data}})
    };
    let hover = json!({"toolCallId": "c1", "toolName": "lsp_hover",
        "arguments": {"path": "a.scr", "line": 0, "character": 4}});
    let wanted = |tool: &str, args: Value| json!({"permissionRequest": {"kind": "custom-tool", "toolName": tool, "args": args, "toolCallId": "c2"}});
    let steps = [
        asked("external_tool.requested", "hover", hover),
        asked("permission.requested", "may", wanted("lsp_tools_read", json!({"path": "a.scr"}))),
        asked("permission.requested", "ask", wanted("bash", json!({"command": "true"}))),
        json!({"wait": 3}),
    ];
    for _ in 0..2 {
        let said = said(host(&house, &steps), "", "copilot host");
        assert_eq!(said.code, Some(0), "{said:?}");
        let text = result(&house, "hover")["textResultForLlm"].clone();
        assert!(text.as_str().is_some_and(|text| text.contains("foo v1 ")), "{text}");
        assert_eq!(result(&house, "may")["kind"], "approve-once");
        let refused = result(&house, "ask");
        assert_eq!(refused["kind"], "reject", "{refused}");
        assert!(
            refused["feedback"].as_str().is_some_and(|why| why.contains("cannot ask a user")),
            "{refused}"
        );
        fs::remove_file(told(&house)).expect("its messages");
    }
    assert_eq!((house.project.log().starts(), house.daemons().len()), (1, 1));
}
