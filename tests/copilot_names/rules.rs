//! The path of every call applies to the names too: rules, approval, hooks, the audit record,
//! checked arguments.

use std::fs;

use lsp_tools::internals::bridges::{AliasClass, alias_choice, all_aliases};
use lsp_tools::internals::policy::LeaveGiven;
use lsp_tools::{Caller, NobodyToAsk};
use serde_json::json;

use super::{absolute, asked, done, refused};
use crate::support::Project;

fn with_settings<'a>(settings: &str, files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Project {
    let project = Project::new(files);
    fs::write(project.beside("config").join("lsp-tools.toml"), settings).expect("settings");
    project
}

#[tokio::test(flavor = "multi_thread")]
async fn permission_rule_for_tool_applies_to_its_alias() {
    let settings = "[permissions]\ndeny = [\"write(/docs)\", \"read(.env)\", \"bash(rm *)\"]\n";
    let project = with_settings(settings, [("docs/a.md", "x\n"), (".env", "SECRET=1\n")]);
    let runtime = project.open();
    for (name, path) in
        [("insert_edit_into_file", "docs/a.md"), ("create_file", "docs/a.md"), ("create_file", "docs/new.md")]
    {
        let input = json!({"filePath": absolute(&project, path), "code": "y", "content": "y"});
        let input = match name {
            "create_file" => json!({"filePath": input["filePath"], "content": "y"}),
            _ => input,
        };
        let text = refused(&runtime, name, input).await;
        assert!(text.contains("forbids it"), "{name}: {text}");
    }
    assert_eq!(project.read("docs/a.md"), "x\n");
    let secret = refused(&runtime, "read_file", json!({"filePath": absolute(&project, ".env")})).await;
    assert!(secret.contains("forbids it") && !secret.contains("SECRET"), "{secret}");
    let found = done(&runtime, "grep_search", json!({"query": "SECRET"})).await.text;
    assert!(!found.contains("SECRET=1"), "{found}");
    let removed = refused(&runtime, "run_in_terminal", json!({"command": "rm -rf docs"})).await;
    assert!(removed.contains("forbids it"), "{removed}");
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn approval_unavailable_terminal_alias_runs_no_command() {
    let project = Project::new([("Makefile", "test:\n\ttouch ran\n")]);
    let runtime = project.open();
    for (name, input) in [("run_in_terminal", json!({"command": "touch ran"})), ("run_tests", json!({}))] {
        let answer = asked(&runtime, name, input.clone(), &NobodyToAsk).await;
        assert!(!answer.ok && answer.text.contains("allow"), "{name}: {}", answer.text);
        assert!(!project.path("ran").exists());
        assert!(asked(&runtime, name, input, &LeaveGiven).await.ok);
        fs::remove_file(project.path("ran")).expect("it ran");
    }
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn alias_of_excluded_tool_is_not_registered_and_says_why() {
    let project = with_settings("[permissions]\nexcluded = [\"bash\"]\n", []);
    let runtime = project.open();
    let choice = alias_choice(&runtime, &Caller::default());
    assert_eq!(choice.len(), all_aliases().len());
    for one in &choice {
        let needs_bash = one.name.uses().contains(&"bash");
        if needs_bash {
            assert!(!one.registered && one.why.contains("`bash`"), "{one:?}");
        } else {
            assert_eq!(one.registered, one.name.by_default(), "{one:?}");
        }
        assert!(!(one.registered && one.name.class() == AliasClass::Replaces), "{one:?}");
    }
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn alias_with_invalid_arguments_error_names_the_field() {
    let project = Project::new([]);
    let runtime = project.open();
    for (name, input, told) in [
        ("insert_edit_into_file", json!({}), "`filePath` is missing"),
        ("insert_edit_into_file", json!({"filePath": 1, "code": "x"}), "`filePath` is 1, accepted: a text"),
        ("get_errors", json!({"filePaths": "a.py"}), "`filePaths` is"),
        ("read_file", json!({"filePath": "a", "startLine": 3}), "unknown field `startLine`"),
        ("run_in_terminal", json!({"command": ""}), "`command`"),
        ("multi_replace_string", json!({"replacements": []}), "`replacements`"),
        ("read_file", json!(["a"]), "must be an object"),
        ("read_file", json!({"filePath": "/etc/passwd"}), "outside the workspace"),
        ("create_directory", json!({"dirPath": "../x"}), "outside the workspace"),
        ("fetch_webpage", json!({"urls": ["http://127.0.0.1:1/"]}), "127.0.0.1"),
        ("read_files", json!({}), "unknown tool: read_files; did you mean `read_file`?"),
    ] {
        let text = refused(&runtime, name, input.clone()).await;
        assert!(text.contains(told), "{name} {input}: {text}");
    }
    // Models write null for omitted arguments.
    fs::write(project.path("a.txt"), "x\n").expect("a file");
    done(&runtime, "read_file", json!({"filePath": "a.txt", "offset": null, "limit": null})).await;
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn alias_calls_are_audited_under_the_real_tool_name() {
    let project = Project::new([]);
    let runtime = project.open();
    done(&runtime, "create_file", json!({"filePath": absolute(&project, "a.txt"), "content": "x"})).await;
    runtime.shutdown().await;
    let mut records = Vec::new();
    let mut folders = vec![project.beside("state")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path => records.push(
                    fs::read(path)
                        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
                        .unwrap_or_default(),
                ),
            }
        }
    }
    assert!(
        records.iter().any(|text| text.contains("\"write\"") && text.contains("a.txt")),
        "no record of it"
    );
}
