//! Language servers that request more than they were asked for.

use serde_json::{Value, json};

use super::{everything, with_settings};
use crate::support::{Project, TestWorkspace, scenarios, write_executable};

const TEXT: &str = "def foo\nfoo bar\n";

fn uri(project: &Project, path: &str) -> String {
    format!("file://{}", project.path(path).display())
}

/// Line 0, from character 4 to 7: the name `foo`.
fn change(text: &str) -> Value {
    json!({"range": {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 7}}, "newText": text})
}

/// A project whose server answers a rename and a code action with the result of `edit`.
fn project(edit: impl Fn(&Project) -> Value) -> Project {
    let project = Project::scripted(
        &json!({}),
        "",
        [("a.scr", TEXT), ("b.scr", TEXT), ("secret/c.scr", TEXT), (".git/config", TEXT)],
    );
    std::fs::create_dir(project.beside("outside")).expect("a folder");
    std::fs::write(project.beside("outside").join("home.scr"), TEXT).expect("a file");
    std::os::unix::fs::symlink(project.beside("outside"), project.path("door")).expect("a link");
    let edit = edit(&project);
    project.set_scenario(&json!({"answers": {
        "textDocument/rename": {"result": edit},
        "textDocument/codeAction": {"result": [{"title": "Do it", "kind": "quickfix", "edit": edit}]},
    }}));
    project
}

async fn rename(workspace: &TestWorkspace, dry_run: bool) -> (bool, Value) {
    let arguments =
        json!({"path": "a.scr", "line": 0, "symbol": "foo", "new_name": "new", "dry_run": dry_run});
    let result = workspace.call("lsp_rename", arguments).await;
    (result.ok(), result.value)
}

async fn action(workspace: &TestWorkspace) -> (bool, Value) {
    let arguments = json!({"path": "a.scr", "line": 0, "apply": "Do it"});
    let result = workspace.call("lsp_code_actions", arguments).await;
    (result.ok(), result.value)
}

