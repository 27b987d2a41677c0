//! The first session of an agent on a fresh daemon: every answer of an edit has a verdict, and
//! reports the edit's errors.

use std::process::Command;

use serde_json::Value;

use super::project;
use crate::daemon::house::House;
use crate::support::peers::real_clients;
use crate::support::real_servers;

fn messages(answer: &Value, path: &str) -> Vec<String> {
    let added = answer["diagnostics"]["added"].as_array().unwrap_or_else(|| panic!("no delta: {answer:#}"));
    let of_file = added.iter().filter(|item| item["path"] == path);
    of_file.map(|item| item["message"].to_string()).collect()
}

#[test]
#[ignore = "slow: just slow"]
fn first_session_of_an_agent_has_a_verdict_on_every_edit() {
    let mut house = House::of(project());
    house.prefix = Some(real_servers(&["pyright"]));
    // A command that the host would run, with the environment that the host passes.
    let door = house.command(&["mcp", "--timeout", "60"]);
    let mut host = Command::new(real_clients().join("venv/bin/python"));
    host.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp_clients/first_session.py"));
    host.arg(door.get_program()).args(door.get_args()).current_dir(house.project.root());
    for (name, value) in door.get_envs() {
        match value {
            Some(value) => host.env(name, value),
            None => host.env_remove(name),
        };
    }
    let output = host.output().expect("the host");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}", text(&output.stdout), text(&output.stderr));
    let said: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    for step in ["list", "glob", "grep", "read", "first", "second", "tests", "command", "undo"] {
        assert_eq!(said[step]["ok"], true, "{step}: {:#}", said[step]);
    }
    for edit in ["first", "second", "command", "undo"] {
        assert_eq!(said[edit]["verdict"], "complete", "{edit}: {:#}", said[edit]);
    }
    assert_eq!(said["first"]["diagnostics"]["added"], serde_json::json!([]), "{:#}", said["first"]);
    let broken = messages(&said["second"], "greet/app.py");
    assert!(broken.iter().any(|message| message.contains("mood")), "{:#}", said["second"]);
    assert!(said["tests"].get("verdict").is_none(), "a command without a change: {:#}", said["tests"]);
    let broken = messages(&said["command"], "greet/app.py");
    assert!(broken.iter().any(|message| message.contains("Gast")), "{:#}", said["command"]);
}
