//! The tools `todoread` and `todowrite`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lsp_tools::{Caller, NobodyToAsk};
use serde_json::{Value, json};

use super::house::{again, assert_fails, open_files, within};

fn item(id: &str, status: &str) -> Value {
    json!({"id": id, "content": format!("step {id}"), "status": status, "priority": "high"})
}

#[tokio::test]
async fn todo_list_is_replaced_whole_and_persisted() {
    let house = open_files([]);
    let empty = json!({"ok": true, "session_id": "default", "items": [], "count": 0, "in_progress": 0});
    assert_eq!(house.call_unasked("todoread", json!({})).await.value, empty);
    let todos = [item("1", "completed"), item("2", "in_progress"), item("3", "pending")];
    let whole = json!({"ok": true, "session_id": "default", "items": todos, "count": 3, "in_progress": 1});
    assert_eq!(house.call_unasked("todowrite", json!({"todos": todos})).await.value, whole);
    assert_eq!(house.call("todoread", json!({})).await.value, whole);
    let house = again(house);
    assert_eq!(house.call("todoread", json!({})).await.value, whole);
    let rest = house.call("todowrite", json!({"todos": [item("3", "pending")]})).await.value;
    assert_eq!((&rest["count"], &rest["items"][0]["id"]), (&json!(1), &json!("3")));
    assert_eq!(house.call("todowrite", json!({"todos": []})).await.value, empty);
}

#[tokio::test]
async fn todo_list_is_separate_per_session_and_workspace() {
    let house = open_files([("sub/.lsp-tools/x", "")]);
    house.call("todowrite", json!({"todos": [item("1", "pending")]})).await;
    let other = Caller { session: "other".to_owned(), ..Caller::default() };
    let read = house.call_as(&other, &NobodyToAsk, "todoread", json!({})).await.value;
    assert_eq!((&read["session_id"], &read["count"]), (&json!("other"), &json!(0)));
    let below = within(house, "sub");
    assert_eq!(below.call("todoread", json!({})).await.value["count"], 0);
}

#[tokio::test]
async fn todo_write_with_invalid_list_is_refused_and_changes_nothing() {
    let house = open_files([]);
    let kept = house.call("todowrite", json!({"todos": [item("1", "pending")]})).await.value;
    for (arguments, words) in [
        (json!({"todos": [item("a", "in_progress"), item("b", "in_progress")]}), "at most one"),
        (json!({"todos": [item("a", "done")]}), "one of `pending`, `in_progress` and `completed`"),
        (
            json!({"todos": [{"id": "a", "status": "pending", "priority": "low"}]}),
            "`todos.0.content` is missing",
        ),
        (
            json!({"todos": [{"id": 1, "content": "x", "status": "pending", "priority": "low"}]}),
            "`todos.0.id` is 1",
        ),
        (json!({"todos": [item("a", "pending"), item("a", "pending")]}), "second time"),
        (json!({"todos": "all"}), "a list"),
        (json!({}), "`todos` is missing"),
        (json!({"todo": []}), "did you mean `todos`?"),
    ] {
        assert_fails(&house.call("todowrite", arguments).await, "invalid_args", words);
    }
    assert_eq!(house.call("todoread", json!({})).await.value, kept);
    assert_fails(&house.call("todoread", json!({"session": "x"})).await, "invalid_args", "unknown field");
    assert_fails(&house.call("todoread", json!({"session_id": "../x"})).await, "invalid_args", "is invalid");
}

#[tokio::test]
async fn todo_session_named_like_a_path_is_refused() {
    let house = open_files([]);
    for session in ["../../x", "/etc/passwd", "", "a/b", ".lock", "a\0b"] {
        let caller = Caller { session: session.to_owned(), ..Caller::default() };
        let written = house.call_as(&caller, &NobodyToAsk, "todowrite", json!({"todos": []})).await;
        assert_fails(&written, "invalid_args", "the session name");
    }
    assert!(files_below(&house.project.beside("state").join("todos")).is_empty());
    let above = house.project.beside("x");
    assert!(!above.exists(), "{}", above.display());
}

#[tokio::test]
async fn todo_file_damaged_is_reported_and_can_be_overwritten() {
    let house = open_files([]);
    house.call("todowrite", json!({"todos": [item("1", "pending")]})).await;
    let file = files_below(&house.project.beside("state")).into_iter().find(|path| path.ends_with("default"));
    let file = file.expect("the kept list");
    assert_eq!(fs::metadata(&file).expect("a file").permissions().mode() & 0o077, 0);
    fs::write(&file, "{\"version\": 1, \"items\": [").expect("damage");
    let read = house.call("todoread", json!({})).await;
    assert_fails(&read, "internal", "damaged");
    assert!(!read.value.to_string().contains("/state"), "{:?}", read.value);
    assert!(house.call("todowrite", json!({"todos": []})).await.ok());
    assert!(house.call("todoread", json!({})).await.ok());
}

/// Two processes, each with its own runtime: at any time the list is one of the written ones.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_todo_writes_leave_one_whole_list() {
    let house = Arc::new(open_files([]));
    let list = |count: usize| (0..count).map(|id| item(&id.to_string(), "pending")).collect::<Vec<_>>();
    let writers = (1..=8).map(|writer| {
        let (house, todos) = (Arc::clone(&house), list(writer * 20));
        tokio::spawn(async move {
            for _ in 0..10 {
                assert!(house.call("todowrite", json!({"todos": todos})).await.ok());
                let read = house.call("todoread", json!({})).await.value;
                let count = read["count"].as_u64().expect("a count");
                assert!(count > 0 && count % 20 == 0, "{count}");
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.expect("a writer");
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

#[tokio::test]
async fn todo_unfinished_lists_are_offered_to_later_session() {
    let house = open_files([]);
    let as_session = |name: &str| Caller { session: name.to_owned(), ..Caller::default() };
    let (first, second) = (as_session("first"), as_session("second"));
    let call = async |caller: &Caller, name: &str, arguments| {
        let result = house.call_as(caller, &NobodyToAsk, name, arguments).await;
        assert!(result.ok(), "{:?}", result.value);
        result.value
    };
    call(&as_session("done"), "todowrite", json!({"todos": [item("1", "completed")]})).await;
    let todos = [item("1", "completed"), item("2", "pending"), item("3", "in_progress")];
    let kept = call(&first, "todowrite", json!({"todos": todos})).await;
    let found = call(&second, "todoread", json!({})).await;
    assert_eq!((&found["session_id"], &found["count"]), (&json!("second"), &json!(0)), "lists are separate");
    assert_eq!(found["others"], json!([{"session_id": "first", "open": 2, "next": "step 3"}]));
    assert_eq!(call(&second, "todoread", json!({"session_id": "first"})).await, kept);
    let rest = json!({"session_id": "first", "todos": [item("3", "completed")]});
    assert_eq!(call(&second, "todowrite", rest).await["session_id"], "first");
    assert_eq!(call(&first, "todoread", json!({})).await["items"], json!([item("3", "completed")]));
    // Other lists are not mentioned while the own one has items.
    call(&second, "todowrite", json!({"todos": [item("a", "pending")]})).await;
    assert!(call(&second, "todoread", json!({})).await.get("others").is_none());
    assert_eq!(call(&first, "todoread", json!({})).await["items"][0]["id"], "3");
}
