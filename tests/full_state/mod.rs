//! A full disk below our own folders: stored data stays unchanged, questions are answered, and
//! failed writes are reported.

mod sweep;

use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::support::Project;

/// Mounts a small file system over each of the folders, visible to the command only, copies the
/// contents in, and fills the rest. Runs `$@`, frees space, and replaces the old contents by the
/// current ones.
const FULL: &str = r#"
set -eu
for folder in $FOLDERS; do
    mkdir -p "$folder.seen" && cp -a "$folder/." "$folder.seen"
    mount -t tmpfs -o size=256k,mode=700 tmpfs "$folder"
    cp -a "$folder.seen/." "$folder"
    cat /dev/zero > "$folder/filler" 2>/dev/null || true
done
status=0
"$@" || status=$?
for folder in $FOLDERS; do
    rm "$folder/filler"
    rm -rf "$folder.seen" && mkdir -m 700 "$folder.seen" && cp -a "$folder/." "$folder.seen"
    umount "$folder"
    rm -rf "$folder" && mv "$folder.seen" "$folder"
done
exit $status
"#;

fn alone(project: &Project, words: &[&str]) -> Output {
    project.command(None).arg("--no-daemon").args(words).output().expect("a run")
}

fn on_a_full_disk(project: &Project, words: &[&str]) -> Output {
    let own = project.command(None);
    let folders = ["state", "cache", "data"].map(|name| project.beside(name).display().to_string());
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", FULL, "sh"]).arg(own.get_program()).arg("--no-daemon").args(words);
    command.current_dir(project.root()).env("FOLDERS", folders.join(" "));
    for (name, value) in own.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.output().expect("a run")
}

fn mounts_here() -> bool {
    let tried = Command::new("unshare").args(["-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).output();
    let may = tried.is_ok_and(|output| output.status.success());
    if !may {
        crate::support::skipped("a file system of one's own needs root and unshare(1)");
    }
    may
}

fn answer(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// Asserts that it failed with a message about disk space.
fn no_space(output: &Output, what: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("fault in lsp-tools"), "{what}: {said}");
    assert!(!output.status.success(), "{what}: {output:?}");
    let words = ["No space left", "no space left"];
    assert!(words.iter().any(|words| said.contains(words)), "{what}: {said}");
}

#[test]
#[ignore = "slow: just slow"]
fn state_disk_full_kept_data_survives_and_writes_report_no_space() {
    if !mounts_here() {
        return;
    }
    let project = Project::new([("a.py", "def one(): pass\n"), (".lsp-tools/lsp-tools.toml", "")]);
    let list = |content: &str| {
        let todo = json!({"id": "1", "content": content, "status": "pending", "priority": "low"});
        json!({"session_id": "s", "todos": [todo]}).to_string()
    };
    let call = |name: &str, arguments: &str| alone(&project, &["tools", "call", name, arguments]);
    let kept = |name: &str, arguments: &str| answer(&call(name, arguments));
    let written = |name: &str, content: &str| json!({"path": name, "content": content}).to_string();

    assert!(call("todowrite", &list("old")).status.success());
    let before = kept("todoread", r#"{"session_id": "s"}"#);
    no_space(&on_a_full_disk(&project, &["tools", "call", "todowrite", &list("new")]), "todowrite");
    assert_eq!(kept("todoread", r#"{"session_id": "s"}"#), before);

    let note = |text: &str| json!({"command": "save", "path": "n.md", "content": text}).to_string();
    assert!(call("memory", &note("old")).status.success());
    no_space(&on_a_full_disk(&project, &["tools", "call", "memory", &note("new")]), "memory");
    assert_eq!(call("memory", r#"{"command": "read", "path": "n.md"}"#).stdout, b"old\n");

    no_space(&on_a_full_disk(&project, &["tools", "call", "write", &written("a.py", "other\n")]), "write");
    assert_eq!(project.read("a.py"), "def one(): pass\n");

    project.write(".lsp-tools/lsp-tools.toml", "[[hooks.pre]]\ncommand = ['true']\n");
    assert!(alone(&project, &["trust", "--yes"]).status.success());
    let store = project.beside("state").join("trust.json");
    let trusted = std::fs::read(&store).expect("the store");
    project.write(".lsp-tools/lsp-tools.toml", "[[hooks.pre]]\ncommand = ['false']\n");
    no_space(&on_a_full_disk(&project, &["trust", "--yes"]), "trust");
    assert_eq!(std::fs::read(&store).expect("the store"), trusted);
    // A missing trusted hook blocks every call, so its trust is revoked too.
    project.write(".lsp-tools/lsp-tools.toml", "");
    assert!(alone(&project, &["trust", "--revoke"]).status.success());

    // Commands that only read need no space; the log mentions the incomplete audit record.
    let read = on_a_full_disk(&project, &["tools", "call", "read", r#"{"path": "a.py"}"#]);
    assert_eq!(answer(&read)["content"], "def one(): pass\n", "{read:?}");
    let hover = on_a_full_disk(&project, &["hover", "a.py:one", "--format", "json"]);
    assert_eq!(answer(&hover)["ok"], true, "{hover:?}");
    assert!(call("write", &written("a.py", "other\n")).status.success());
}
