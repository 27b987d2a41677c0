//! Commands have the same output on both streams and the same status with and without the daemon.

use std::fs;
use std::process::Stdio;

use serde_json::json;

use super::house::{House, Said, said};
use crate::support::Project;

fn house() -> House {
    let files = [
        ("a.scr", "def foo\nfoo WRONG\n"),
        ("b.scr", "foo\nbar\n"),
        ("src/deep.scr", "def bar\nbar foo\n"),
        ("notes.md", "# Notes\n\nfoo and bar\n"),
        ("app.py", "def greet(name):\n    return name\n\n\ngreet(1)\n"),
        ("binary.scr", "x\0y"),
        (".git/HEAD", "ref: refs/heads/main\n"),
    ];
    let house = House::of(Project::scripted(&json!({"hover_version": false}), "", files));
    // No installed server answers for Python, so these answers come from text search.
    fs::write(house.project.beside("config").join("lsp-tools.toml"), "[limits]\nanswer-items = 50\n")
        .unwrap();
    house
}

/// Differences between any two runs: the temporary folder, and the names of undo steps.
fn same(house: &House, said: Said) -> Said {
    let base = house.project.beside("").to_string_lossy().into_owned();
    let ids = |text: String| {
        let text = text.replace(base.trim_end_matches('/'), "@");
        let mut out = String::new();
        for word in
            text.split_inclusive(|character: char| !(character.is_ascii_alphanumeric() || character == '-'))
        {
            let (name, rest) = word
                .split_at(word.trim_end_matches(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).len());
            let digits = name.bytes().filter(u8::is_ascii_digit).count();
            out.push_str(if name.len() >= 12 && digits >= 4 { "ID" } else { name });
            out.push_str(rest);
        }
        out
    };
    let numbers = |text: String| {
        let mut out = String::new();
        for line in text.split_inclusive('\n') {
            // Durations differ in every run.
            let varies = ["waited_ms", "duration_ms", "\"pid\"", "memory_bytes", "latency"]
                .iter()
                .any(|key| line.contains(key));
            out.push_str(if varies { "…\n" } else { line });
        }
        out
    };
    Said { code: said.code, out: numbers(ids(said.out)), err: numbers(ids(said.err)) }
}

/// The answer of an undo without its diagnostics: these need a running server, and without the
/// daemon none is running.
fn without_judgement(said: Said) -> Said {
    let is_judgement = |line: &&str| line.starts_with("no new problems") || line.starts_with("not checked: ");
    let others = |text: String| text.split_inclusive('\n').filter(|line| !is_judgement(line)).collect();
    Said { code: said.code, out: others(said.out), err: others(said.err) }
}

/// Runs each of `commands` in two equal projects, in one of them through the daemon.
fn compare(commands: &[&[&str]]) {
    let (shared, alone) = (house(), house());
    for words in commands {
        let through = same(&shared, shared.run(words));
        let by_itself = same(&alone, alone.run_alone(words));
        match words[0] {
            "undo" => {
                assert_eq!(without_judgement(through.clone()), without_judgement(by_itself), "{words:?}")
            }
            _ => assert_eq!(through, by_itself, "{words:?}"),
        }
        assert!(!through.err.contains("without the daemon"), "{through:?}");
    }
    assert_eq!((shared.daemons().len(), alone.daemons().len()), (1, 0));
}

#[test]
#[ignore = "slow: just slow"]
fn query_commands_with_and_without_daemon_print_the_same() {
    compare(&[
        &["hover", "a.scr:1:5"],
        &["hover", "a.scr:2:foo", "--format", "json"],
        &["hover", "a.scr:9:9"],
        &["hover", "nosuch.scr:1:1"],
        &["hover", "../outside.scr:1:1"],
        &["hover", "binary.scr:1:1"],
        &["hover", "a.scr"],
        &["definition", "b.scr:1:foo"],
        &["definition", "b.scr:1:foo", "--color", "always"],
        &["definition", "b.scr:1:nosuch"],
        &["declaration", "b.scr:1:foo"],
        &["type-definition", "b.scr:1:foo"],
        &["implementation", "b.scr:1:foo"],
        &["references", "a.scr:1:foo"],
        &["references", "a.scr:1:foo", "--limit", "1"],
        &["symbols", "a.scr"],
        &["symbols", "nosuch"],
        &["calls", "a.scr:1:foo"],
        &["types", "a.scr:1:foo"],
        &["signature", "a.scr:1:5"],
        &["completion", "a.scr:1:5"],
        &["check", "a.scr"],
        &["check"],
        &["check", "b.scr"],
        &["check", "a.scr", "--format", "sarif"],
        &["check", "a.scr", "--format", "github"],
        &["check", "--format", "gitlab"],
        &["check", "--format", "junit"],
        &["check", "nosuch"],
    ]);
}

