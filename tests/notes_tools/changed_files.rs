//! `changed_files` on ordinary repositories; for hostile ones see `evil_repository`.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::house::{assert_fails, open_files, within};
use crate::support::TestWorkspace;

/// Runs git with settings that do not depend on this machine.
pub fn git(folder: &Path, args: &[&str]) -> String {
    let done = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"])
        .args(["-c", "protocol.file.allow=always"])
        .args(args)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .expect("git");
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

/// A repository of these committed files.
pub fn repository<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> TestWorkspace {
    let house = open_files(files);
    git(&house.project.root(), &["init", "-q"]);
    commit(&house.project.root());
    house
}

pub fn commit(folder: &Path) {
    git(folder, &["add", "-A"]);
    git(folder, &["commit", "-q", "--allow-empty", "-m", "c"]);
}

async fn changed(house: &TestWorkspace, arguments: Value) -> Value {
    let result = house.call_unasked("changed_files", arguments).await;
    assert!(result.ok(), "{:?}", result.value);
    result.value
}

fn change(path: &str, change: &str) -> Value {
    json!({"path": path, "change": change})
}

#[tokio::test]
async fn changed_files_reports_every_file_state() {
    let long = "line\n".repeat(30);
    let house = repository([
        ("kept", "1\n"),
        ("edited", "1\n"),
        ("both", "1\n"),
        ("gone", "1\n"),
        ("old", &long),
        (".gitignore", "*.log\n"),
    ]);
    let project = &house.project;
    project.write("edited", "2\n");
    project.write("both", "2\n");
    fs::rename(project.path("old"), project.path("new")).expect("a move");
    git(&project.root(), &["add", "both", "old", "new"]);
    project.write("both", "3\n");
    fs::remove_file(project.path("gone")).expect("a removal");
    project.write("dir/untracked é", "");
    project.write("x.log", "");
    let staged = json!([change("both", "modified"), {"path": "new", "change": "renamed", "from": "old"}]);
    let unstaged =
        json!([change("both", "modified"), change("edited", "modified"), change("gone", "deleted")]);
    let untracked = json!(["dir/untracked é"]);
    let all = json!({"ok": true, "repository": ".", "staged": staged, "unstaged": unstaged,
        "untracked": untracked, "count": 6, "has_more": false});
    assert_eq!(changed(&house, json!({})).await, all);
    assert_eq!(changed(&house, json!({"sourceControlState": "all"})).await, all);
    for (state, list) in [("staged", &staged), ("unstaged", &unstaged), ("untracked", &untracked)] {
        let only = changed(&house, json!({"sourceControlState": state})).await;
        assert_eq!(&only[state], list);
        assert_eq!(only.as_object().expect("an object").len(), 5, "{only}");
    }
    // Our requests left no files behind, in the repository or elsewhere.
    assert_eq!(fs::read_dir(project.beside("cache")).expect("a folder").count(), 0);
    assert!(!project.path(".git/index.lock").exists());
}

#[tokio::test]
async fn changed_files_without_commit_detached_or_packed_refs_works() {
    let house = open_files([("a", "1\n")]);
    let root = house.project.root();
    git(&root, &["init", "-q"]);
    assert_eq!(changed(&house, json!({})).await["untracked"], json!(["a"]));
    git(&root, &["add", "a"]);
    assert_eq!(changed(&house, json!({})).await["staged"], json!([change("a", "added")]));
    commit(&root);
    assert_eq!(changed(&house, json!({})).await["count"], 0);
    git(&root, &["pack-refs", "--all"]);
    assert_eq!(changed(&house, json!({})).await["count"], 0);
    git(&root, &["checkout", "-q", "--detach"]);
    assert_eq!(changed(&house, json!({})).await["count"], 0);
}

#[tokio::test]
async fn changed_files_in_merge_conflict_reports_conflicted() {
    let house = repository([("a", "1\n")]);
    let root = house.project.root();
    git(&root, &["checkout", "-qb", "side"]);
    house.project.write("a", "side\n");
    commit(&root);
    git(&root, &["checkout", "-q", "main"]);
    house.project.write("a", "main\n");
    commit(&root);
    let identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"];
    let mut merge = Command::new("git");
    let merge = merge.args(identity).args(["merge", "side"]).current_dir(&root).output().expect("git");
    let told = String::from_utf8_lossy(&merge.stdout);
    assert!(told.contains("CONFLICT"), "{told}{}", String::from_utf8_lossy(&merge.stderr));
    assert_eq!(changed(&house, json!({})).await["unstaged"], json!([change("a", "conflicted")]));
}

#[tokio::test]
async fn changed_files_in_subfolder_workspace_lists_only_its_files() {
    let house = within(repository([("above", "1\n"), ("sub/below", "1\n")]), "sub");
    house.project.write("above", "2\n");
    house.project.write("sub/below", "2\n");
    house.project.write("sub/new", "");
    let seen = changed(&house, json!({})).await;
    assert_eq!(seen["repository"], "..");
    assert_eq!(
        (&seen["unstaged"], &seen["untracked"]),
        (&json!([change("below", "modified")]), &json!(["new"]))
    );
}

#[tokio::test]
async fn changed_files_of_nested_repository_and_submodule_works() {
    let inner = repository([("s", "1\n")]);
    let house = open_files([("lib/a", "1\n")]);
    let top = house.project.path("lib");
    git(&top, &["init", "-q"]);
    git(&top, &["submodule", "--quiet", "add", &inner.project.root().to_string_lossy(), "sub"]);
    commit(&top);
    house.project.write("lib/a", "2\n");
    house.project.write("lib/sub/s", "2\n");
    assert_fails(&house.call("changed_files", json!({})).await, "not_found", "is not in a git repository");
    let seen = changed(&house, json!({"repositoryPath": "lib"})).await;
    assert_eq!(
        (&seen["repository"], &seen["unstaged"]),
        (&json!("lib"), &json!([change("lib/a", "modified")]))
    );
    let seen = changed(&house, json!({"repositoryPath": "lib/sub"})).await;
    assert_eq!(
        (&seen["repository"], &seen["unstaged"]),
        (&json!("lib/sub"), &json!([change("lib/sub/s", "modified")]))
    );
    // Also if the submodule is the workspace and its repository is above it.
    let sub = within(house, "lib/sub");
    assert_eq!(changed(&sub, json!({})).await["unstaged"], json!([change("s", "modified")]));
}

#[tokio::test]
async fn changed_files_in_linked_worktree_works() {
    let house = repository([("main/a", "1\n")]);
    git(&house.project.root(), &["worktree", "add", "-q", "tree"]);
    let house = within(house, "tree");
    house.project.write("tree/main/a", "2\n");
    house.project.write("main/a", "3\n");
    let seen = changed(&house, json!({})).await;
    assert_eq!(
        (&seen["repository"], &seen["unstaged"]),
        (&json!("."), &json!([change("main/a", "modified")]))
    );
}

#[tokio::test]
async fn changed_files_respects_repository_comparison_settings() {
    let house = repository([("a", "1\n"), ("crlf", "1\n")]);
    let root = house.project.root();
    git(&root, &["config", "core.autocrlf", "true"]);
    git(&root, &["config", "core.fileMode", "false"]);
    fs::remove_file(house.project.path("crlf")).expect("a removal");
    git(&root, &["checkout", "-q", "crlf"]);
    assert_eq!(house.project.read("crlf"), "1\r\n");
    house.project.write("crlf", "1\r\n");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(house.project.path("a"), executable).expect("a mode");
    fs::write(house.project.path(".git/info/exclude"), "private\n").expect("an exclude");
    house.project.write("private", "");
    assert_eq!(changed(&house, json!({})).await["count"], 0);
}

#[tokio::test]
async fn changed_files_with_split_index_and_sha256_works() {
    let house = open_files([("a", "1\n")]);
    let root = house.project.root();
    git(&root, &["init", "-q", "--object-format=sha256"]);
    git(&root, &["config", "core.splitIndex", "true"]);
    commit(&root);
    house.project.write("a", "2\n");
    git(&root, &["update-index", "--split-index"]);
    assert_eq!(changed(&house, json!({})).await["unstaged"], json!([change("a", "modified")]));
}

#[tokio::test]
async fn changed_files_over_limit_are_cut_and_counted() {
    let house = repository([]);
    for number in 0..150 {
        house.project.write(&format!("n{number:03}"), "");
    }
    let seen = changed(&house, json!({})).await;
    assert_eq!(seen["untracked"].as_array().map(Vec::len), Some(100));
    assert_eq!((&seen["count"], &seen["has_more"]), (&json!(150), &json!(true)));
}

#[tokio::test]
async fn changed_files_with_invalid_arguments_is_refused() {
    let house = repository([("a", "1\n")]);
    std::os::unix::fs::symlink(house.project.beside("config"), house.project.path("out")).expect("a link");
    for (arguments, code, words) in [
        (json!({"repositoryPath": "../config"}), "outside_workspace", "outside"),
        (json!({"repositoryPath": "out"}), "outside_workspace", "symbolic link"),
        (json!({"repositoryPath": "missing"}), "not_found", "no folder `missing`"),
        (json!({"repositoryPath": "a"}), "not_found", "no folder `a`"),
        (json!({"repositoryPath": "--output=/tmp/x"}), "not_found", "no folder"),
        (
            json!({"sourceControlState": "lost"}),
            "invalid_args",
            "one of `all`, `staged`, `unstaged` and `untracked`",
        ),
        (json!({"status": "all"}), "invalid_args", "unknown field `status`"),
    ] {
        assert_fails(&house.call("changed_files", arguments).await, code, words);
    }
    let reftable = open_files([]);
    git(&reftable.project.root(), &["init", "-q", "--ref-format=reftable"]);
    assert_fails(
        &reftable.call("changed_files", json!({})).await,
        "unsupported",
        "does not store its references as files",
    );
}