#[tokio::test(flavor = "multi_thread")]
async fn row_26_rename_over_two_files_is_applied_whole() {
    let project = project(
        |project| json!({"changes": {uri(project, "a.scr"): [change("new")], uri(project, "b.scr"): [change("new")]}}),
    );
    let workspace = project.open();
    let (ok, answer) = rename(&workspace, true).await;
    assert!(ok, "{answer}");
    assert_eq!(project.read("a.scr"), TEXT);
    let (ok, answer) = rename(&workspace, false).await;
    assert!(ok, "{answer}");
    for path in ["a.scr", "b.scr"] {
        assert_eq!(project.read(path), "def new\nfoo bar\n");
    }
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn row_26_server_edit_wrong_in_one_file_changes_none() {
    type Make = fn(&Project) -> Value;
    let good = |project: &Project| json!({"textDocument": {"uri": uri(project, "a.scr"), "version": null}, "edits": [change("new")]});
    let cases: [(&str, Make); 10] = [
        ("outside", |project| {
            let home = format!("file://{}", project.beside("outside").join("home.scr").display());
            json!([{"textDocument": {"uri": home, "version": null}, "edits": [change("PWNED")]}])
        }),
        (
            "outside through a link",
            |project| json!([{"textDocument": {"uri": uri(project, "door/home.scr"), "version": null}, "edits": [change("PWNED")]}]),
        ),
        (
            "a control file",
            |project| json!([{"textDocument": {"uri": uri(project, ".git/config"), "version": null}, "edits": [change("PWNED")]}]),
        ),
        (
            "what someone has to agree to",
            |project| json!([{"kind": "create", "uri": uri(project, ".husky/pre-commit")}]),
        ),
        (
            "stale",
            |project| json!([{"textDocument": {"uri": uri(project, "b.scr"), "version": 4711}, "edits": [change("PWNED")]}]),
        ),
        (
            "overlapping",
            |project| json!([{"textDocument": {"uri": uri(project, "b.scr"), "version": null}, "edits": [change("x"), change("y")]}]),
        ),
        ("a new file outside", |project| {
            let new = format!("file://{}", project.beside("outside").join("new.scr").display());
            json!([{"kind": "create", "uri": new}])
        }),
        ("deletes outside", |project| json!([{"kind": "delete", "uri": uri(project, "door/home.scr")}])),
        ("moves outside", |project| {
            let new = format!("file://{}", project.beside("outside").join("b.scr").display());
            json!([{"kind": "rename", "oldUri": uri(project, "b.scr"), "newUri": new}])
        }),
        (
            "no file at all",
            |_| json!([{"textDocument": {"uri": "jdt://contents/x.class", "version": null}, "edits": [change("PWNED")]}]),
        ),
    ];
    for (what, make) in cases {
        let project = project(|project| {
            let mut changes = vec![good(project)];
            changes.extend(make(project).as_array().cloned().unwrap_or_default());
            json!({"documentChanges": changes})
        });
        let workspace = project.open();
        let before = everything(&project);
        // Only of a file that it has open can a server know a version.
        let opened = json!({"path": "b.scr", "line": 0, "symbol": "foo"});
        assert!(workspace.call("lsp_hover", opened).await.ok(), "{what}");
        for dry_run in [true, false] {
            let (ok, answer) = rename(&workspace, dry_run).await;
            assert!(!ok, "{what}: {answer}");
        }
        let (ok, answer) = action(&workspace).await;
        assert!(!ok, "{what}: {answer}");
        assert_eq!(everything(&project), before, "{what}");
        let outside: Vec<_> =
            std::fs::read_dir(project.beside("outside")).expect("a folder").flatten().collect();
        assert_eq!(outside.len(), 1, "{what}");
        assert_eq!(std::fs::read_to_string(outside[0].path()).expect("a file"), TEXT, "{what}");
        workspace.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn row_26_permission_rules_apply_to_every_file_of_server_edit() {
    for rule in ["lsp_rename(secret)", "effect:edit(secret/**)", "read(secret/c.scr)", "*(secret)"] {
        for list in ["deny", "ask"] {
            let project = project(
                |project| json!({"changes": {uri(project, "a.scr"): [change("new")], uri(project, "secret/c.scr"): [change("new")]}}),
            );
            let workspace = with_settings(&project, &format!("[permissions]\n{list} = ['{rule}']\n"));
            let before = everything(&project);
            for dry_run in [true, false] {
                let (ok, answer) = rename(&workspace, dry_run).await;
                assert!(!ok && answer["code"] == "denied", "{list} {rule}: {answer}");
            }
            assert_eq!(everything(&project), before, "{list} {rule}");
            workspace.shutdown().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn row_27_unasked_server_request_is_refused() {
    let project = Project::scripted(&json!({}), "", [("a.scr", TEXT)]);
    let inside = uri(&project, "a.scr");
    project.set_scenario(&json!({"rules": scenarios::server_requests(&inside)}));
    let workspace = project.open();
    let before = everything(&project);
    let hover = json!({"path": "a.scr", "line": 0, "symbol": "foo"});
    let result = workspace.call("lsp_hover", hover).await;
    assert!(result.ok(), "{}", result.value);
    let answer = |method: &str| {
        project.log().wait_for(method, std::time::Duration::from_secs(60), |log| log.answer(&json!(method)))
    };
    let applied = answer("workspace/applyEdit");
    assert_eq!(applied["result"]["applied"], false, "{applied}");
    let shown = answer("window/showDocument");
    assert_eq!(shown["result"]["success"], false, "{shown}");
    workspace.shutdown().await;
    assert_eq!(everything(&project), before);
    assert_eq!(project.log().count("workspace/executeCommand"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_28_untrusted_project_server_program_is_not_started() {
    let project = Project::new([("a.py", "x = 1\n")]);
    for path in ["node_modules/.bin/pyright-langserver", ".venv/bin/pylsp", "pylsp", "bin/pylsp"] {
        let marks = format!("#!/bin/sh\ntouch '{}'\n", project.path("PWNED").display());
        write_executable(project.path(path), marks);
    }
    project.write(
        ".lsp-tools/servers.toml",
        format!("[server.pylsp]\ncommand = ['{}']\n", project.path("pylsp").display()),
    );
    let workspace = project.open();
    for (tool, arguments) in [
        ("lsp_hover", json!({"path": "a.py", "line": 0, "character": 0})),
        ("lsp_diagnostics", json!({"path": "a.py"})),
        ("lsp_servers", json!({})),
        ("edit", json!({"path": "a.py", "edits": [{"old": "1", "new": "2"}], "diagnostics": true})),
    ] {
        workspace.call(tool, arguments).await;
    }
    workspace.shutdown().await;
    assert!(!project.path("PWNED").exists());
}
