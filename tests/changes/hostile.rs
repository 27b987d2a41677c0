//! Repositories whose configuration, attributes and links try to run programs or read others'
//! files.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::json;

use super::{Repository, findings};

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn programs_that_a_repository_names_are_not_run() {
    let files = [
        (".gitattributes", "* filter=evil diff=evil merge=evil\n"),
        ("a.py", "def a() -> int:\n    return 1\n"),
    ];
    let repository = Repository::new(&["pyright"], &files);
    let marker = repository.project.beside("ran");
    let program = repository.project.beside("evil");
    std::fs::write(&program, format!("#!/bin/sh\ntouch '{}'\ncat\n", marker.display())).expect("written");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, mode).expect("a program");
    let run = program.display().to_string();
    repository.project.write("b.py", "from a import a\n\nprint(a())\n");
    repository.commit("second");
    repository.branch("topic", "main", |project| project.write("c.py", "x = 1\n"));
    for key in [
        "filter.evil.smudge",
        "filter.evil.clean",
        "filter.evil.process",
        "diff.evil.textconv",
        "diff.evil.command",
        "merge.evil.driver",
        "core.fsmonitor",
        "core.sshCommand",
        "diff.external",
    ] {
        repository.git(&["config", key, &run]);
    }
    let hook = repository.project.path(".git/hooks/post-checkout");
    std::fs::create_dir_all(hook.parent().expect("a folder")).expect("a folder");
    std::fs::copy(&program, &hook).expect("a hook");
    repository.project.write("a.py", "def b() -> int:\n    return 1\n");
    for asked in [
        json!({"against": "HEAD~1"}),
        json!({"against": "HEAD~1..topic"}),
        json!({"index": true}),
        json!({"merge_branches": ["topic", "main"]}),
    ] {
        let answer = repository.changes(asked).await;
        assert!(answer["ok"] == true && !marker.exists(), "{answer}");
    }
    let answer = repository.against("HEAD").await;
    assert!(findings(&answer).iter().any(|found| found.starts_with("b.py:0 ")), "{answer}");
    assert!(!marker.exists());
    repository.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn links_in_an_earlier_commit_lead_nowhere() {
    let repository =
        Repository::new(&["pyright"], &[("a.py", "x = 1\n"), ("b.py", "import a\n\nprint(a.x)\n")]);
    let secret = repository.project.beside("secret.py");
    std::fs::write(&secret, "password: int = \"hunter2\"\n").expect("written");
    std::fs::remove_file(repository.project.path("a.py")).expect("removed");
    std::os::unix::fs::symlink(&secret, repository.project.path("a.py")).expect("a link");
    repository.commit("a link");
    std::fs::remove_file(repository.project.path("a.py")).expect("removed");
    repository.project.write("a.py", "y = 1\n");
    let answer = repository.against("HEAD").await;
    assert!(!answer.to_string().contains("hunter2"), "{answer}");
    repository.runtime.shutdown().await;
}

/// Returns true if a file of that name is anywhere below `folder`.
fn holds(folder: &Path, name: &str) -> bool {
    fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| {
        entry.file_name() == name
            || entry.file_type().is_ok_and(|kind| kind.is_dir()) && holds(&entry.path(), name)
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn index_with_names_that_lead_out_writes_nothing() {
    let repository = Repository::new(&[], &[("a.py", "x = 1\n")]);
    repository.project.write("aa/aa/escape.txt", "out\n");
    repository.project.write("a.py", "x = 2\n");
    repository.git(&["add", "-A"]);
    fs::remove_dir_all(repository.project.path("aa")).expect("removed");
    let index = repository.project.path(".git/index");
    let bytes = fs::read(&index).expect("an index");
    let at = bytes.windows(16).position(|part| part == b"aa/aa/escape.txt").expect("the entry");
    repository.project.write("a.py", "x = 3\n");
    let crafted = [&bytes[..at], b"../../escape.txt", &bytes[at + 16..]].concat();
    fs::write(&index, crafted).expect("written");
    let answer = repository.changes(json!({"index": true})).await;
    assert_eq!(answer["ok"], false, "{answer}");
    assert!(!holds(&repository.project.beside(""), "escape.txt"), "nothing is written anywhere");
    repository.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn workspace_that_is_a_link_in_the_other_tree_is_not_followed() {
    let repository = Repository::new(&[], &[("sub/a.py", "x = 1\n"), ("b.py", "y = 1\n")]);
    let home = repository.project.beside("home/of/somebody");
    fs::create_dir_all(&home).expect("a folder");
    let before = fs::metadata(&home).expect("a folder").permissions();
    repository.branch("evil", "main", |project| {
        fs::remove_dir_all(project.path("sub")).expect("removed");
        symlink(&home, project.path("sub")).expect("a link");
    });
    let project = &repository.project;
    let sub = project.opening().workspace(project.path("sub")).at_shell().open();
    let answer = sub.answer("lsp_changes", json!({"against": "main..evil"})).await;
    assert!(
        answer["ok"] == false && answer["error"].to_string().contains("is not a folder in the other tree"),
        "{answer}"
    );
    assert_eq!(fs::metadata(&home).expect("a folder").permissions(), before);
    sub.shutdown().await;
    repository.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn filters_of_the_user_that_fail_do_not_keep_a_tree_from_being_looked_at() {
    let files =
        [(".gitattributes", "*.bin filter=lfs\n"), ("a.py", "x: int = 1\n"), ("large.bin", "pointer\n")];
    let repository = Repository::new(&["pyright"], &files);
    repository.branch("one", "main", |project| project.write("a.py", "x: int = 2\n"));
    repository.branch("two", "main", |project| project.write("b.py", "from a import y\n"));
    repository.git(&["config", "filter.lfs.smudge", "false"]);
    repository.git(&["config", "filter.lfs.required", "true"]);
    let answer = repository.changes(json!({"merge_branches": ["one", "two"]})).await;
    assert_eq!(findings(&answer).len(), 1, "{answer}");
    repository.runtime.shutdown().await;
}
