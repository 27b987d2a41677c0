//! The commands for files and edits as a process: output, changes and exit status. No test here
//! needs a language server.

use std::io::Write;
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::support::{Project, real_servers};

const APP: &str = "import os\n\ndef greet(name):\n    return 'Hello ' + name\n\nprint(greet('you'))\n";

fn project() -> Project {
    Project::new([
        ("src/app.py", APP),
        ("src/util.py", "def greet_all():\n    pass\n"),
        ("notes.txt", "one\ntwo\n"),
    ])
}

fn run(project: &Project, arguments: &[&str]) -> Output {
    project.command(None).args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn fed(project: &Project, arguments: &[&str], input: &[u8]) -> Output {
    let mut command = project.command(None);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

fn out(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

fn err(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

/// The JSON on stdout; the whole output has nothing else.
fn answer(output: &Output) -> Value {
    assert_eq!(err(output), "");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[track_caller]
fn expect(output: &Output, status: i32, stdout: &str) {
    assert_eq!((output.status.code(), out(output)), (Some(status), stdout), "{}", err(output));
}

#[test]
fn read_command_prints_file_or_requested_lines() {
    let project = project();
    let long: String = (1..=1_000).map(|line| format!("line {line}\n")).collect();
    project.write("long.txt", &long);
    project.write("odd.txt", "a\u{1b}[2J\tb\r\nno end");
    expect(&run(&project, &["read", "notes.txt"]), 0, "one\ntwo\n");
    expect(&run(&project, &["read", "long.txt"]), 0, &long);
    expect(&run(&project, &["read", "odd.txt"]), 0, "a\u{1b}[2J\tb\r\nno end");
    expect(&run(&project, &["read", "long.txt:7"]), 0, "line 7\n");
    expect(&run(&project, &["read", "-n", "long.txt:9-11"]), 0, "9\tline 9\n10\tline 10\n11\tline 11\n");
    expect(&run(&project, &["read", "long.txt:999-"]), 0, "line 999\nline 1000\n");
    let beyond = run(&project, &["read", "notes.txt:9"]);
    expect(&beyond, 1, "");
    assert_eq!(err(&beyond), "note: the file ends at line 2\n");
    expect(&run(&project, &["read", "--outline", "src/app.py"]), 0, "3-4 function greet\n");
}

/// A file of several pages is printed whole in a few calls; pages of the tool's own size would need
/// a thousand.
#[test]
fn read_command_prints_a_long_file_whole() {
    let long: String = (1..=250_001).map(|number| format!("line {number}\n")).collect();
    let project = Project::new([("long.txt", long.as_str())]);
    let whole = run(&project, &["--no-daemon", "read", "long.txt"]);
    assert_eq!(whole.status.code(), Some(0), "{}", err(&whole));
    assert!(out(&whole) == long, "{} of {} bytes", whole.stdout.len(), long.len());
    let part = run(&project, &["--no-daemon", "read", "long.txt:249000-250000"]);
    assert_eq!(out(&part).lines().count(), 1_001);
    let calls = std::fs::read_to_string(project.beside("state").join("audit.jsonl")).unwrap();
    assert!(calls.lines().count() < 10, "{calls}");
}

#[test]
fn read_command_with_invalid_address_is_status_2() {
    let project = project();
    for (given, status) in [("gone.txt", 2), ("notes.txt:0", 2), ("notes.txt:3-2", 2), ("../config/x", 2)] {
        let output = run(&project, &["read", given]);
        expect(&output, status, "");
        assert!(err(&output).starts_with("error: "), "{given}: {output:?}");
    }
}

#[test]
fn json_format_prints_exactly_the_tool_answer() {
    let project = project();
    let call = |tool: &str, arguments: Value| {
        answer(&run(&project, &["tools", "call", tool, &arguments.to_string(), "--format", "json"]))
    };
    for (command, tool, arguments) in [
        (&["read", "src/app.py:3-4"][..], "read", json!({"path": "src/app.py", "offset": 3, "limit": 2})),
        (&["list", "src"], "list", json!({"path": "src"})),
        (&["glob", "**/*.py"], "glob", json!({"pattern": "**/*.py"})),
        (
            &["grep", "-w", "greet", "-C", "1"],
            "grep",
            json!({"pattern": "greet", "whole_word": true, "context": 1}),
        ),
        (
            &["edit", "notes.txt", "--old", "one", "--new", "1", "--dry-run"],
            "edit",
            json!({"path": "notes.txt", "edits": [{"old": "one", "new": "1"}], "dry_run": true}),
        ),
        (&["delete", "notes.txt", "--dry-run"], "delete", json!({"path": "notes.txt", "dry_run": true})),
    ] {
        let output = run(&project, &[command, &["--format", "json"]].concat());
        assert_eq!(output.status.code(), Some(0), "{command:?}");
        assert_eq!(answer(&output), call(tool, arguments), "{command:?}");
    }
    let failed = run(&project, &["read", "gone.txt", "--format", "json"]);
    assert_eq!((failed.status.code(), answer(&failed)["code"].clone()), (Some(2), json!("not_found")));
}

#[test]
fn list_and_glob_commands_print_paths_relative_to_cwd() {
    let project = project();
    expect(&run(&project, &["list"]), 0, "notes.txt\nsrc/\n");
    expect(&run(&project, &["list", "-r"]), 0, "notes.txt\nsrc/\nsrc/app.py\nsrc/util.py\n");
    expect(&run(&project, &["glob", "**/*.py"]), 0, "src/app.py\nsrc/util.py\n");
    expect(&run(&project, &["glob", "*.rs"]), 1, "");
    expect(&run(&project, &["glob", "/etc/*"]), 2, "");
    let below = |arguments: &[&str]| {
        let root = project.root();
        let mut command = project.command(None);
        command.arg("--workspace").arg(&root).args(arguments).current_dir(root.join("src"));
        command.stdin(Stdio::null()).output().unwrap()
    };
    expect(&below(&["glob", "*.py"]), 0, "app.py\nutil.py\n");
    expect(&below(&["list"]), 0, "app.py\nutil.py\n");
    expect(&below(&["grep", "-l", "greet", ".."]), 0, "app.py\nutil.py\n");
    expect(&below(&["read", "../notes.txt:1"]), 0, "one\n");
}

#[test]
fn grep_command_output_and_status_match_ripgrep() {
    let project = project();
    expect(
        &run(&project, &["grep", "-w", "greet"]),
        0,
        "src/app.py:3:def greet(name):\nsrc/app.py:6:print(greet('you'))\n",
    );
    expect(&run(&project, &["grep", "-c", "greet"]), 0, "src/app.py:2\nsrc/util.py:1\n");
    expect(&run(&project, &["grep", "-l", "-i", "GREET", "-g", "!util*"]), 0, "src/app.py\n");
    expect(
        &run(&project, &["grep", "-F", "(name)", "-A1"]),
        0,
        "src/app.py:3:def greet(name):\nsrc/app.py-4-    return 'Hello ' + name\n",
    );
    expect(&run(&project, &["grep", "-B", "1", "o", "notes.txt", "-m", "1"]), 0, "notes.txt:1:one\n");
    expect(
        &run(&project, &["grep", "-U", "one\\ntwo", "-t", "txt"]),
        0,
        "notes.txt:1:one\nnotes.txt:2:two\n",
    );
    expect(&run(&project, &["grep", "-C1", "one", "notes.txt"]), 0, "notes.txt:1:one\nnotes.txt-2-two\n");
    expect(&run(&project, &["grep", "-nH", "one", "notes.txt"]), 0, "notes.txt:1:one\n");
    expect(
        &run(&project, &["grep", "-n", "-e", "one", "-e", "t.o", "notes.txt"]),
        0,
        "notes.txt:1:one\nnotes.txt:2:two\n",
    );
    expect(&run(&project, &["grep", "-F", "-e", "t.o", "-e", "one"]), 0, "notes.txt:1:one\n");
    expect(&run(&project, &["grep", "-e", "-x"]), 1, "");
    expect(&run(&project, &["grep", "-e", "one", "notes.txt", "src"]), 2, "");
    expect(&run(&project, &["grep", "--", "-x"]), 1, "");
    expect(&run(&project, &["grep", "greet", "-T", "py"]), 1, "");
    expect(&run(&project, &["grep", "("]), 2, "");
    expect(&run(&project, &["grep", "-l", "-c", "x"]), 2, "");
    let painted = run(&project, &["grep", "-w", "one", "--color", "always"]);
    assert!(out(&painted).ends_with(":\x1b[1m\x1b[31mone\x1b[0m\n"), "{painted:?}");
}

#[test]
fn edit_command_prints_diff_and_can_be_undone() {
    let project = project();
    let edit = ["edit", "notes.txt", "--old", "one", "--new", "1", "--old", "two", "--new", "-2"];
    let tried = run(&project, &[&edit[..], &["--dry-run"]].concat());
    let diff = "--- a/notes.txt\n+++ b/notes.txt\n@@ -1,2 +1,2 @@\n-one\n-two\n+1\n+-2\n";
    expect(&tried, 0, diff);
    assert_eq!(
        (err(&tried), project.read("notes.txt").as_str()),
        ("not checked: no server for .txt files\ndry run: nothing was written\n", "one\ntwo\n")
    );
    let done = run(&project, &edit);
    expect(&done, 0, diff);
    assert_eq!(project.read("notes.txt"), "1\n-2\n");
    let told = err(&done);
    let undo = told.lines().find_map(|line| line.strip_prefix("undo with: lsp-tools undo ")).unwrap();
    let listed = run(&project, &["undo", "--list"]);
    assert!(out(&listed).contains(undo) && out(&listed).contains("modified notes.txt"), "{listed:?}");
    assert_eq!(run(&project, &["undo", undo]).status.code(), Some(0));
    assert_eq!(project.read("notes.txt"), "one\ntwo\n");
}

#[test]
fn edit_command_that_does_not_match_changes_nothing() {
    let project = project();
    for (arguments, status) in [
        (&["edit", "notes.txt", "--old", "three", "--new", "3"][..], 1),
        (&["edit", "src/app.py", "--old", "greet", "--new", "meet"], 1),
        (&["edit", "gone.txt", "--old", "a", "--new", "b"], 2),
        (&["edit", "notes.txt", "--old", "one"], 2),
        (&["edit", "notes.txt", "--old", "one", "--new", "a", "--new", "b"], 2),
        (&["write", "../outside.txt", "--content", "x"], 2),
        (&["undo"], 1),
        (&["undo", "--list"], 1),
        (&["undo", "1", "--list"], 2),
        (&["delete", "src"], 1),
    ] {
        let output = run(&project, arguments);
        assert_eq!(
            (output.status.code(), out(&output)),
            (Some(status), ""),
            "{arguments:?}: {}",
            err(&output)
        );
        assert!(!output.stderr.is_empty(), "{arguments:?}");
    }
    assert_eq!(project.read("src/app.py"), APP);
    let all = run(&project, &["edit", "src/app.py", "--old", "greet", "--new", "meet", "--all"]);
    assert_eq!(all.status.code(), Some(0), "{all:?}");
    assert_eq!(project.read("src/app.py"), APP.replace("greet", "meet"));
}

#[test]
fn write_and_patch_commands_read_stdin() {
    let project = project();
    assert_eq!(fed(&project, &["write", "new/a.txt"], "名\n".as_bytes()).status.code(), Some(0));
    assert_eq!(project.read("new/a.txt"), "名\n");
    let same = run(&project, &["write", "new/a.txt", "--content", "名\n"]);
    expect(&same, 0, "");
    assert_eq!(err(&same), "no file changed\n");
    assert_eq!(fed(&project, &["write", "b.txt"], b"\xff").status.code(), Some(2));

    let patch = "--- a/notes.txt\n+++ b/notes.txt\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n";
    let tried = fed(&project, &["patch", "--dry-run"], patch.as_bytes());
    expect(&tried, 0, patch);
    project.write("fix.diff", patch);
    assert_eq!(run(&project, &["patch", "fix.diff"]).status.code(), Some(0));
    assert_eq!(project.read("notes.txt"), "1\ntwo\n");
    let again = fed(&project, &["patch", "-"], patch.as_bytes());
    assert_eq!((again.status.code(), out(&again)), (Some(1), ""), "{again:?}");
    assert_eq!(run(&project, &["patch", "gone.diff"]).status.code(), Some(2));
}

#[test]
fn move_and_delete_commands_handle_folders() {
    let project = project();
    let moved = run(&project, &["move", "notes.txt", "src", "--no-imports"]);
    assert_eq!(moved.status.code(), Some(0), "{moved:?}");
    assert_eq!(project.read("src/notes.txt"), "one\ntwo\n");
    assert_eq!(
        run(&project, &["move", "src/notes.txt", "src/app.py", "--no-imports"]).status.code(),
        Some(1)
    );
    assert_eq!(run(&project, &["delete", "-r", "src"]).status.code(), Some(0));
    assert!(!project.path("src").exists());
    assert_eq!(run(&project, &["undo"]).status.code(), Some(0));
    assert_eq!(project.read("src/app.py"), APP);
}

#[test]
fn denied_command_exits_with_status_5() {
    let project = project();
    std::fs::write(project.beside("config").join("lsp-tools.toml"), "[permissions]\ndeny = [\"delete\"]\n")
        .unwrap();
    let output = run(&project, &["delete", "notes.txt"]);
    expect(&output, 5, "");
    assert_eq!(project.read("notes.txt"), "one\ntwo\n");
}

#[test]
fn server_commands_without_server_exit_with_status_3() {
    let project = Project::new([("a.zig", "const a = 1;\n")]);
    for arguments in [
        &["rename", "a.zig:1:a", "b"][..],
        &["actions", "a.zig:1"],
        &["actions", "a.zig"],
        &["format", "a.zig"],
        &["format", "--check", "a.zig"],
    ] {
        let output = run(&project, arguments);
        expect(&output, 3, "");
        assert!(err(&output).contains("error: "), "{arguments:?}: {output:?}");
    }
    assert_eq!(run(&project, &["actions", "a.zig:a"]).status.code(), Some(2));
    assert_eq!(run(&project, &["rename", "a.zig", "b"]).status.code(), Some(2));
    assert_eq!(project.read("a.zig"), "const a = 1;\n");
}

#[test]
#[ignore = "slow: just slow"]
fn pylsp_rename_command_and_edit_diagnostics_work() {
    let servers = real_servers(&["pylsp"]);
    let project = Project::new([("app.py", APP)]);
    let run = |arguments: &[&str]| {
        project.command(Some(&servers)).args(arguments).stdin(Stdio::null()).output().unwrap()
    };
    let broken = run(&["edit", "app.py", "--old", "+ name", "--new", "+ nme", "--dry-run", "--diagnostics"]);
    assert_eq!(broken.status.code(), Some(1), "{broken:?}");
    assert!(
        out(&broken).contains("app.py:4:") && out(&broken).contains("undefined name 'nme'"),
        "{broken:?}"
    );
    assert!(out(&broken).lines().last().unwrap().starts_with("1 new error"), "{broken:?}");

    let renamed = run(&["rename", "app.py:3:greet", "welcome"]);
    assert_eq!(renamed.status.code(), Some(0), "{renamed:?}");
    assert_eq!(project.read("app.py"), APP.replace("greet", "welcome"));
}
