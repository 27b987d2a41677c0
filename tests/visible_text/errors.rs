//! The codes and sentences of failures: a table per group.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::shop::{package, settings};
use super::{answer, compare, model, say, steady_section};
use crate::support::Project;

#[test]
fn failures_of_tools_read_as_recorded() {
    let sections =
        [paths(), places_and_names(), arguments(), edits(), conflicts(), missing_servers(), policy()];
    compare("errors_tools", &sections);
}

#[test]
fn refused_command_lines_read_as_recorded() {
    compare("errors_command_line", &[usage(), addresses(), calls()]);
}

/// The messages of failed calls in one project, in order.
fn failures(group: &str, project: &Project, calls: &[(&str, Value)]) -> String {
    let mut client = model(project);
    let all: Vec<String> =
        calls.iter().map(|(tool, arguments)| answer(&mut client, tool, arguments)).collect();
    steady_section(group, project, &all.join("\n"))
}

fn paths() -> String {
    let project = package();
    settings(&project, &[], "[limits]\nmax-file-bytes = 10000\n");
    project.write("large.txt", "x".repeat(20_000));
    project.write("picture.bin", b"\0\x01\x02");
    project.write("latin.txt", b"caf\xe9\n");
    std::fs::create_dir(project.beside("outside")).expect("a folder");
    std::fs::write(project.beside("outside").join("file.py"), "").expect("a file");
    symlink(project.beside("outside"), project.path("door")).expect("a link");
    let edits = json!([{"old": "a", "new": "b"}]);
    failures(
        "paths",
        &project,
        &[
            ("read", json!({"path": "greet/gone.py"})),
            ("read", json!({"path": "greet/mesages.py"})),
            ("read", json!({"path": "greet"})),
            ("read", json!({"path": "../outside/file.py"})),
            ("read", json!({"path": "/etc/passwd"})),
            ("read", json!({"path": "door/file.py"})),
            ("read", json!({"path": ""})),
            ("read", json!({"path": "picture.bin"})),
            ("read", json!({"path": "latin.txt"})),
            ("list", json!({"path": "greet/app.py"})),
            ("list", json!({"path": "gone"})),
            ("glob", json!({"pattern": "*", "path": "gone"})),
            ("glob", json!({"pattern": "../*"})),
            ("grep", json!({"pattern": "x", "path": "gone"})),
            ("lsp_hover", json!({"path": "gone.py", "line": 0, "character": 0})),
            ("lsp_symbols", json!({"path": "greet"})),
            ("lsp_diagnostics", json!({"path": "gone"})),
            ("explore", json!({"symbol": "compose", "only": ["gone"]})),
            ("write", json!({"path": "greet", "content": ""})),
            ("write", json!({"path": "../outside/file.py", "content": ""})),
            ("write", json!({"path": ".git/config", "content": ""})),
            ("edit", json!({"path": "gone.py", "edits": edits})),
            ("edit", json!({"path": "picture.bin", "edits": edits})),
            ("edit", json!({"path": "large.txt", "edits": edits})),
            ("move", json!({"from": "gone.py", "to": "there.py"})),
            ("move", json!({"from": "greet/app.py", "to": "greet/people.py"})),
            ("delete", json!({"path": "gone.py"})),
            ("delete", json!({"path": "greet"})),
            ("mkdir", json!({"path": "greet/app.py"})),
        ],
    )
}

fn places_and_names() -> String {
    let app = |more: Value| {
        let mut at = json!({"path": "greet/app.py"});
        more.as_object().expect("an object").iter().for_each(|(key, value)| at[key] = value.clone());
        at
    };
    failures(
        "places",
        &package(),
        &[
            ("lsp_hover", app(json!({"line": 99, "character": 0}))),
            ("lsp_hover", app(json!({"line": 8, "character": 999}))),
            ("lsp_hover", app(json!({"line": 1, "character": 0}))),
            ("lsp_hover", app(json!({"line": 8, "symbol": "nobody"}))),
            ("lsp_hover", app(json!({"symbol": "nobody"}))),
            ("lsp_hover", app(json!({"symbol": "greet_al"}))),
            ("lsp_hover", app(json!({"line": 8}))),
            ("lsp_hover", app(json!({"character": 8}))),
            ("lsp_hover", app(json!({}))),
            ("lsp_hover", json!({"line": 8, "character": 0})),
            ("lsp_hover", json!({})),
            ("lsp_hover", json!({"symbol": "nobody"})),
            ("lsp_hover", json!({"symbol": "compos"})),
            ("lsp_hover", json!({"symbol": "title"})),
            ("lsp_definition", json!({"symbol": "Gest.title"})),
            ("explore", json!({"symbol": "title"})),
            ("explore", json!({"symbol": "nobody"})),
            ("edit_symbol", json!({"symbol": "title", "delete": true})),
            ("edit_symbol", json!({"symbol": "nobody", "delete": true})),
            ("read", json!({"path": "greet/app.py", "symbol": "nobody"})),
            ("read", json!({"path": "greet/app.py", "offset": 99})),
            ("lsp_symbols", json!({})),
        ],
    )
}

