//! The end of the daemon, which leaves nothing behind.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;

use super::house::{House, SOON, ended};
use crate::support::{Marker, wait_until};

/// The time limit for processes after the daemon was killed.
const AFTERLIFE: Duration = Duration::from_secs(30);

#[test]
fn daemon_sigkilled_leaves_nothing_and_next_command_restarts_it() {
    let marker = Marker::new();
    let house = House::playing(&json!({"hover_version": false, "fork_child": {
        "marker": marker.as_str(), "ignores_sigterm": true, "setsid": true, "holds_stdout": true
    }}));
    let first = house.run(&["hover", "a.scr:1:5"]);
    let pid = house.pid();
    assert!(house.servers() > 0 && marker.living() > 0);
    house.kill(pid, Signal::KILL);
    wait_until("nothing is left", AFTERLIFE, || {
        house.daemons().is_empty() && house.servers() == 0 && marker.living() == 0
    });
    assert_eq!(house.run(&["hover", "a.scr:1:5"]), first);
    assert_ne!(house.pid(), pid);
}

#[test]
fn daemon_sigkilled_mid_command_ends_each_with_answer_or_error() {
    let house = House::playing(&json!({"answers": {"textDocument/hover": {"delay_ms": 1_500}}}));
    house.run(&["daemon", "start"]);
    let asks = house.begin(&["hover", "a.scr:1:5"]);
    let acts = house.begin(&["tools", "call", "bash", r#"{"command": "sleep 30"}"#]);
    wait_until("both run", SOON, || {
        house.status().is_some_and(|status| status["running"].as_u64() >= Some(3))
    });
    house.kill(house.pid(), Signal::KILL);
    let (asked, acted) = (ended(asks, "hover"), ended(acts, "bash"));
    assert_eq!((asked.code, asked.err.as_str()), (Some(0), ""), "a question is repeated once");
    assert_eq!(acted.code, Some(4), "{acted:?}");
    assert!(acted.err.contains("the daemon ended while the command ran"), "{acted:?}");
    assert!(acted.err.contains("may or may not have taken effect"), "{acted:?}");
    assert_eq!(house.daemons().len(), 1);
}

#[test]
fn daemon_sigterm_lets_running_command_finish() {
    let house = House::playing(&json!({"answers": {"textDocument/hover": {"delay_ms": 1_500}}}));
    house.run(&["daemon", "start"]);
    let asks = house.begin(&["hover", "a.scr:1:5"]);
    wait_until("it runs", SOON, || house.project.log().count("textDocument/hover") > 0);
    let pid = house.pid();
    house.kill(pid, Signal::TERM);
    assert_eq!(ended(asks, "hover").code, Some(0));
    house.wait_until_empty(SOON);
    assert_eq!(house.project.log().starts(), 1, "the request was not repeated");
}

#[test]
fn daemon_stop_ends_its_servers_before_returning() {
    let house = House::new();
    house.run(&["hover", "a.scr:1:5"]);
    assert!(house.servers() > 0);
    assert_eq!(house.run(&["daemon", "stop"]).code, Some(0));
    assert_eq!(house.servers(), 0);
    wait_until("it is gone", AFTERLIFE, || house.daemons().is_empty());
    assert!(house.project.log().count("shutdown") == 1, "in the polite way");
}

#[test]
fn daemon_idle_without_clients_ends() {
    let house = House::new();
    fs::write(house.project.beside("config").join("lsp-tools.toml"), "[daemon]\nidle-stop-s = 1\n").unwrap();
    house.run(&["hover", "a.scr:1:5"]);
    assert_eq!(house.daemons().len(), 1);
    house.wait_until_empty(SOON);
    assert_eq!(house.files(".sock").len(), 0);
    let logged = house.run(&["daemon", "logs"]);
    assert!(logged.out.contains("no client was connected"), "{logged:?}");
}

#[test]
fn daemon_binary_replaced_new_daemon_takes_over() {
    let mut house = House::new();
    let program = house.project.beside("lsp-tools-copy");
    // Copied by a separate process: a program cannot be started while a concurrent child of this
    // process still has it open for writing.
    let copy = |to: &std::path::Path| {
        let copied = std::process::Command::new("cp").arg(env!("CARGO_BIN_EXE_lsp-tools")).arg(to).status();
        assert!(copied.expect("cp").success());
    };
    copy(&program);
    house.program = Some(program.clone());
    house.run(&["hover", "a.scr:1:5"]);
    let before = house.pid();
    let other = house.project.beside("lsp-tools-other");
    copy(&other);
    fs::rename(&other, &program).unwrap();
    assert_eq!(house.run(&["hover", "a.scr:1:5"]).code, Some(0));
    assert_ne!(house.pid(), before);
    wait_until("the former daemon ends", SOON, || !house.daemons().contains(&before));
    assert_eq!(house.daemons().len(), 1);
}

#[test]
#[ignore = "slow: just slow"]
fn daemon_without_workspace_or_socket_ends() {
    let house = House::new();
    house.run(&["hover", "a.scr:1:5"]);
    fs::remove_file(house.socket()).unwrap();
    house.wait_until_empty(SOON);
    house.run(&["hover", "a.scr:1:5"]);
    fs::rename(house.project.root(), house.project.beside("elsewhere")).unwrap();
    house.wait_until_empty(SOON);
}

#[test]
fn client_signalled_request_is_cancelled_at_the_server() {
    let house = House::playing(&json!({"answers": {"textDocument/hover": {"never": true}}}));
    house.run(&["daemon", "start"]);
    for signal in [Signal::INT, Signal::TERM, Signal::KILL] {
        let asked = house.project.log().count("textDocument/hover");
        let cancelled = house.project.log().count("$/cancelRequest");
        let child = house.begin(&["hover", "a.scr:1:5"]);
        wait_until("it is asked", SOON, || house.project.log().count("textDocument/hover") > asked);
        house.kill(i32::try_from(child.id()).unwrap(), signal);
        let begun = Instant::now();
        let said = ended(child, "hover");
        assert!(said.code == Some(130) || signal == Signal::KILL, "{said:?}");
        wait_until("the server is notified", AFTERLIFE, || {
            house.project.log().count("$/cancelRequest") > cancelled
        });
        wait_until("nothing runs", AFTERLIFE, || house.status().unwrap()["running"] == json!(0));
        assert!(begun.elapsed() < AFTERLIFE, "{signal:?}");
    }
    assert_eq!(house.project.log().starts(), 1, "the server stays");
}

/// A stopped daemon (SIGSTOP, a debugger, a frozen control group) does not stop the commands.
#[test]
#[ignore = "slow: just slow"]
fn daemon_sigstopped_commands_still_end_in_time() {
    let house = House::new();
    assert_eq!(house.run(&["hover", "a.scr:1:5"]).code, Some(0));
    let daemon = house.pid();
    house.kill(daemon, Signal::STOP);
    let write = json!({"path": "new.txt", "content": "new\n"}).to_string();
    for words in [
        &["hover", "a.scr:1:5", "--timeout", "5"][..],
        &["tools", "call", "write", &write, "--timeout", "5"],
        &["daemon", "status"],
    ] {
        let begun = Instant::now();
        let said = house.run(words);
        let took = begun.elapsed();
        assert!(took < Duration::from_secs(25), "{words:?}: {took:?}: {said:?}");
        // Answered without the daemon, or with the message that the daemon does not answer.
        let answered = said.code == Some(0);
        assert!(answered || said.err.contains("daemon"), "{words:?}: {said:?}");
        if words[0] == "tools" {
            assert_eq!(house.project.path("new.txt").exists(), answered, "{said:?}");
        }
    }
    house.kill(daemon, Signal::CONT);
    assert_eq!(house.run(&["hover", "a.scr:1:5"]).code, Some(0), "it goes on");
    assert_eq!(house.run(&["daemon", "stop"]).code, Some(0));
    house.wait_until_empty(SOON);
}
