//! Hosts, editors and the shell on one workspace: one server, and one session per client.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::house::{House, SOON, ended};
use super::program::Program;
use crate::support::wait_until;

#[test]
fn mcp_hosts_and_shell_share_server_but_not_todo_list() {
    let house = House::new();
    let (mut one, mut other) = (Program::open_mcp(&house), Program::open_mcp(&house));
    let hover = json!({"path": "a.scr", "line": 0, "character": 4});
    let (first, second) = (one.call(1, "lsp_hover", hover.clone()), other.call(1, "lsp_hover", hover));
    assert_eq!(first["contents"], second["contents"]);
    assert!(first["contents"].as_str().is_some_and(|text| text.starts_with("foo ")), "{first}");
    let shell = house.run(&["hover", "a.scr:1:5"]);
    assert_eq!(shell.out.trim_end(), first["contents"].as_str().unwrap());
    assert_eq!((house.project.log().starts(), house.daemons().len()), (1, 1));

    let todo = json!({"todos": [{"id": "1", "content": "mine", "status": "pending", "priority": "low"}]});
    one.call(2, "todowrite", todo);
    assert_eq!(one.call(3, "todoread", json!({}))["items"].as_array().map(Vec::len), Some(1));
    assert_eq!(other.call(3, "todoread", json!({}))["items"].as_array().map(Vec::len), Some(0));
    let status = house.status().expect("a daemon");
    let doors: Vec<&Value> =
        status["clients"].as_array().unwrap().iter().map(|client| &client["door"]).collect();
    assert_eq!(doors, [&json!("mcp"), &json!("mcp")]);
    let calls: Vec<u64> =
        status["clients"].as_array().unwrap().iter().filter_map(|client| client["calls"].as_u64()).collect();
    assert_eq!(calls.iter().sum::<u64>(), 5, "{status}");
    assert!(calls.contains(&3) && calls.contains(&2), "{status}");
    let hover = status["calls"].as_array().unwrap().iter().find(|one| one["name"] == "lsp_hover").unwrap();
    let times = (hover["median_ms"].as_f64().unwrap(), hover["p99_ms"].as_f64().unwrap());
    assert!(hover["calls"] == 3 && 0.0 < times.0 && times.0 <= times.1, "{status}");
    assert!(one.close() < Duration::from_secs(60));
    wait_until("one is left", SOON, || {
        house.status().unwrap()["clients"].as_array().map(Vec::len) == Some(1)
    });
    assert!(other.call(4, "read", json!({"path": "a.scr"}))["content"].is_string());
    assert!(other.close() < Duration::from_secs(60));
}

#[test]
fn mcp_host_that_wants_text_answers_gets_them_from_the_daemon() {
    let house = House::new();
    let mut host = Program::open_mcp_with(&house, &["--text-answers"]);
    let hover = json!({"name": "lsp_hover", "arguments": {"path": "a.scr", "line": 0, "character": 4}});
    let answer = host.ask(1, "tools/call", hover);
    let result = &answer["result"];
    assert!(result.get("structuredContent").is_none(), "{answer}");
    assert!(result["content"][0]["text"].as_str().is_some_and(|text| text.contains("foo ")), "{answer}");
    let tools = host.ask(2, "tools/list", json!({}));
    let tools = tools["result"]["tools"].as_array().expect("tools");
    assert!(!tools.is_empty() && tools.iter().all(|tool| tool.get("outputSchema").is_none()));
    assert_eq!(house.daemons().len(), 1);
}

#[test]
fn mcp_host_keeps_its_session_when_daemon_is_killed() {
    let house = House::new();
    let mut host = Program::open_mcp(&house);
    let todo = json!({"todos": [{"id": "1", "content": "mine", "status": "pending", "priority": "low"}]});
    host.call(1, "todowrite", todo);
    for id in 2..5 {
        house.kill(house.pid(), Signal::KILL);
        // A question is repeated whenever the daemon ended; a call that may have taken effect is
        // not.
        let list = host.ask(id + 100, "tools/list", json!({}));
        assert!(list["result"]["tools"].is_array(), "{list}");
        let kept = host.call(id, "todoread", json!({}));
        assert_eq!(kept["items"][0]["content"], json!("mine"), "{kept}");
    }
    assert_eq!(house.daemons().len(), 1);
    host.close();
}

#[test]
fn editor_and_shell_share_one_language_server() {
    let house = House::new();
    assert_eq!(house.run(&["hover", "a.scr:1:5"]).code, Some(0));
    let mut editor = Program::open_editor(&house);
    for id in 2..5 {
        editor.ask_lsp(id, "workspace/symbol", json!({"query": "foo"}));
    }
    let status = house.status().expect("a daemon");
    assert_eq!(status["clients"][0]["door"], json!("lsp"), "{status}");
    assert_eq!(status["clients"][0]["calls"], json!(3), "{status}");
    let asked = status["calls"].as_array().unwrap().iter().find(|one| one["name"] == "workspace/symbol");
    assert_eq!(asked.map(|one| &one["calls"]), Some(&json!(3)), "{status}");
    assert!(editor.close() < Duration::from_secs(60));
    assert_eq!(house.project.log().starts(), 1);
}

#[test]
fn concurrent_edits_of_one_file_by_commands_are_all_applied() {
    let text = |word: &str| (0..8).map(|n| format!("{word}{n}\n")).collect::<String>();
    let house = House::new();
    house.project.write("a.txt", text("old"));
    // Half of the commands go to the daemon, and half are processes of their own.
    let commands = (0..8).map(|n| {
        let (old, new) = (format!("old{n}\n"), format!("new{n}\n"));
        let alone: &[&str] = if n % 2 == 0 { &["--no-daemon"] } else { &[] };
        house.begin(&[alone, &["edit", "a.txt", "--old", &old, "--new", &new]].concat())
    });
    let running: Vec<_> = commands.collect();
    for command in running {
        assert_eq!(ended(command, "edit").code, Some(0));
    }
    assert_eq!(house.project.read("a.txt"), text("new"));
}