fn arguments() -> String {
    failures(
        "arguments",
        &package(),
        &[
            ("raed", json!({"path": "greet/app.py"})),
            ("read", json!({})),
            ("read", json!({"path": 1})),
            ("read", json!({"path": "greet/app.py", "ofset": 1})),
            ("read", json!({"path": "greet/app.py", "offset": 0})),
            ("read", json!({"path": "greet/app.py", "limit": 0})),
            ("list", json!({"limit": 0})),
            ("grep", json!({"pattern": "("})),
            ("grep", json!({"pattern": "(?=x)"})),
            ("grep", json!({"pattern": ""})),
            ("grep", json!({"pattern": "x", "type": "pyton"})),
            ("grep", json!({"pattern": "x", "case": "loud"})),
            ("glob", json!({"pattern": "[a"})),
            ("lsp_references", json!({"symbol": "compose", "limit": 0})),
            ("lsp_calls", json!({"symbol": "compose"})),
            ("lsp_calls", json!({"symbol": "compose", "direction": "up"})),
            ("lsp_calls", json!({"symbol": "compose", "direction": "incoming", "depth": 11})),
            ("explore", json!({"symbol": "compose", "budget": 10})),
            ("explore", json!({"symbol": "compose", "budget": 1_000_000})),
            ("lsp_diagnostics", json!({"min_severity": "fatal"})),
            ("lsp_rename", json!({"symbol": "compose", "new_name": "two words"})),
            ("lsp_rename", json!({"symbol": "compose"})),
            ("lsp_format", json!({"path": "greet/app.py", "start_line": 5, "end_line": 2})),
            ("edit", json!({"path": "greet/app.py", "edits": []})),
            ("edit", json!({"path": "greet/app.py", "edits": [{"old": "main"}]})),
            ("edit_symbol", json!({"symbol": "main"})),
            ("edit_symbol", json!({"symbol": "main", "body": "x", "delete": true})),
            ("fix", json!({"kind": "quickfix", "paths": ["greet"]})),
            ("undo", json!({"id": "newest"})),
            ("undo", json!({"id": "e99"})),
            ("undo", json!({"group": "none"})),
            ("undo", json!({})),
        ],
    )
}

fn edits() -> String {
    let project = package();
    let edit = |old: &str, new: &str| json!({"path": "greet/app.py", "edits": [{"old": old, "new": new}]});
    let patch = |text: &str| json!({"patch": text});
    let head = "--- a/greet/app.py\n+++ b/greet/app.py\n";
    failures(
        "edits",
        &project,
        &[
            ("edit", edit("nowhere to be found", "x")),
            ("edit", edit("def greet_all(people: list[Guest])", "x")),
            ("edit", edit("print(", "log(")),
            ("edit", edit("main", "main")),
            ("edit", edit("", "x")),
            ("edit", edit("def main() -> None:\n  \"\"\"Greet", "x")),
            ("patch", patch("no patch")),
            ("patch", patch("")),
            ("patch", patch(&format!("{head}@@ -1,1 +1,1 @@\n-Not there.\n+There.\n"))),
            ("patch", patch(&format!("{head}@@ -1,2 +1,1 @@\n-cut"))),
            ("patch", patch("--- a/gone.py\n+++ b/gone.py\n@@ -1 +1 @@\n-a\n+b\n")),
            ("patch", patch("*** Begin Patch\n*** Add File: greet/app.py\n+x\n*** End Patch\n")),
            ("patch", patch("*** Begin Patch\n*** Delete File: gone.py\n*** End Patch\n")),
            ("edit_symbol", json!({"symbol": "compose", "delete": true})),
            ("edit_symbol", json!({"symbol": "main", "body": "def main(:\n    pass\n"})),
            ("edit_symbol", json!({"symbol": "main", "body": ""})),
            ("move_symbol", json!({"symbol": "main", "to": "greet/app.py"})),
        ],
    )
}

