//! Killed in any phase, the program leaves nothing behind: no server and no children of servers.

use std::process::{Child, Stdio};
use std::time::Duration;

use crate::support::{Marker, Project, ServerLog, count_processes, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

const SOON: Duration = Duration::from_secs(60);
/// The time limit for processes after the program was killed.
const AFTERLIFE: Duration = Duration::from_secs(30);

/// A phase of the conversation: the way to reach it, and the sign that it is reached.
struct Phase {
    name: &'static str,
    scenario: Value,
    reached: fn(&ServerLog) -> bool,
    arguments: &'static [&'static str],
}

fn got(log: &ServerLog, method: &str) -> bool {
    log.count(method) > 0
}

fn phases() -> Vec<Phase> {
    let never = |method: &str| json!({"answers": {method: {"never": true}}});
    vec![
        Phase {
            name: "starting",
            // Long enough that the signal comes before the answer.
            scenario: json!({"answers": {"initialize": {"delay_ms": 3_000}}}),
            reached: |log| log.starts() > 0,
            arguments: &["hover", "a.scr:1:1"],
        },
        Phase {
            name: "initializing",
            scenario: never("initialize"),
            reached: |log| got(log, "initialize"),
            arguments: &["hover", "a.scr:1:1"],
        },
        Phase {
            name: "indexing",
            scenario: json!({"index": {"ms": 500, "never_ends": true}}),
            reached: |log| log.lines().iter().filter(|line| line["sent"] == "$/progress").count() > 2,
            arguments: &["references", "a.scr:1:5"],
        },
        Phase {
            name: "answering",
            scenario: never("textDocument/hover"),
            reached: |log| got(log, "textDocument/hover"),
            arguments: &["hover", "a.scr:1:1"],
        },
        Phase {
            name: "checking",
            scenario: json!({"diagnostics": {"mode": "none"}}),
            reached: |log| got(log, "textDocument/didOpen"),
            arguments: &["check"],
        },
        Phase {
            name: "shutting down",
            scenario: json!({"exit": "refuses"}),
            reached: |log| got(log, "shutdown"),
            arguments: &["hover", "a.scr:1:1"],
        },
    ]
}

/// A run of the program that has reached a phase, with all its processes.
struct Run {
    project: Project,
    marker: Marker,
    child: Child,
}

impl Run {
    fn at(phase: &Phase) -> Self {
        let marker = Marker::new();
        let mut scenario = phase.scenario.clone();
        scenario["fork_child"] = json!({
            "marker": marker.as_str(), "ignores_sigterm": true, "setsid": true, "holds_stdout": true
        });
        let project = Project::scripted(&scenario, "", [("a.scr", "def foo\nfoo\n"), ("b.scr", "foo\n")]);
        let mut command = project.command(None);
        command.args(phase.arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().expect("the program");
        let run = Self { project, marker, child };
        run.project.log().wait_for(phase.name, SOON, |log| (phase.reached)(log).then_some(()));
        run
    }

    fn signal(&self, signal: Signal) {
        let id = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("a pid");
        kill_process(id, signal).expect("a signal");
    }

    /// The number of living servers and children of servers.
    fn living(&self) -> usize {
        self.marker.living() + count_processes(&self.project.marker())
    }
}

#[test]
#[ignore = "slow: just slow"]
fn sigkill_in_any_phase_leaves_no_processes() {
    for phase in phases() {
        let mut run = Run::at(&phase);
        assert!(run.living() > 0, "{}", phase.name);
        run.signal(Signal::KILL);
        run.child.wait().expect("its end");
        wait_until(&format!("killed while {}: nothing is left", phase.name), AFTERLIFE, || run.living() == 0);
    }
}

#[test]
fn server_refusing_to_exit_during_initialize_dies_with_program() {
    let phase = Phase {
        name: "initializing, refusing",
        scenario: json!({"exit": "refuses", "answers": {"initialize": {"never": true}}}),
        reached: |log| got(log, "initialize"),
        arguments: &["hover", "a.scr:1:1"],
    };
    for signal in [Signal::KILL, Signal::TERM] {
        let mut run = Run::at(&phase);
        run.signal(signal);
        run.child.wait().expect("its end");
        wait_until("nothing is left", AFTERLIFE, || run.living() == 0);
    }
}

#[test]
#[ignore = "slow: just slow"]
fn sigterm_and_sigint_end_servers_before_program_exits() {
    for signal in [Signal::TERM, Signal::INT] {
        for phase in phases() {
            let mut run = Run::at(&phase);
            run.signal(signal);
            let told = format!("{signal:?} while {}", phase.name);
            let mut status = None;
            wait_until(&told, SOON, || {
                status = run.child.try_wait().expect("its end");
                status.is_some()
            });
            let code = status.and_then(|status| status.code());
            if phase.name == "shutting down" {
                // It already has its answer; the signal only ends its wait for the servers.
                assert_eq!(code, Some(0), "{told}");
                wait_until(&format!("{told}: nothing is left"), AFTERLIFE, || run.living() == 0);
            } else {
                // Servers end before the program: after it has ended nothing is running.
                assert_eq!((code, run.living()), (Some(130), 0), "{told}");
            }
        }
    }
}
