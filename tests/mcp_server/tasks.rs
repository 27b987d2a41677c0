//! Long calls, for clients that declared the tasks extension.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::mcp::Mcp;
use crate::support::{Marker, Project, wait_until};

fn project() -> Project {
    let project = Project::new([("a.txt", "x\n")]);
    let settings = "[permissions]\nallow = ['bash']\n";
    std::fs::write(project.beside("config").join("lsp-tools.toml"), settings).expect("settings");
    project
}

fn declaring(project: &Project) -> Mcp {
    Mcp::modern(project, None, json!({"extensions": {"io.modelcontextprotocol/tasks": {}}}))
}

fn bash(client: &mut Mcp, command: &str) -> Value {
    client.call("bash", json!({"command": command}))
}

fn settled(client: &mut Mcp, task: &Value) -> Value {
    let mut state = Value::Null;
    wait_until("the task is over", Duration::from_secs(60), || {
        state = client.result("tasks/get", json!({"taskId": task}));
        state["status"] != "working"
    });
    state
}

#[test]
#[ignore = "slow: just slow"]
fn long_call_becomes_task_and_short_call_is_answered_directly() {
    let project = project();
    let mut client = declaring(&project);
    // On a busy machine, a command that prints one word may take long.
    let short =
        (0..20).map(|_| bash(&mut client, "echo short")).find(|short| short["resultType"] == "complete");
    assert_eq!(short.expect("one was short")["structuredContent"]["stdout"], "short\n");
    let long = bash(&mut client, "sleep 4; echo long");
    assert_eq!((&long["resultType"], &long["status"]), (&json!("task"), &json!("working")), "{long}");
    let state = settled(&mut client, &long["taskId"]);
    assert_eq!(state["status"], "completed", "{state}");
    assert_eq!(state["result"]["structuredContent"]["stdout"], "long\n", "{state}");
    assert_eq!(client.error("tasks/get", json!({"taskId": "none"})), -32602);
}

#[test]
#[ignore = "slow: just slow"]
fn cancelled_task_ends_its_command() {
    let project = project();
    let mut client = declaring(&project);
    let marker = Marker::new();
    let task = bash(&mut client, &format!("sh -c 'sleep 60; :' {}", marker.as_str()));
    assert_eq!(task["resultType"], "task", "{task}");
    wait_until("the command runs", Duration::from_secs(30), || marker.living() > 0);
    client.result("tasks/cancel", json!({"taskId": task["taskId"]}));
    wait_until("the command is gone", Duration::from_secs(60), || marker.living() == 0);
    assert_eq!(settled(&mut client, &task["taskId"])["status"], "cancelled");
}

#[test]
#[ignore = "slow: just slow"]
fn client_disconnected_its_tasks_end() {
    let project = project();
    let mut client = declaring(&project);
    let marker = Marker::new();
    bash(&mut client, &format!("sh -c 'sleep 60; :' {}", marker.as_str()));
    let (status, _) = client.close();
    assert!(status.success(), "{status}");
    wait_until("the command is gone", Duration::from_secs(60), || marker.living() == 0);
}

#[test]
#[ignore = "slow: just slow"]
fn tasks_undeclared_by_client_call_is_answered_directly() {
    let project = project();
    let mut client = Mcp::modern(&project, None, json!({}));
    let long = bash(&mut client, "sleep 3; echo long");
    assert_eq!(long["structuredContent"]["stdout"], "long\n", "{long}");
    assert_eq!(client.error("tasks/get", json!({"taskId": "none"})), -32021);
}
