//! Names of tools that change files.

use serde_json::json;

use super::{absolute, done, refused};
use crate::support::Project;

#[tokio::test(flavor = "multi_thread")]
async fn insert_edit_writes_whole_text_and_returns_it() {
    let project = Project::new([("src/a.txt", "one\r\ntwo\r\n")]);
    let workspace = project.open();
    let path = absolute(&project, "src/a.txt");
    let input = json!({"filePath": path, "code": "one\nzwei\n", "explanation": "German", "newField": 1});
    let answer = done(&workspace, "insert_edit_into_file", input).await;
    assert_eq!(project.read("src/a.txt"), "one\r\nzwei\r\n", "line ends stay those of the file");
    assert_eq!(answer.text, "one\r\nzwei\r\n", "what the file has now");
    assert_eq!(answer.changed, [project.path("src/a.txt")]);
    // For a moved file in a patch, the server writes a file that does not exist yet.
    let moved = json!({"filePath": absolute(&project, "src/b/c.txt"), "code": "three\n"});
    assert_eq!(done(&workspace, "insert_edit_into_file", moved).await.text, "three\n");
    let same = json!({"filePath": absolute(&project, "src/b/c.txt"), "code": "three\n"});
    assert!(done(&workspace, "insert_edit_into_file", same).await.changed.is_empty());
    // Undo reverts all edits of a turn at once.
    workspace.ok("undo", json!({"group": "turn-1"})).await;
    assert_eq!(project.read("src/a.txt"), "one\r\ntwo\r\n");
    assert!(!project.path("src/b/c.txt").exists());
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn insert_edit_with_existing_code_marker_is_refused() {
    let project = Project::new([("a.py", "def f():\n    return 1\n")]);
    let workspace = project.open();
    let code = "# ...existing code...\ndef g():\n    return 2\n";
    let input = json!({"filePath": absolute(&project, "a.py"), "code": code});
    let refusal = refused(&workspace, "insert_edit_into_file", input).await;
    assert!(refusal.contains("`# ...existing code...` in line 1"), "{refusal}");
    assert_eq!(project.read("a.py"), "def f():\n    return 1\n");
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn insert_edit_accepts_file_uri_as_path() {
    let project = Project::new([("a b/[x].txt", "1\n")]);
    let workspace = project.open();
    let uri = format!("file://{}", absolute(&project, "a%20b/%5Bx%5D.txt"));
    done(&workspace, "insert_edit_into_file", json!({"filePath": uri, "code": "2\n"})).await;
    assert_eq!(project.read("a b/[x].txt"), "2\n");
    let elsewhere =
        refused(&workspace, "insert_edit_into_file", json!({"filePath": "file://host/x", "code": ""})).await;
    assert!(elsewhere.contains("is not a file of the workspace"), "{elsewhere}");
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn create_file_over_existing_file_is_refused() {
    let project = Project::new([("old.txt", "precious\n"), ("empty.txt", "")]);
    let workspace = project.open();
    let new = json!({"filePath": absolute(&project, "deep/er/new.txt"), "content": "hello\n"});
    let answer = done(&workspace, "create_file", new).await;
    assert_eq!((answer.text.as_str(), project.read("deep/er/new.txt").as_str()), ("hello\n", "hello\n"));
    assert_eq!(answer.changed, [project.path("deep/er/new.txt")]);
    let old = json!({"filePath": absolute(&project, "old.txt"), "content": "x"});
    let refusal = refused(&workspace, "create_file", old).await;
    assert!(refusal.contains("old.txt exists already"), "{refusal}");
    assert_eq!(project.read("old.txt"), "precious\n");
    done(&workspace, "create_file", json!({"filePath": absolute(&project, "empty.txt"), "content": "y"}))
        .await;
    assert_eq!(project.read("empty.txt"), "y");
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn replace_string_replaces_one_and_miss_names_nearest() {
    let project = Project::new([("a.txt", "one\ntwo\nthree\n")]);
    let workspace = project.open();
    let path = absolute(&project, "a.txt");
    let input = json!({"filePath": path, "oldString": "two", "newString": "zwei", "explanation": null});
    let answer = done(&workspace, "replace_string_in_file", input).await;
    assert!(answer.text.starts_with("modified a.txt (+1 -1)"), "{}", answer.text);
    assert!(answer.text.contains("-two\n+zwei"), "{}", answer.text);
    assert_eq!(answer.changed, [project.path("a.txt")]);
    let miss = json!({"filePath": path, "oldString": "thre e", "newString": "drei"});
    let refusal = refused(&workspace, "replace_string_in_file", miss).await;
    assert!(refusal.contains("three") && refusal.contains("nothing was changed"), "{refusal}");
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn multi_replace_string_applies_all_or_none() {
    let project = Project::new([("a.txt", "one two\n"), ("b.txt", "three\n")]);
    let workspace = project.open();
    let replacement = |path: &str, old: &str, new: &str| json!({"filePath": absolute(&project, path), "oldString": old, "newString": new, "explanation": "x"});
    let all = json!({"explanation": "numbers", "replacements": [
        replacement("a.txt", "one", "1"), replacement("b.txt", "three", "3"), replacement("a.txt", "two", "2"),
    ]});
    let answer = done(&workspace, "multi_replace_string", all).await;
    assert_eq!((project.read("a.txt").as_str(), project.read("b.txt").as_str()), ("1 2\n", "3\n"));
    assert_eq!(answer.changed, [project.path("a.txt"), project.path("b.txt")]);
    let half =
        json!({"replacements": [replacement("a.txt", "1 2", "one"), replacement("b.txt", "four", "4")]});
    let refusal = refused(&workspace, "multi_replace_string", half).await;
    assert!(refusal.ends_with("nothing was changed"), "{refusal}");
    assert_eq!((project.read("a.txt").as_str(), project.read("b.txt").as_str()), ("1 2\n", "3\n"));
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn create_directory_and_apply_patch_change_files() {
    let project = Project::new([("src/a.txt", "one\ntwo\n"), ("old.txt", "x\n")]);
    let workspace = project.open();
    let folder = json!({"dirPath": absolute(&project, "x/y")});
    assert_eq!(done(&workspace, "create_directory", folder.clone()).await.text, "made x, x/y");
    assert!(done(&workspace, "create_directory", folder).await.text.contains("exists already"));
    let patch = format!(
        "*** Begin Patch\n*** Update File: {}\n@@\n one\n-two\n+zwei\n*** Add File: {}\n+new\n*** Delete File: {}\n*** End Patch",
        absolute(&project, "src/a.txt"),
        absolute(&project, "src/b.txt"),
        absolute(&project, "old.txt")
    );
    let answer = done(&workspace, "apply_patch", json!({"input": patch, "explanation": "x"})).await;
    assert_eq!(
        (project.read("src/a.txt").as_str(), project.read("src/b.txt").as_str()),
        ("one\nzwei\n", "new\n")
    );
    assert!(!project.path("old.txt").exists());
    assert_eq!(answer.changed.len(), 3, "{answer:?}");
    let unfit = "*** Begin Patch\n*** Update File: src/a.txt\n@@\n-four\n+five\n*** End Patch";
    let refusal = refused(&workspace, "apply_patch", json!({"input": unfit})).await;
    assert!(refusal.contains("nothing was changed"), "{refusal}");
    workspace.shutdown().await;
}
