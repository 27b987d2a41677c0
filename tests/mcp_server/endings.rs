//! Abandoned calls, and clients that disconnect.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::mcp::Mcp;
use crate::support::{Marker, Project, wait_until};

fn allowing_bash() -> Project {
    let project = Project::new([("a.txt", "x\n")]);
    std::fs::write(project.beside("config").join("lsp-tools.toml"), "[permissions]\nallow = ['bash']\n")
        .expect("settings");
    project
}

/// A command that runs for a minute, with a marker.
fn slow(marker: &Marker) -> Value {
    json!({"command": format!("sh -c 'sleep 60; :' {}", marker.as_str())})
}

#[test]
#[ignore = "slow: just slow"]
fn row_41_cancelled_call_ends_its_command_and_gets_no_answer() {
    let project = allowing_bash();
    for mut client in [Mcp::legacy(&project, None, json!({})), Mcp::modern(&project, None, json!({}))] {
        let marker = Marker::new();
        let id = client.request("tools/call", json!({"name": "bash", "arguments": slow(&marker)}));
        wait_until("the command runs", Duration::from_secs(30), || marker.living() > 0);
        client.notify("notifications/cancelled", json!({"requestId": id, "reason": "enough"}));
        wait_until("the command is gone", Duration::from_secs(60), || marker.living() == 0);
        client.call("read", json!({"path": "a.txt"}));
        let late = client.find_within(Duration::from_millis(300), |message| message["id"] == json!(id));
        assert_eq!(late, None, "a cancelled call is not answered");
    }
}

#[test]
fn row_41_cancelled_call_is_cancelled_at_language_server() {
    let answers = json!({"answers": {"textDocument/hover": {"never": true}}});
    let project = Project::scripted(&answers, "", [("a.scr", "def one\n")]);
    let mut client = Mcp::legacy(&project, None, json!({}));
    let hover = json!({"name": "lsp_hover", "arguments": {"path": "a.scr", "line": 0, "symbol": "one"}});
    let id = client.request("tools/call", hover);
    let log = project.log();
    log.wait_for("the question", Duration::from_secs(30), |log| {
        (log.count("textDocument/hover") > 0).then_some(())
    });
    client.notify("notifications/cancelled", json!({"requestId": id}));
    log.wait_for("its end", Duration::from_secs(60), |log| (log.count("$/cancelRequest") > 0).then_some(()));
    assert_eq!(client.call("read", json!({"path": "a.scr"}))["isError"], false, "the server lives on");
}

#[test]
#[ignore = "slow: just slow"]
fn row_41_stdin_closed_mid_call_ends_the_process() {
    let project = allowing_bash();
    for mut client in [Mcp::legacy(&project, None, json!({})), Mcp::modern(&project, None, json!({}))] {
        let marker = Marker::new();
        client.request("tools/call", json!({"name": "bash", "arguments": slow(&marker)}));
        wait_until("the command runs", Duration::from_secs(30), || marker.living() > 0);
        let (status, time) = client.close();
        assert!(status.success(), "{status}");
        assert!(time < Duration::from_secs(60), "{time:?}");
        wait_until("the command is gone", Duration::from_secs(60), || marker.living() == 0);
    }
}

#[test]
fn stdin_closed_before_initialize_exits_successfully() {
    let project = allowing_bash();
    let (status, time) = Mcp::start(&project, None, &[]).close();
    assert!(status.success() && time < Duration::from_secs(60), "{status} {time:?}");
}

#[test]
fn row_13_language_servers_die_with_killed_mcp_server() {
    let project = Project::scripted(&json!({}), "", [("a.scr", "def one\n")]);
    let mut client = Mcp::legacy(&project, None, json!({}));
    client.call("lsp_hover", json!({"path": "a.scr", "line": 0, "symbol": "one"}));
    assert!(crate::support::count_processes(&project.marker()) > 0);
    // Dropping the client kills it with SIGKILL.
    drop(client);
    wait_until("no server is left", Duration::from_secs(60), || {
        crate::support::count_processes(&project.marker()) == 0
    });
}
