//! Deceptive shell words, endless trees, names with several spellings, and files that we leave
//! behind.

use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{MetadataExt, symlink};
use std::time::{Duration, Instant};

use lsp_tools::Caller;
use lsp_tools::internals::policy::PolicyVerdict;
use serde_json::json;

use super::{everything, with_settings};
use crate::support::Project;

#[tokio::test]
async fn row_20_disguised_shell_command_is_not_allowed_by_rule() {
    let project = Project::new([("a.txt", "one\n")]);
    let workspace = with_settings(
        &project,
        "[permissions]\nallow = ['bash(ls **)', 'bash(git status)', 'bash(echo **)']\n",
    );
    let verdict = |command: &str| workspace.check_command(&Caller::default(), command).verdict;
    for honest in ["ls", "ls -l a.txt", "git status", "echo one two"] {
        assert_eq!(verdict(honest), PolicyVerdict::Allow, "{honest}");
    }
    let many = format!("{}rm -rf .", "ls; ".repeat(60));
    for pretending in [
        "ls; rm -rf .",
        "ls && rm -rf .",
        "ls\nrm -rf .",
        "ls\rrm -rf .",
        "ls $(rm -rf .)",
        "ls `rm -rf .`",
        "ls <(rm -rf .)",
        "ls > a.txt",
        "echo x > .git/config",
        "echo x | sh",
        "PATH=. ls",
        "GIT_EXTERNAL_DIFF=./pwn git status",
        "export PATH=.; ls",
        "eval 'ls; rm -rf .'",
        "command rm -rf .",
        "git -c core.fsmonitor=./pwn status",
        "git status --porcelain; rm a.txt",
        "function ls { rm -rf .; }; ls",
        "alias ls=rm; ls a.txt",
        "ls & rm -rf .",
        "lsx",
        many.as_str(),
    ] {
        assert_ne!(verdict(pretending), PolicyVerdict::Allow, "{pretending}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn row_34_endless_tree_walk_is_bounded_and_odd_names_are_kept() {
    let project = Project::new([("a.txt", "needle\n")]);
    symlink(".", project.path("loop")).unwrap();
    symlink(project.root(), project.path("again")).unwrap();
    // One folder at a time, since a path this deep is too long for one call.
    let mut folder = rustix::fs::open(project.root(), rustix::fs::OFlags::DIRECTORY, 0.into()).unwrap();
    for _ in 0..2_000 {
        rustix::fs::mkdirat(&folder, "d", 0o755.into()).unwrap();
        folder = rustix::fs::openat(&folder, "d", rustix::fs::OFlags::DIRECTORY, 0.into()).unwrap();
    }
    for name in [&b"line\nfeed.txt"[..], b"\x1b]52;c;eA==\x07.txt", b"\xff\xfe.txt"] {
        let name = std::ffi::OsString::from_vec(name.to_vec());
        std::fs::write(project.root().join(name), "needle\n").unwrap();
    }
    let workspace = project.open();
    let began = Instant::now();
    let listed = workspace.ok("list", json!({"path": "."})).await;
    let globbed = workspace.ok("glob", json!({"pattern": "**/*.txt"})).await;
    let found = workspace.ok("grep", json!({"pattern": "needle"})).await;
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    let names: Vec<&str> =
        listed["items"].as_array().unwrap().iter().filter_map(|item| item["name"].as_str()).collect();
    assert!(names.contains(&"a.txt") && names.contains(&"loop"), "{names:?}");
    for matches in [&globbed["matches"], &found["matches"]] {
        let matches = matches.as_array().unwrap();
        let once =
            matches.iter().filter(|one| one["path"].as_str().or(one.as_str()) == Some("a.txt")).count();
        assert_eq!(once, 1, "links are not followed: {matches:?}");
        assert!(!matches.iter().any(|one| one.to_string().contains('\u{1b}')), "{matches:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn row_47_control_path_in_any_spelling_is_denied() {
    let project = Project::new([("a.txt", "one\n")]);
    let workspace = project.open();
    let before = everything(&project);
    for path in [
        ".GIT/config",
        ".Git/hooks/pre-commit",
        ".Cursor/MCP.json",
        ".VSCODE/Settings.json",
        ".Mcp.json",
        ".LSP-Tools/servers.toml",
        ".EnvRC",
        ".\u{200d}git/config",
        ".gi\u{200c}t/config",
    ] {
        let (code, error) = workspace.failure("write", json!({"path": path, "content": "x"})).await;
        assert_eq!(code, "denied", "{path}: {error}");
        let (code, error) = workspace.failure("move", json!({"from": "a.txt", "to": path})).await;
        assert_eq!(code, "denied", "move to {path}: {error}");
    }
    assert!(everything(&project) == before);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_48_state_files_are_private_to_user() {
    let project = Project::new([("a.txt", "one\n")]);
    let workspace = with_settings(&project, "");
    workspace.ok("write", json!({"path": "a.txt", "content": "two\n"})).await;
    workspace.ok("memory", json!({"command": "save", "path": "m", "content": "kept"})).await;
    workspace
        .ok(
            "todowrite",
            json!({"todos": [{"id": "1", "content": "c", "status": "pending", "priority": "low"}]}),
        )
        .await;
    workspace.ok("bash", json!({"command": "true"})).await;
    workspace.shutdown().await;
    let (mut open_to_others, mut seen, mut folders) = (Vec::new(), 0, vec![project.beside("state")]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().flatten() {
            let metadata = entry.path().symlink_metadata().unwrap();
            seen += 1;
            if metadata.mode() & 0o077 != 0 && !metadata.is_symlink() {
                open_to_others.push(format!("{} {:o}", entry.path().display(), metadata.mode()));
            }
            if metadata.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    assert!(seen > 3, "a journal, a record and notes: {seen}");
    assert!(open_to_others.is_empty(), "{open_to_others:#?}");
}
