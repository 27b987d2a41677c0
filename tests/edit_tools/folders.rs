//! Folders that a server's edit moves or deletes, with their contents, and their undo.

use serde_json::{Value, json};

use crate::support::{Project, TestWorkspace};

const TEXT: &str = "def foo\nfoo bar\n";

/// A project whose server answers a rename with `changes`, in which `ROOT` stands for the root
/// folder.
fn project(changes: &Value) -> Project {
    let project = Project::scripted(
        &json!({}),
        "",
        [
            ("a.scr", TEXT),
            ("foo.scr", TEXT),
            ("foo/b.scr", TEXT),
            ("foo/deep/c.scr", TEXT),
            ("taken/d.scr", TEXT),
        ],
    );
    std::fs::write(project.path("foo/data.bin"), [0, 159, 146, 150]).expect("a file");
    let root = format!("file://{}", project.root().display());
    let changes: Value = serde_json::from_str(&changes.to_string().replace("ROOT", &root)).expect("JSON");
    let edit = json!({"documentChanges": changes});
    project.set_scenario(&json!({"answers": {"textDocument/rename": {"result": edit}}}));
    project
}

/// The edit of the name in the first line of a file.
fn text_edit(path: &str) -> Value {
    let range = json!({"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 7}});
    json!({
        "textDocument": {"uri": format!("ROOT/{path}"), "version": null},
        "edits": [{"range": range, "newText": "new"}],
    })
}

fn moved(from: &str, to: &str) -> Value {
    json!({"kind": "rename", "oldUri": format!("ROOT/{from}"), "newUri": format!("ROOT/{to}")})
}

async fn rename(workspace: &TestWorkspace, dry_run: bool) -> Value {
    let arguments =
        json!({"path": "a.scr", "line": 0, "symbol": "foo", "new_name": "new", "dry_run": dry_run});
    workspace.ok("lsp_rename", arguments).await
}

/// The paths of all files, and of empty folders.
fn files(project: &Project) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![project.root()];
    while let Some(folder) = folders.pop() {
        let entries: Vec<_> = std::fs::read_dir(&folder).expect("a folder").flatten().collect();
        let inside = entries.iter().map(std::fs::DirEntry::path);
        let (deeper, files): (Vec<_>, Vec<_>) = inside.partition(|path| path.is_dir());
        if entries.is_empty() {
            found.push(format!("{}/", folder.display()));
        }
        folders.extend(deeper.into_iter().filter(|folder| !folder.ends_with(".lsp-tools")));
        found.extend(files.iter().map(|path| path.display().to_string()));
    }
    let root = format!("{}/", project.root().display());
    let mut names: Vec<String> = found.iter().map(|path| path.replace(&root, "")).collect();
    names.retain(|name| name.ends_with(".scr") || name.ends_with(".bin") || name.ends_with('/'));
    names.sort();
    names
}

#[tokio::test(flavor = "multi_thread")]
async fn module_with_its_file_and_folder_is_renamed_and_undo_is_exact() {
    // A file of the folder is edited by its old name before the move, and by its new one after it.
    let project = project(&json!([
        text_edit("a.scr"),
        text_edit("foo/b.scr"),
        moved("foo.scr", "new.scr"),
        moved("foo", "new"),
        text_edit("new/deep/c.scr"),
    ]));
    let before = files(&project);
    let workspace = project.open();
    rename(&workspace, true).await;
    assert_eq!(files(&project), before);
    rename(&workspace, false).await;
    let expected =
        ["a.scr", "new.scr", "new/b.scr", "new/data.bin", "new/deep/c.scr", "taken/d.scr"].map(str::to_owned);
    assert_eq!(files(&project), expected);
    for path in ["a.scr", "new/b.scr", "new/deep/c.scr"] {
        assert_eq!(project.read(path), "def new\nfoo bar\n", "{path}");
    }
    assert_eq!(project.read("new.scr"), TEXT);
    workspace.ok("undo", json!({})).await;
    assert_eq!(files(&project), before);
    for path in ["a.scr", "foo/b.scr", "foo/deep/c.scr"] {
        assert_eq!(project.read(path), TEXT, "{path}");
    }
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn deleted_folder_goes_with_its_content_and_comes_back_by_undo() {
    let delete = json!({"kind": "delete", "uri": "ROOT/foo", "options": {"recursive": true}});
    let project = project(&json!([text_edit("a.scr"), delete]));
    let before = files(&project);
    let workspace = project.open();
    rename(&workspace, false).await;
    assert_eq!(files(&project), ["a.scr", "foo.scr", "taken/d.scr"].map(str::to_owned));
    workspace.ok("undo", json!({})).await;
    assert_eq!(files(&project), before);
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn folder_is_neither_moved_over_another_nor_deleted_with_content_that_was_not_named() {
    let delete = json!({"kind": "delete", "uri": "ROOT/foo"});
    for changes in [json!([text_edit("a.scr"), moved("foo", "taken")]), json!([text_edit("a.scr"), delete])] {
        let project = project(&changes);
        let before = files(&project);
        let workspace = project.open();
        let arguments = json!({"path": "a.scr", "line": 0, "symbol": "foo", "new_name": "new"});
        let refused = workspace.call("lsp_rename", arguments).await;
        assert!(!refused.ok(), "{:?}", refused.value);
        assert_eq!(files(&project), before);
        assert_eq!(project.read("a.scr"), TEXT);
        workspace.shutdown().await;
    }
}
