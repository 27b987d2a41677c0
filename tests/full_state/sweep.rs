//! Every system call that changes our stores, failing one after the other. Afterwards a store has
//! the old or the new content, and the command reports which. Takes some minutes; needs strace, and
//! runs only on request.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use super::answer;
use crate::support::{Project, copy_folder};

/// The system calls that change or sync names and contents.
const CALLS: [&str; 9] =
    ["openat", "write", "fsync", "fdatasync", "rename", "mkdir", "unlink", "fchmod", "ftruncate"];
const FAULTS: [&str; 3] = ["error=EIO", "error=ENOSPC", "signal=KILL"];
/// The maximum number of these calls before a command writes its store.
const MOST: u64 = 200;

/// The subject of a sweep: a command that changes a store, and the way to read the store
/// afterwards.
struct Store {
    name: &'static str,
    /// Writes the old content.
    old: fn(&Project),
    /// Changes it.
    change: &'static [&'static str],
    /// The content, in a form that differs between old and new.
    held: fn(&Project) -> String,
}

const STORES: [Store; 4] = [
    Store {
        name: "todos",
        old: |project| done(&run(project, &["tools", "call", "todowrite", TODO_OLD])),
        change: &["tools", "call", "todowrite", TODO_NEW],
        held: |project| {
            let read = answer(&run(project, &["tools", "call", "todoread", r#"{"session_id": "s"}"#]));
            read["items"][0]["content"].as_str().unwrap_or_else(|| panic!("{read}")).to_owned()
        },
    },
    Store {
        name: "memories",
        old: |project| done(&run(project, &["tools", "call", "memory", MEMORY_OLD])),
        change: &["tools", "call", "memory", MEMORY_NEW],
        held: |project| {
            let read = run(project, &["tools", "call", "memory", r#"{"command": "read", "path": "n.md"}"#]);
            done(&read);
            String::from_utf8_lossy(&read.stdout).trim().to_owned()
        },
    },
    Store {
        name: "trust",
        old: |project| {
            project.write(SETTINGS, "[[hooks.pre]]\ncommand = ['true']\n");
            done(&run(project, &["trust", "--yes"]));
            project.write(SETTINGS, "[[hooks.pre]]\ncommand = ['true', 'new']\n");
        },
        change: &["trust", "--yes"],
        held: |project| {
            let text = fs::read(project.beside("state").join("trust.json")).expect("the store");
            let store: Value = serde_json::from_slice(&text).expect("a store that is whole");
            let projects = store["projects"].as_object().expect("projects");
            assert_eq!(projects.len(), 1, "{store}");
            // Trusted programs are known by their hash; with the earlier settings, the old one
            // applies.
            let trusted = answer(&run(project, &["policy", "check", "read", "{}", "--format", "json"]));
            assert!(trusted.is_object(), "{trusted}");
            String::from_utf8(text).expect("UTF-8")
        },
    },
    Store {
        name: "audit",
        old: |project| {
            let settings = "[audit]\nmax-bytes = 10000\n[permissions]\nallow = [\"*\"]\n";
            fs::write(project.beside("config").join("lsp-tools.toml"), settings).expect("settings");
            // Enough that the next line rotates the log.
            let line = json!({"tool": "old", "session": "x".repeat(400)}).to_string() + "\n";
            fs::write(project.beside("state").join("audit.jsonl"), line.repeat(24)).expect("a log");
        },
        change: &["tools", "call", "read", r#"{"path": "a.py"}"#],
        held: |project| {
            let log = |name: &str| fs::read_to_string(project.beside("state").join(name)).unwrap_or_default();
            let all = log("audit.jsonl.1") + &log("audit.jsonl");
            let entries: Vec<Value> =
                all.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
            assert!(
                entries.iter().filter(|entry| entry["tool"] == "old").count() == 24,
                "old entries are gone"
            );
            let whole = entries.len() + usize::from(entries.len() < all.lines().count());
            assert_eq!(whole, all.lines().count(), "more than one line is torn");
            format!("{} entries", entries.len())
        },
    },
];

const SETTINGS: &str = ".lsp-tools/lsp-tools.toml";
const TODO_OLD: &str = r#"{"session_id": "s", "todos": [{"id": "1", "content": "old", "status": "pending", "priority": "low"}]}"#;
const TODO_NEW: &str = r#"{"session_id": "s", "todos": [{"id": "1", "content": "new", "status": "pending", "priority": "low"}]}"#;
const MEMORY_OLD: &str = r#"{"command": "save", "path": "n.md", "content": "old"}"#;
const MEMORY_NEW: &str = r#"{"command": "save", "path": "n.md", "content": "new"}"#;

fn run(project: &Project, words: &[&str]) -> Output {
    project.command(None).args(words).output().expect("a run")
}

fn done(output: &Output) {
    assert!(output.status.success(), "{output:?}");
}

#[test]
#[ignore = "minutes, and needs strace: cargo test full_state::sweep -- --ignored --nocapture"]
fn store_write_with_syscall_fault_leaves_old_or_new_content() {
    for store in &STORES {
        let project = Project::new([("a.py", "def one(): pass\n"), (SETTINGS, "")]);
        fs::create_dir_all(project.beside("state")).expect("a folder");
        private(&project.beside("state"));
        (store.old)(&project);
        let old = (store.held)(&project);
        let kept = project.beside("kept");
        copy_folder(&project.beside("state"), &kept);
        let paths = paths_of(&project, store.change);
        let new = (store.held)(&project);
        assert_ne!(old, new, "{}", store.name);
        let (mut tries, mut told_old, mut told_new) = (0, 0, 0);
        for (call, fault) in CALLS.iter().flat_map(|call| FAULTS.map(|fault| (*call, fault))) {
            for number in 1..MOST {
                restore(&project, &kept);
                let (output, was_met) = with_fault(&project, store.change, &paths, (call, fault, number));
                if !was_met {
                    break;
                }
                tries += 1;
                let context = format!("{}: {call} {fault} at {number}: {output:?}", store.name);
                let said = String::from_utf8_lossy(&output.stderr);
                assert!(!said.contains("panicked") && !said.contains("fault in lsp-tools"), "{context}");
                let held = (store.held)(&project);
                assert!(held == old || held == new || store.name == "audit", "{context}\n{held}");
                if output.status.success() && store.name != "audit" {
                    assert_eq!(held, new, "{context}");
                }
                if output.status.code().is_some_and(|code| code != 0) {
                    assert!(
                        !said.trim().is_empty() || !output.stdout.is_empty(),
                        "it says nothing: {context}"
                    );
                }
                *(if held == old { &mut told_old } else { &mut told_new }) += 1;
                // The remaining files have no effect.
                done(&run(&project, store.change));
                if store.name != "audit" {
                    assert_eq!((store.held)(&project), new, "{context}");
                }
            }
        }
        println!(
            "{}: {tries} faults met, {told_old} times the old is there, {told_new} times the new",
            store.name
        );
        assert!(tries > 20 && told_old > 0 && told_new > 0, "{}: {tries}", store.name);
    }
}

fn private(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).expect("a mode");
}

/// The original state folder.
fn restore(project: &Project, kept: &Path) {
    let state = project.beside("state");
    fs::remove_dir_all(&state).expect("a folder");
    copy_folder(kept, &state);
    private(&state);
}

/// The command under strace, which records the calls named `calls`.
fn traced(project: &Project, words: &[&str], calls: &str, more: &[String]) -> (Output, String) {
    let log = project.beside("logs").join("strace");
    let own = project.command(None);
    let mut command = Command::new("strace");
    command
        .args(["-f", "-qq", "-s", "4096", "-e"])
        .arg(format!("trace={calls}"))
        .args(more)
        .arg("-o")
        .arg(&log);
    command.arg(own.get_program()).args(words).current_dir(project.root());
    for (name, value) in own.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    let output = command.output().expect("strace is needed");
    (output, fs::read_to_string(log).unwrap_or_default())
}

/// The files and folders of the state folder that the command uses.
fn paths_of(project: &Project, words: &[&str]) -> BTreeSet<String> {
    let (output, log) = traced(project, words, "%file", &[]);
    done(&output);
    let state = project.beside("state").display().to_string();
    let named = log.split('"').skip(1).step_by(2).filter(|path| path.starts_with(&state));
    named.map(str::to_owned).collect()
}

/// Runs the command with a fault at the call of that number on one of `paths`; returns whether it
/// got that far.
fn with_fault(
    project: &Project,
    words: &[&str],
    paths: &BTreeSet<String>,
    (call, fault, number): (&str, &str, u64),
) -> (Output, bool) {
    let calls = format!("/^{call}");
    let inject = format!("inject={calls}:{fault}:when={number}");
    let filter = paths.iter().flat_map(|path| ["-P".to_owned(), path.clone()]);
    let more: Vec<String> = ["-e".to_owned(), inject].into_iter().chain(filter).collect();
    let (output, log) = traced(project, words, &calls, &more);
    (output, log.contains("INJECTED") || log.contains("killed by SIGKILL"))
}
