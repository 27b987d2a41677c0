//! The tool `memory`.

use std::fs;

use serde_json::{Value, json};

use super::house::{again, assert_fails, open_files};
use crate::support::TestWorkspace;

async fn text(house: &TestWorkspace, arguments: Value) -> String {
    let result = house.call_unasked("memory", arguments).await;
    assert!(result.ok(), "{:?}", result.value);
    assert_eq!(result.value["text"], result.text_for_model());
    result.text_for_model()
}

#[tokio::test]
async fn memory_save_read_list_and_delete_work() {
    let house = open_files([]);
    assert_eq!(text(&house, json!({"command": "list"})).await, "No memories saved yet.");
    let save = json!({"command": "save", "path": "notes.md", "content": "# Ünïcode\n\r\nx"});
    assert_eq!(text(&house, save).await, "Saved memory 'notes.md'.");
    assert_eq!(
        text(&house, json!({"command": "save", "path": "a", "content": ""})).await,
        "Saved memory 'a'."
    );
    let house = again(house);
    assert_eq!(text(&house, json!({"command": "list"})).await, "a\nnotes.md");
    assert_eq!(text(&house, json!({"command": "read", "path": "notes.md"})).await, "# Ünïcode\n\r\nx");
    assert_eq!(
        text(&house, json!({"command": "delete", "path": "notes.md"})).await,
        "Deleted memory 'notes.md'."
    );
    assert_eq!(text(&house, json!({"command": "list"})).await, "a");
    for command in ["read", "delete"] {
        let gone = house.call("memory", json!({"command": command, "path": "notes.md"})).await;
        assert_fails(&gone, "not_found", "Memory 'notes.md' not found.");
    }
}

#[tokio::test]
async fn memory_invalid_arguments_are_refused_with_reason() {
    let house = open_files([]);
    for (arguments, words) in [
        (json!({"command": "save", "path": "a"}), "'content' is required for save."),
        (json!({"command": 1}), "one of `save`, `read`, `list` and `delete`"),
        (json!({}), "`command` is missing"),
        (json!({"command": "list", "name": "x"}), "unknown field `name`"),
    ] {
        assert_fails(&house.call("memory", arguments).await, "invalid_args", words);
    }
    let large = json!({"command": "save", "path": "a", "content": "x".repeat(65_537)});
    assert_fails(&house.call("memory", large).await, "too_large", "65537 bytes");
    assert_eq!(text(&house, json!({"command": "list"})).await, "No memories saved yet.");
}

/// Verbatim, and in the order of the guide for custom tools.
#[tokio::test]
async fn memory_refusals_are_the_sentences_of_the_guide() {
    let house = open_files([]);
    let path_is_required = "Error: 'path' is required for save/read/delete.";
    for (arguments, sentence) in [
        (json!({"command": "save", "content": "x"}), path_is_required),
        (json!({"command": "read"}), path_is_required),
        (json!({"command": "delete", "path": ""}), path_is_required),
        (json!({"command": "forget"}), path_is_required),
        (json!({"command": "forget", "path": "a"}), "Unknown command: forget"),
        (json!({"command": "", "path": "a"}), "Unknown command: "),
    ] {
        let refused = house.call("memory", arguments).await;
        assert_eq!(refused.value["code"], "invalid_args");
        assert_eq!(refused.value["error"], sentence);
    }
}

/// Paths have no effect: folders before the name are dropped, and invalid names are refused.
#[tokio::test]
async fn memory_path_outside_its_folder_is_stripped_or_refused() {
    let house = open_files([("secret", "s")]);
    let save = |path: &str| json!({"command": "save", "path": path, "content": "mine"});
    assert_eq!(text(&house, save("../../project/secret")).await, "Saved memory 'secret'.");
    assert_eq!(text(&house, save("/etc/hosts")).await, "Saved memory 'hosts'.");
    assert_eq!(house.project.read("secret"), "s");
    assert_eq!(text(&house, json!({"command": "list"})).await, "hosts\nsecret");
    for path in
        ["..", ".", "a/..", "a/", ".lock", ".new", "a\\b", "a\nb", "a\0b", "\u{202e}a", &"x".repeat(200)]
    {
        assert_fails(&house.call("memory", save(path)).await, "invalid_args", "`path` is");
    }
    // A link in place of the file is not followed.
    let memories = house.project.beside("state").join("memories");
    std::os::unix::fs::symlink(house.project.path("secret"), memories.join("link")).expect("a link");
    assert_fails(
        &house.call("memory", json!({"command": "read", "path": "link"})).await,
        "internal",
        "cannot be read",
    );
    text(&house, save("link")).await;
    assert_eq!(house.project.read("secret"), "s");
    assert!(fs::symlink_metadata(memories.join("link")).expect("a file").is_file());
}

#[tokio::test]
async fn memory_count_over_limit_save_is_refused() {
    let house = open_files([]);
    text(&house, json!({"command": "save", "path": "first", "content": "1"})).await;
    let memories = house.project.beside("state").join("memories");
    for number in 1..500 {
        fs::write(memories.join(format!("m{number}")), "").expect("a file");
    }
    let save = |path: &str| json!({"command": "save", "path": path, "content": "x"});
    assert_fails(&house.call("memory", save("one-more")).await, "too_large", "500 memories");
    assert_eq!(text(&house, save("first")).await, "Saved memory 'first'.");
}