#[test]
#[ignore = "slow: just slow"]
fn file_and_tool_commands_with_and_without_daemon_print_the_same() {
    compare(&[
        &["read", "a.scr"],
        &["read", "a.scr:2"],
        &["read", "binary.scr"],
        &["read", "app.py", "--outline"],
        &["read", "nosuch"],
        &["read", "/etc/passwd"],
        &["list"],
        &["list", "src", "--format", "json"],
        &["glob", "**/*.scr"],
        &["grep", "foo"],
        &["grep", "foo", "src", "--color", "always"],
        &["grep", "(", "--format", "json"],
        &["grep", "nowhere-to-be-found"],
        &["tools", "list"],
        &["tools", "schema", "--format", "openai"],
        &["tools", "show", "read"],
        &["tools", "call", "read", r#"{"path": "a.scr"}"#],
        &["tools", "call", "read", r#"{"path": 1}"#],
        &["tools", "call", "raed", "{}"],
        &["tools", "call", "read", "no json"],
        &["tools", "call", "bash", r#"{"command": "echo out; echo err >&2; exit 3"}"#],
        &[
            "tools",
            "call",
            "todowrite",
            r#"{"todos": [{"id": "1", "content": "c", "status": "pending", "priority": "low"}]}"#,
        ],
        &["tools", "call", "todoread"],
        &["policy", "check", "--", "rm", "-rf", "."],
        &["policy", "check", "write", r#"{"path": "a.scr", "content": ""}"#],
        &["--format", "sarif", "hover", "a.scr:1:1"],
        &["hover"],
        &["nosuch"],
        &["--help"],
    ]);
}

/// Always with `--diagnostics`: by default, an edit reports diagnostics only if a server is already
/// running.
#[test]
#[ignore = "slow: just slow"]
fn edit_commands_with_and_without_daemon_print_the_same() {
    compare(&[
        &["edit", "a.scr", "--old", "foo WRONG", "--new", "foo", "--dry-run", "--diagnostics"],
        &["edit", "a.scr", "--old", "nowhere", "--new", "x"],
        &["edit", "a.scr", "--old", "foo WRONG", "--new", "foo right", "--diagnostics"],
        &["write", "new.scr", "--content", "def new\n", "--diagnostics"],
        &["write", "../outside.scr", "--content", "x"],
        &["rename", "src/deep.scr:1:bar", "baz", "--dry-run", "--diagnostics"],
        &["move", "new.scr", "src", "--format", "json", "--diagnostics"],
        &["delete", "src/new.scr", "--diagnostics"],
        &["delete", "src"],
        &["undo"],
        &["format", "a.scr", "--check"],
        &["actions", "a.scr:1"],
        &["patch", "nosuch.diff"],
        &["read", "a.scr"],
    ]);
}

#[test]
#[ignore = "slow: just slow"]
fn piped_stdin_with_and_without_daemon_is_the_same() {
    let (shared, alone) = (house(), house());
    let patch = "--- a/a.scr\n+++ b/a.scr\n@@ -1,2 +1,2 @@\n-def foo\n+def other\n foo WRONG\n";
    let large = "line of text\n".repeat(400_000);
    for (words, input) in [
        (&["patch", "--diagnostics"][..], patch),
        (&["patch", "-"], "not a patch"),
        (&["write", "large.txt"], large.as_str()),
        (&["write", "empty.txt"], ""),
        (&["tools", "call", "read", "-"], r#"{"path": "b.scr"}"#),
    ] {
        let through = same(&shared, said(shared.command(words), input, &words.join(" ")));
        let mut command = alone.command(words);
        command.env("LSP_TOOLS_NO_DAEMON", "1");
        assert_eq!(through, same(&alone, said(command, input, &words.join(" "))), "{words:?}");
    }
    assert_eq!(shared.project.read("large.txt"), large);
    let mut command = shared.command(&["write", "bad.txt"]);
    command.stdin(Stdio::from(fs::File::open("/bin/sh").unwrap()));
    assert!(said(command, "", "write").err.contains("the text cannot be read from stdin: invalid utf-8"));
}

#[test]
fn daemon_command_uses_cwd_and_locale_of_its_client() {
    let (shared, alone) = (house(), house());
    let run = |house: &House, words: &[&str], by_itself: bool| {
        let mut command = house.command(words);
        command
            .current_dir(house.project.path("src"))
            .env("LC_ALL", "zh_CN.UTF-8")
            .env("PATH", "/usr/bin:/bin");
        if by_itself {
            command.env("LSP_TOOLS_NO_DAEMON", "1");
        }
        same(house, said(command, "", "references"))
    };
    let words = ["references", "deep.scr:1:bar"];
    let through = run(&shared, &words, false);
    assert_eq!(through, run(&alone, &words, true));
    assert!(through.out.contains("deep.scr") && !through.out.contains("src/deep.scr"), "{through:?}");
    let words = ["references", "../app.py:1:greet"];
    let through = run(&shared, &words, false);
    assert_eq!(through, run(&alone, &words, true));
    assert!(through.err.contains("python: pylsp 未安装"), "{through:?}");
    let mut command = shared.command(&["references", "app.py:1:greet"]);
    command.env("LC_ALL", "C").env("PATH", "/usr/bin:/bin");
    let english = same(&shared, said(command, "", "references"));
    assert!(english.err.contains("python: pylsp not installed"), "{english:?}");
    assert_eq!(shared.daemons().len(), 1, "two languages, one daemon");
}
