//! A system with few resources: few processes, few open files, no watches. Answers come in time,
//! are right or state what they lack, and errors say what to do.

mod clock;
mod fork;

use std::os::unix::fs::chown;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::Project;

/// A user without other processes: limits on processes count per user, and not for root.
const NOBODY: u32 = 54_321;
/// Much longer than any of these commands takes.
const LONGEST: Duration = Duration::from_secs(60);

fn project() -> Project {
    Project::new([("src/a.py", "def one(): pass\n"), ("src/b.py", "def two(): one()\n")])
}

/// The command line `words`, started by `before` (`prlimit --nofile=16`).
fn run(project: &Project, before: &[&str], words: &[&str]) -> (Output, Duration) {
    let own = project.command(None);
    let mut command = Command::new(before[0]);
    command.args(&before[1..]).arg(own.get_program()).args(["--no-daemon", "--timeout", "5"]).args(words);
    command.current_dir(project.root()).env_clear();
    for (name, value) in own.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    let begun = Instant::now();
    let output = command.output().expect("a run");
    (output, begun.elapsed())
}

fn give_to(path: &Path, user: u32) {
    chown(path, Some(user), Some(user)).expect("an owner");
    if path.is_dir() {
        std::fs::read_dir(path).expect("a folder").flatten().for_each(|entry| give_to(&entry.path(), user));
    }
}

/// Asserts an answer, or an error whose advice contains `advice`; never an internal error.
fn told(output: &Output, took: Duration, advice: &str, when: &str) -> bool {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(took < LONGEST, "{when}: {took:?}: {said}");
    assert!(!said.contains("fault in lsp-tools") && !said.contains("panicked"), "{when}: {said}");
    let answered = output.status.code().is_some_and(|code| code <= 3);
    assert!(answered || said.contains(advice), "{when}: {:?}: {said}", output.status);
    answered
}

#[test]
#[ignore = "slow: just slow"]
fn process_limit_reached_command_answers_or_names_ulimit() {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root || which::which("setpriv").is_err() || which::which("prlimit").is_err() {
        crate::support::skipped("another user's limits need root, setpriv and prlimit");
        return;
    }
    let project = project();
    give_to(project.root().parent().and_then(Path::parent).expect("the folder of the test"), NOBODY);
    let reads = ["tools", "call", "read", "{\"path\":\"src/a.py\"}"];
    let searches = ["tools", "call", "grep", "{\"pattern\":\"def\"}"];
    let asks = ["hover", "src/a.py:one"];
    let mut answered = 0;
    for number in [1, 2, 3, 4, 5, 6, 8, 16, 64] {
        let (limit, user) = (format!("--nproc={number}"), NOBODY.to_string());
        let before = ["prlimit", &limit, "setpriv", "--reuid", &user, "--regid", &user, "--clear-groups"];
        for words in [&reads[..], &searches, &asks] {
            let when = format!("{number} processes, {words:?}");
            let (output, took) = run(&project, &before, words);
            answered += usize::from(told(&output, took, "ulimit -u", &when));
        }
    }
    assert!(answered > 3, "with enough of them all is answered: {answered}");
}

#[test]
#[ignore = "slow: just slow"]
fn open_file_limit_reached_command_answers_or_names_ulimit() {
    if which::which("prlimit").is_err() {
        crate::support::skipped("prlimit is not there");
        return;
    }
    let project = project();
    let mut least = u32::MAX;
    for number in (10..=32).rev() {
        let limit = format!("--nofile={number}");
        for words in [&["tools", "call", "read", "{\"path\":\"src/a.py\"}"][..], &["hover", "src/a.py:one"]] {
            let (output, took) = run(&project, &["prlimit", &limit], words);
            if told(&output, took, "ulimit -n", &format!("{number} files, {words:?}")) {
                least = least.min(number);
            }
        }
    }
    assert!(least <= 18, "answers need {least} open files");
}

#[test]
fn inotify_limit_zero_command_still_answers() {
    for limit in ["max_inotify_instances", "max_inotify_watches"] {
        let project = project();
        let script = format!("echo 0 > /proc/sys/user/{limit} && exec \"$@\"");
        let before = ["unshare", "-Ur", "sh", "-c", &script, "sh"];
        let (tried, _) = run(&project, &before, &["--version"]);
        if !tried.status.success() {
            crate::support::skipped("limits of a user namespace cannot be set here");
            return;
        }
        let (output, took) = run(&project, &before, &["hover", "src/a.py:one", "--format", "json"]);
        assert!(told(&output, took, "inotify", limit));
        let answer: Value = serde_json::from_slice(&output.stdout).expect("an answer");
        assert_eq!(answer["ok"], true, "{limit}: {answer}");
    }
}
