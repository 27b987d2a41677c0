//! The contract of `write`, `edit`, `patch`, `move`, `delete`, `mkdir` and `undo`, without any
//! server.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::support::Project;

#[tokio::test(flavor = "multi_thread")]
async fn write_reports_its_change_and_undo_restores_it() {
    let project = Project::new([("a.txt", "one\r\ntwo\r\n")]);
    let workspace = project.open();
    let answer = workspace.ok("write", json!({"path": "a.txt", "content": "one\nthree\n"})).await;
    assert_eq!(answer["ok"], true);
    assert_eq!(answer["operation"], "modified");
    assert_eq!((&answer["additions"], &answer["deletions"]), (&json!(1), &json!(1)));
    assert!(answer["diff"].as_str().is_some_and(|diff| diff.contains("-two") && diff.contains("+three")));
    assert_eq!(project.read("a.txt"), "one\r\nthree\r\n", "line ends of the file are kept");
    let new = workspace.ok("write", json!({"path": "deep/er/b.txt", "content": "b\n"})).await;
    assert_eq!((&new["operation"], &new["size"]), (&json!("created"), &json!(2)));
    let same = workspace.ok("write", json!({"path": "deep/er/b.txt", "content": "b\n"})).await;
    assert_eq!(
        (&same["operation"], &same["diff"]),
        (&json!("unchanged"), &json!("")),
        "every answer has a diff"
    );
    let back = workspace.ok("undo", json!({"id": answer["undo"]})).await;
    assert_eq!(back["results"][0]["path"], "a.txt");
    assert_eq!(project.read("a.txt"), "one\r\ntwo\r\n");
    let list = workspace.ok("undo", json!({"list": true})).await;
    assert_eq!(list["edits"].as_array().map(Vec::len), Some(3), "{list}");
    assert_eq!(list["edits"][2]["undone_by"], list["edits"][0]["id"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn write_dry_run_changes_nothing() {
    let project = Project::new([("a.py", "x = 1\n")]);
    let workspace = project.open();
    let answer = workspace
        .ok("write", json!({"path": "a.py", "content": "x = (\n", "dry_run": true, "diagnostics": true}))
        .await;
    assert_eq!(project.read("a.py"), "x = 1\n");
    assert!(answer.get("undo").is_none(), "{answer}");
    assert_eq!(answer["diagnostics"]["verdict"], "hints", "no server is there: only syntax was looked at");
    assert_eq!(answer["diagnostics"]["added"][0]["server"], "syntax");
}

#[tokio::test(flavor = "multi_thread")]
async fn edit_replaces_exact_match_or_error_names_nearest() {
    let project = Project::new([("a.py", "def f(x):\n    return x\n\ndef g(x):\n    return x\n")]);
    let workspace = project.open();
    let (code, error) = workspace
        .failure("edit", json!({"path": "a.py", "edits": [{"old": "    return x", "new": "    pass"}]}))
        .await;
    assert_eq!(code, "patch_mismatch");
    assert!(error.contains("2 times") && error.contains("2") && error.contains("5"), "{error}");
    let (code, error) = workspace
        .failure("edit", json!({"path": "a.py", "edits": [{"old": "def f(y):", "new": "def f():"}]}))
        .await;
    assert_eq!(code, "patch_mismatch");
    assert!(error.contains("def f(x):"), "{error}");
    let edits =
        json!([{"old": "return x", "new": "return 1", "all": true}, {"old": "def g(x)", "new": "def h(x)"}]);
    workspace.ok("edit", json!({"path": "a.py", "edits": edits})).await;
    assert_eq!(project.read("a.py"), "def f(x):\n    return 1\n\ndef h(x):\n    return 1\n");
    let (code, _) =
        workspace.failure("edit", json!({"path": "no.py", "edits": [{"old": "a", "new": "b"}]})).await;
    assert_eq!(code, "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn patch_applies_all_files_or_none_and_reports_hunk_offsets() {
    let text = |from: u32, to: u32| (from..=to).map(|line| format!("line {line}\n")).collect::<String>();
    let project = Project::new([("a.txt", text(1, 20).as_str()), ("b.txt", "b\n"), ("old.txt", "bye\n")]);
    let workspace = project.open();
    let patch = "--- a/a.txt\n+++ b/a.txt\n@@ -3,3 +3,3 @@\n line 9\n-line 10\n+line ten\n line 11\n\
                 --- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-c\n+d\n";
    let (code, error) = workspace.failure("patch", json!({"patch": patch})).await;
    assert_eq!(code, "patch_mismatch");
    assert!(error.contains("b.txt"), "{error}");
    assert_eq!(project.read("a.txt"), text(1, 20), "all or none");
    let patch = patch.replace("-c\n", "-b\n");
    let tried = workspace.ok("patch", json!({"patch": patch, "dry_run": true})).await;
    assert_eq!(tried["applied"], false);
    assert_eq!(project.read("b.txt"), "b\n");
    let answer = workspace.ok("patch", json!({"patch": patch})).await;
    assert_eq!(answer["applied"], true);
    assert_eq!(answer["results"][0]["path"], "a.txt");
    assert_eq!(answer["results"][0]["hunks"][0], json!({"hunk": 1, "line": 9, "offset": 6, "fuzz": 0}));
    assert_eq!(project.read("b.txt"), "d\n");
    let envelope = "*** Begin Patch\n*** Add File: new.txt\n+new\n*** Delete File: old.txt\n*** End Patch\n";
    let answer = workspace.ok("patch", json!({"patch": envelope})).await;
    let operations: Vec<_> =
        answer["results"].as_array().expect("results").iter().map(|one| &one["operation"]).collect();
    assert_eq!(operations, ["created", "deleted"]);
    assert!(project.path("new.txt").exists() && !project.path("old.txt").exists());
    workspace.ok("undo", json!({})).await;
    assert_eq!(project.read("old.txt"), "bye\n");
    let rename = "diff --git a/b.txt b/c.txt\nsimilarity index 50%\nrename from b.txt\nrename to c.txt\n\
                  --- a/b.txt\n+++ b/c.txt\n@@ -1 +1 @@\n-d\n+e\n";
    let answer = workspace.ok("patch", json!({"patch": rename})).await;
    assert_eq!(
        (&answer["results"][0]["operation"], &answer["results"][0]["from"]),
        (&json!("renamed"), &json!("b.txt"))
    );
    assert_eq!(project.read("c.txt"), "e\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn patch_keeps_adds_and_removes_a_byte_order_mark_as_git_does() {
    let hunk = |old: &str, new: &str| {
        let patch = format!("--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-{old}\n+{new}\n two\n");
        json!({ "patch": patch })
    };
    for (before, old, new, after) in [
        ("\u{feff}one\ntwo\n", "\u{feff}one", "\u{feff}three", "\u{feff}three\ntwo\n"),
        ("\u{feff}one\ntwo\n", "\u{feff}one", "one", "one\ntwo\n"),
        ("\u{feff}one\ntwo\n", "one", "three", "\u{feff}three\ntwo\n"),
        ("\u{feff}one\r\ntwo\r\n", "\u{feff}one\r", "\u{feff}three\r", "\u{feff}three\r\ntwo\r\n"),
        ("one\ntwo\n", "one", "\u{feff}one", "\u{feff}one\ntwo\n"),
    ] {
        let project = Project::new([("a.txt", before)]);
        let workspace = project.open();
        let answer = workspace.ok("patch", hunk(old, new)).await;
        assert_eq!(project.read("a.txt"), after, "{before:?} {answer}");
        workspace.ok("undo", json!({})).await;
        assert_eq!(project.read("a.txt"), before);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn patch_outside_workspace_or_to_control_path_is_refused() {
    let project = Project::new([("a.txt", "a\n")]);
    let workspace = project.open();
    for (path, expected) in [
        ("../out.txt", "outside_workspace"),
        ("/tmp/out.txt", "outside_workspace"),
        (".git/config", "denied"),
        (".lsp-tools/servers.toml", "denied"),
        (".vscode/settings.json", "denied"),
    ] {
        let patch = format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\n");
        let (code, error) = workspace.failure("patch", json!({"patch": patch})).await;
        assert_eq!(code, expected, "{path}: {error}");
        let (code, error) = workspace.failure("write", json!({"path": path, "content": "x"})).await;
        assert_eq!(code, expected, "{path}: {error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn undo_of_group_reverts_all_tools_as_one() {
    let project = Project::new([("a.txt", "a\n"), ("b.txt", "b\n")]);
    let workspace = project.open();
    for (name, arguments) in [
        ("write", json!({"path": "a.txt", "content": "A\n"})),
        ("move", json!({"from": "b.txt", "to": "sub/c.txt"})),
        ("edit", json!({"path": "sub/c.txt", "edits": [{"old": "b", "new": "c"}]})),
        ("delete", json!({"path": "a.txt"})),
        ("mkdir", json!({"path": "x/y"})),
    ] {
        let result = workspace.call_in("turn-1", name, arguments).await;
        assert!(result.ok(), "{name}: {}", result.value);
    }
    assert_eq!(project.read("sub/c.txt"), "c\n");
    assert!(!project.path("a.txt").exists() && project.path("x/y").is_dir());
    workspace.ok("undo", json!({"group": "turn-1"})).await;
    assert_eq!((project.read("a.txt"), project.read("b.txt")), ("a\n".to_owned(), "b\n".to_owned()));
    assert!(!project.path("sub").exists() && !project.path("x").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn undo_of_file_changed_since_is_a_conflict() {
    let project = Project::new([("a.txt", "a\n")]);
    let workspace = project.open();
    let answer = workspace.ok("write", json!({"path": "a.txt", "content": "b\n"})).await;
    project.write("a.txt", "someone else's\n");
    let (code, error) = workspace.failure("undo", json!({"id": answer["undo"]})).await;
    assert_eq!(code, "conflict", "{error}");
    assert_eq!(project.read("a.txt"), "someone else's\n");
    let (code, _) = workspace.failure("undo", json!({"id": "e99"})).await;
    assert_eq!(code, "not_found");
    let (code, error) = workspace.failure("undo", json!({"id": "x"})).await;
    assert_eq!(code, "invalid_args", "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn delete_of_folder_requires_recursive() {
    let project = Project::new([("d/a.txt", "a\n"), ("d/b.txt", "b\n")]);
    let workspace = project.open();
    let (code, error) = workspace.failure("delete", json!({"path": "d"})).await;
    assert_eq!(code, "conflict", "{error}");
    workspace.ok("delete", json!({"path": "d", "recursive": true})).await;
    assert!(!project.path("d").exists());
    workspace.ok("undo", json!({})).await;
    assert_eq!(project.read("d/b.txt"), "b\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn existing_code_marker_over_real_text_is_refused() {
    let text = "class A:\n    def f(self):\n        return 1\n";
    let project =
        Project::new([("a.py", text), ("notes.md", "x\n"), ("has.py", "# ...existing code...\nx = 1\n")]);
    let workspace = project.open();
    let marked = "class A:\n    # ...existing code...\n    def g(self):\n        return 2\n";
    let patch = "--- a/a.py\n+++ b/a.py\n@@ -1,3 +1,2 @@\n class A:\n-    def f(self):\n-        return 1\n+    # ...existing code...\n";
    for (name, arguments) in [
        ("write", json!({"path": "a.py", "content": marked})),
        ("edit", json!({"path": "a.py", "edits": [{"old": text, "new": marked}]})),
        ("patch", json!({"patch": patch})),
    ] {
        let (code, error) = workspace.failure(name, arguments).await;
        assert_eq!(code, "invalid_args");
        assert!(
            error.starts_with("a.py would contain the placeholder `# ...existing code...` in line 2"),
            "{error}"
        );
    }
    assert_eq!(project.read("a.py"), text);
    // Such a comment is accepted in new files, where it already was, and in prose.
    for (path, content) in
        [("new.py", marked), ("notes.md", marked), ("has.py", "# ...existing code...\nx = 2\n")]
    {
        workspace.ok("write", json!({"path": path, "content": content})).await;
    }
}

/// A section of a git patch that only renames.
fn renaming(from: &str, to: &str) -> String {
    format!("diff --git a/{from} b/{to}\nsimilarity index 100%\nrename from {from}\nrename to {to}\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn patch_renames_in_chains_and_circles_and_over_what_it_deletes() {
    let deleting =
        "diff --git a/f b/f\ndeleted file mode 100644\n--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-f\n";
    let creating = "diff --git a/f b/f\nnew file mode 100644\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+new\n";
    for (patch, expected) in [
        (renaming("f", "h") + &renaming("g", "f"), [("f", Some("g\n")), ("g", None), ("h", Some("f\n"))]),
        (renaming("g", "f") + &renaming("f", "h"), [("f", Some("g\n")), ("g", None), ("h", Some("f\n"))]),
        (renaming("f", "g") + &renaming("g", "f"), [("f", Some("g\n")), ("g", Some("f\n")), ("h", None)]),
        (deleting.to_owned() + &renaming("g", "f"), [("f", Some("g\n")), ("g", None), ("h", None)]),
        (renaming("f", "h") + creating, [("f", Some("new\n")), ("g", Some("g\n")), ("h", Some("f\n"))]),
    ] {
        let project = Project::new([("f", "f\n"), ("g", "g\n")]);
        let mode = |name: &str| {
            std::fs::metadata(project.path(name)).map(|found| found.permissions().mode() & 0o111)
        };
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(project.path("g"), executable).expect("a file of ours");
        let workspace = project.open();
        let answer = workspace.ok("patch", json!({"patch": patch})).await;
        for (name, text) in expected {
            let found = std::fs::read_to_string(project.path(name)).ok();
            assert_eq!(found.as_deref(), text, "{name}: {patch}{answer}");
            // The mode moves with the file.
            if let Some(text) = text {
                let is_executable = mode(name).expect("it is there") != 0;
                assert_eq!(is_executable, text == "g\n", "{name}: {patch}{answer}");
            }
        }
        assert_eq!(
            std::fs::read_dir(project.root()).expect("a folder").count(),
            expected.iter().filter(|(_, text)| text.is_some()).count()
        );
        workspace.ok("undo", json!({"id": answer["undo"]})).await;
        assert_eq!((project.read("f"), project.read("g")), ("f\n".to_owned(), "g\n".to_owned()), "{patch}");
        workspace.shutdown().await;
    }
}

#[test]
fn edit_that_conflicts_with_the_files_ends_with_status_1_at_the_shell() {
    let project = Project::new([("f", "f\n"), ("g", "g\n")]);
    project.write("a.diff", renaming("f", "g"));
    for words in [&["patch", "a.diff"][..], &["move", "f", "g"]] {
        let output = project.command(None).args(words).output().expect("lsp-tools");
        assert_eq!(output.status.code(), Some(1), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn move_whose_imports_a_server_fails_to_update_is_a_failure_of_the_server() {
    let scenario = json!({
        "capabilities": {"workspace": {"fileOperations": {"willRename": {"filters": [{"pattern": {"glob": "**/*"}}]}}}},
        "answers": {"workspace/willRenameFiles": {"error": {"code": -32603, "message": "lost"}}},
    });
    let project = Project::scripted(&scenario, "", [("a.scr", "one\n")]);
    let workspace = project.open();
    let answer = workspace.call("move", json!({"from": "a.scr", "to": "b.scr"})).await.value;
    assert_eq!(
        (&answer["code"], project.read("a.scr").as_str()),
        (&json!("server_failed"), "one\n"),
        "{answer}"
    );
    assert!(answer["hint"].as_str().is_some_and(|hint| hint.contains("`update_imports: false`")), "{answer}");
    workspace.shutdown().await;
    let output = project.command(None).args(["move", "a.scr", "b.scr"]).output().expect("lsp-tools");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(4), "{told}");
    assert!(told.contains("--no-imports") && !told.contains("update_imports"), "{told}");
}
