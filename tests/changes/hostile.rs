//! Repositories whose configuration, attributes and links want programs run or files of others read.

use super::{Repository, findings};

#[tokio::test(flavor = "multi_thread")]
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
        serde_json::json!({"against": "HEAD~1"}),
        serde_json::json!({"against": "HEAD~1..topic"}),
        serde_json::json!({"index": true}),
        serde_json::json!({"merge_branches": ["topic", "main"]}),
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
