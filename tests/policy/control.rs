//! Files that start programs in other ways than those that no tool may change: changing them needs
//! approval.

use lsp_tools::{Approval, ResultType};
use serde_json::json;

use super::stage::{Stage, code, error};

const BY_NAME: [&str; 6] = [
    ".husky/pre-commit",
    ".github/hooks/x.json",
    ".devcontainer/devcontainer.json",
    ".cargo/config.toml",
    ".idea/workspace.xml",
    "web/node_modules/.bin/tsc",
];

#[tokio::test]
async fn write_to_program_starting_file_needs_approval() {
    let stage = Stage::new("permissions.allow = ['write']\n");
    let runtime = stage.runtime();
    for path in BY_NAME {
        let arguments = json!({"path": path, "content": "x"});
        let result = stage.call(&runtime, "write", arguments.clone()).await;
        assert_eq!(
            (result.kind, code(&result)),
            (ResultType::Denied, "denied"),
            "{path}: {:?}",
            result.value
        );
        assert!(
            error(&result).starts_with(&format!("`{path}` would be changed, and ")),
            "{}",
            error(&result)
        );
        assert_eq!(
            result.value["hint"],
            format!("to allow it, put `allow = [\"write({path})\"]` under [permissions] in lsp-tools.toml")
        );
        assert!(!stage.project.root().join(path).exists());
        stage.diary();
        let result = stage.call_with(&runtime, "write", arguments, Approval::Once).await;
        assert!(result.ok(), "{path}: {:?}", result.value);
        assert_eq!(stage.diary().len(), 1, "{path}: approval was requested");
    }
    let result = stage.call(&runtime, "write", json!({"path": "src/b.rs", "content": "x"})).await;
    assert!(result.ok(), "{:?}", result.value);
    assert!(stage.diary().is_empty());
}

#[tokio::test]
async fn write_to_program_starting_file_with_path_rule_is_allowed() {
    let stage = Stage::new("permissions.allow = ['write(.husky/**)']\n");
    let runtime = stage.runtime();
    let result = stage.call(&runtime, "write", json!({"path": ".husky/pre-commit", "content": "x"})).await;
    assert!(result.ok(), "{:?}", result.value);
    let result = stage.call(&runtime, "write", json!({"path": ".devcontainer.json", "content": "x"})).await;
    assert_eq!(code(&result), "denied");
}

#[tokio::test]
async fn symlink_patch_or_move_to_program_starting_file_is_denied() {
    let stage = Stage::new("");
    let root = stage.project.root();
    std::fs::create_dir_all(root.join(".husky")).unwrap();
    std::os::unix::fs::symlink(".husky", root.join("door")).unwrap();
    std::fs::create_dir_all(root.join("made/hooks")).unwrap();
    std::fs::write(root.join("made/hooks/x.json"), "{}").unwrap();
    let runtime = stage.runtime();
    for (tool, arguments) in [
        ("write", json!({"path": "door/pre-commit", "content": "x"})),
        ("move", json!({"from": "src/a.rs", "to": ".husky/pre-push"})),
        ("move", json!({"from": "made", "to": ".github"})),
        (
            "patch",
            json!({"patch": "*** Begin Patch\n*** Add File: src/c.rs\n+x\n*** Add File: .husky/commit-msg\n+x\n*** End Patch\n"}),
        ),
    ] {
        let result = stage.call(&runtime, tool, arguments).await;
        assert_eq!(code(&result), "denied", "{tool}: {:?}", result.value);
    }
    assert!(!root.join("src/c.rs").exists() && !root.join(".github").exists());
}

#[tokio::test]
async fn write_to_file_named_by_git_config_needs_approval() {
    let stage = Stage::new("");
    let root = stage.project.root();
    std::fs::write(
        root.join(".git/config"),
        "[core]\n\thooksPath = tools/hooks\n[include]\n\tpath = ../shared.cfg\n",
    )
    .unwrap();
    let runtime = stage.runtime();
    for path in ["tools/hooks/pre-commit", "shared.cfg"] {
        let result = stage.call(&runtime, "write", json!({"path": path, "content": "x"})).await;
        assert_eq!(code(&result), "denied", "{path}: {:?}", result.value);
    }
    let result = stage.call(&runtime, "write", json!({"path": "tools/other", "content": "x"})).await;
    assert!(result.ok(), "{:?}", result.value);
}
