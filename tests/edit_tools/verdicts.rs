//! The verdict of every edit: without a server for the file, during the server's start, and after
//! its end.

use std::time::Duration;

use lsp_tools::Client;
use serde_json::{Value, json};

use crate::support::{Project, TestWorkspace};

/// Edits by every tool that changes files of any language, in an order in which each finds its
/// file.
fn edits(path: &str, other: &str) -> Vec<(&'static str, Value)> {
    let patch = format!("*** Begin Patch\n*** Update File: {path}\n@@\n-three\n+four\n*** End Patch\n");
    vec![
        ("write", json!({"path": path, "content": "two\n", "dry_run": true})),
        ("write", json!({"path": path, "content": "two\n"})),
        ("edit", json!({"path": path, "edits": [{"old": "two", "new": "three"}]})),
        ("patch", json!({"patch": patch})),
        ("undo", json!({})),
        ("move", json!({"from": path, "to": other, "dry_run": true})),
        ("move", json!({"from": path, "to": other})),
        ("delete", json!({"path": other, "dry_run": true})),
        ("delete", json!({"path": other})),
        ("undo", json!({})),
    ]
}

#[track_caller]
fn assert_stated(name: &str, answer: &Value, verdict: &str, reason: &str) {
    let told = &answer["diagnostics"];
    assert_eq!(
        (&answer["verdict"], &told["verdict"]),
        (&json!(verdict), &json!(verdict)),
        "{name}: {answer:#}"
    );
    assert!(told["reason"].as_str().is_some_and(|told| told.contains(reason)), "{name}: {answer:#}");
    assert!(told.get("added").is_none(), "an empty list reads as clean: {name}: {answer:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn edit_of_file_without_server_names_its_language() {
    for (path, other, reason) in [
        ("a.txt", "b.txt", "not checked: no server for"),
        ("a.toml", "b.toml", "not checked: no server for TOML"),
        ("a.unknown", "b.unknown", "not checked: no server for .unknown files"),
        ("plain", "other", "not checked: no server for"),
        ("a.py", "b.py", "not checked: pylsp is not installed, run: lsp-tools install python"),
    ] {
        let project = Project::new([(path, "one\n")]);
        let workspace = project.open();
        for (name, arguments) in edits(path, other) {
            let answer = workspace.ok(name, arguments).await;
            assert_stated(name, &answer, "hints", reason);
        }
        workspace.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn edit_that_changes_nothing_is_complete_and_unwanted_diagnostics_are_no_data() {
    let project = Project::scripted(&json!({}), "", [("a.scr", "one\n")]);
    let workspace = project.open();
    let same = workspace.ok("write", json!({"path": "a.scr", "content": "one\n"})).await;
    assert_eq!(same["operation"], "unchanged");
    assert_stated("write", &same, "complete", "no file changed");
    let unwanted = json!({"path": "a.scr", "content": "two\n", "diagnostics": false});
    let answer = workspace.ok("write", unwanted).await;
    assert_stated("write", &answer, "no_data", "`diagnostics: false`");
    workspace.shutdown().await;
}

/// A server whose start takes longer than the timeout of an edit.
fn slow_to_start(seconds: u64) -> Project {
    let project = Project::scripted(&json!({}), "", [("a.scr", "one\n")]);
    let catalogue = project.beside("config").join("servers.toml");
    let text = std::fs::read_to_string(&catalogue).expect("servers.toml");
    let wrapper = project.beside("logs").join("slow");
    crate::support::write_executable(&wrapper, format!("#!/bin/sh\nsleep {seconds}\nexec \"$@\"\n"));
    let text = text.replace("command = [", &format!("command = [{}, ", json!(wrapper)));
    std::fs::write(&catalogue, text).expect("servers.toml");
    project
}

async fn all_are_not_judged_yet(workspace: &TestWorkspace) {
    for (name, arguments) in edits("a.scr", "b.scr") {
        let answer = workspace.ok(name, arguments).await;
        assert_stated(name, &answer, "no_data", "not checked yet: scripted is still starting");
        assert_eq!(answer["diagnostics"]["state"], "starting", "{name}: {answer:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn edit_while_server_starts_is_not_judged_yet() {
    let project = slow_to_start(60);
    let workspace = project.opening().timeout(Duration::from_millis(400)).open();
    all_are_not_judged_yet(&workspace).await;
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn edit_starts_the_server_and_a_later_one_is_judged() {
    let project = slow_to_start(2);
    let workspace = project.opening().timeout(Duration::from_millis(400)).open();
    let first = workspace.ok("write", json!({"path": "a.scr", "content": "two\n"})).await;
    assert_stated("write", &first, "no_data", "not checked yet: scripted is still starting");
    // The request waits for the same start.
    let patience = Client { timeout: Some(Duration::from_secs(60)), ..Client::default() };
    let patient = workspace.for_client(patience).ok("lsp_diagnostics", json!({"path": "a.scr"})).await;
    assert_eq!(patient["verdict"], "complete", "{patient:#}");
    let second = workspace.ok("write", json!({"path": "a.scr", "content": "WRONG\n"})).await;
    assert_eq!(second["verdict"], second["diagnostics"]["verdict"], "{second:#}");
    assert_eq!(second["diagnostics"]["added"].as_array().map(Vec::len), Some(1), "{second:#}");
    assert_eq!(project.log().starts(), 1);
    workspace.shutdown().await;
}