/// An edit that cannot be taken back.
fn conflicts() -> String {
    let project = package();
    let mut client = model(&project);
    let write = json!({"path": "new.txt", "content": "ours\n"});
    let mut all = vec![answer(&mut client, "write", &write)];
    project.write("new.txt", "theirs\n");
    all.push(answer(&mut client, "undo", &json!({})));
    steady_section("conflicts", &project, &all.join("\n"))
}

/// Calls that only a server can answer.
fn missing_servers() -> String {
    let at = json!({"path": "greet/app.py", "line": 8, "character": 20});
    let mut named = at.clone();
    named["new_name"] = json!("other");
    failures(
        "missing_servers",
        &package(),
        &[
            ("lsp_signature", at.clone()),
            ("lsp_completion", at),
            ("lsp_rename", named),
            ("lsp_types", json!({"symbol": "Guest", "direction": "subtypes"})),
            ("lsp_format", json!({"path": "greet/app.py"})),
            ("lsp_code_actions", json!({"path": "greet/app.py", "line": 8})),
            ("fix", json!({"kind": "source.fixAll", "paths": ["greet"]})),
            ("lsp_diagnostics", json!({"path": "pyproject.toml"})),
        ],
    )
}

/// Refusals by rules.
fn policy() -> String {
    let project = package();
    settings(&project, &[], "[permissions]\ndeny = [\"write(greet)\", \"grep\"]\n");
    failures(
        "policy",
        &project,
        &[
            ("write", json!({"path": "greet/new.py", "content": ""})),
            ("grep", json!({"pattern": "x"})),
            ("write", json!({"path": ".git/hooks/pre-commit", "content": ""})),
            ("write", json!({"path": ".lsp-tools/servers.toml", "content": ""})),
            ("bash", json!({"command": "rm -rf greet"})),
            ("fetch_web_page", json!({"url": "http://127.0.0.1/"})),
            ("fetch_web_page", json!({"url": "file:///etc/passwd"})),
        ],
    )
}

/// The messages of refused command lines in one project, in order.
fn refusals(group: &str, project: &Project, commands: &[&[&str]]) -> String {
    let all: Vec<String> = commands.iter().map(|words| say(project, words)).collect();
    steady_section(group, project, &all.join("\n"))
}

/// Wrong usage.
fn usage() -> String {
    refusals(
        "usage",
        &package(),
        &[
            &["hoover", "a.py"],
            &["hover"],
            &["hover", "greet/app.py:9:13", "--timeout", "soon"],
            &["hover", "greet/app.py:9:13", "--format", "sarif"],
            &["references", "greet/app.py:9:13", "--limit", "0"],
            &["edit", "greet/app.py", "--old", "a"],
        ],
    )
}

/// Invalid addresses.
fn addresses() -> String {
    refusals(
        "addresses",
        &package(),
        &[
            &["hover", ""],
            &["hover", "greet/app.py"],
            &["hover", "greet/app.py:9"],
            &["hover", "greet/app.py:0:1"],
            &["hover", "greet/app.py:99:1"],
            &["hover", "greet/app.py:9:999"],
            &["hover", "greet/app.py:9:nobody"],
            &["hover", "greet/app.py:2:1"],
            &["hover", "nobody"],
            &["hover", "title"],
            &["hover", "greet/gone.py:1:1"],
            &["hover", "../outside.py:1:1"],
            &["actions", "greet/app.py:main"],
        ],
    )
}

/// Commands that fail or are refused.
fn calls() -> String {
    let project = package();
    settings(&project, &[], "[permissions]\ndeny = [\"write(greet)\", \"grep\"]\n");
    refusals(
        "calls",
        &project,
        &[
            &["check", "gone"],
            &["explore", "compose", "--budget", "10"],
            &["explore", "compose", "--only", "gone"],
            &["rename", "compose", "two words"],
            &["write", "greet/new.py", "--content", ""],
            &["grep", "x"],
            &["tools", "call", "raed", "{}"],
            &["tools", "call", "read", "no json"],
            &["tools", "call", "read", "{\"path\": 1}"],
            &["patch", "gone.diff"],
            &["undo"],
        ],
    )
}
