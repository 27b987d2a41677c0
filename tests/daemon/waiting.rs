//! Commands that are sent before their server is ready.

use serde_json::{Value, json};

use super::house::House;

#[test]
#[ignore = "slow: just slow"]
fn slow_starting_server_is_started_once_for_all_commands() {
    let house = House::playing(&json!({"answers": {"initialize": {"delay_ms": 6_000}}}));
    let said = house.run(&["--timeout", "1", "hover", "a.scr:1:5"]);
    assert!(said.err.contains("scripted is still starting, "), "{said:?}");
    let hint = " hint: the server continues: try again, or wait longer with --timeout 60";
    assert!(said.err.contains(hint), "{said:?}");
    let said = house.run(&["--timeout", "60", "--format", "json", "hover", "a.scr:1:5"]);
    let answer: Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!(answer["verdict"], "complete", "{said:?}");
    assert!(answer["server_status"]["waited_ms"].as_u64().is_some_and(|waited| waited < 6_000), "{answer}");
    assert_eq!(house.project.log().starts(), 1);
}

#[test]
fn timeout_without_daemon_hint_says_server_ends_with_command() {
    let house = House::playing(&json!({"answers": {"initialize": {"delay_ms": 3_000}}}));
    let said = house.run_alone(&["--timeout", "1", "hover", "a.scr:1:5"]);
    assert_eq!(said.code, Some(4), "{said:?}");
    assert!(said.err.contains("without the daemon the server ends with this command"), "{said:?}");
    assert!(said.err.contains("or wait longer with --timeout 60"), "{said:?}");
}

#[test]
fn socket_files_of_dead_daemons_are_removed_by_next_daemon() {
    let house = House::new();
    house.run(&["hover", "a.scr:1:5"]);
    house.kill(house.pid(), rustix::process::Signal::KILL);
    house.wait_until_empty(super::house::SOON);
    assert_eq!(house.files("").len(), 3, "a socket and two locks: {:?}", house.files(""));
    // Another program, and so another daemon, uses the same folder. The lock of a killed daemon
    // disappears shortly after its process.
    crate::support::wait_until("the folder is empty", super::house::SOON, || {
        for words in [["hover", "a.scr:1:5"], ["daemon", "stop"]] {
            let mut other = house.command(&words);
            other.env("LSP_TOOLS_AGENT", "another");
            assert!(other.output().expect("an end").status.success());
        }
        house.wait_until_empty(super::house::SOON);
        house.files("").is_empty()
    });
}
