//! The stores themselves: all formats, broken or foreign files, sessions of other folders.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use super::store::{GET, GET_FIRST, MOMENT, Stores, refusal, tell, vscode_session};

fn log(stores: &Stores, id: &str, lines: &[serde_json::Value]) {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    stores.vscode("0123abcd", &format!("{id}.jsonl"), &text);
}

#[tokio::test(flavor = "multi_thread")]
async fn change_log_is_replayed_and_precedes_older_json_file() {
    let stores = Stores::new();
    stores.session("s1", MOMENT, &["what the older file says"]);
    let asked = |text: &str, at: i64| json!({"requestId": text, "message": {"text": text, "parts": []}, "timestamp": at, "response": []});
    log(
        &stores,
        "s1",
        &[
            json!({"kind": 0, "v": {"version": 3, "sessionId": "s1", "creationDate": MOMENT, "requests": []}}),
            json!({"kind": 2, "k": ["requests"], "v": [asked("first", MOMENT)]}),
            json!({"kind": 2, "k": ["requests", 0, "response"], "v": [{"value": "an answer"}]}),
            json!({"kind": 1, "k": ["customTitle"], "v": "A title"}),
            json!({"kind": 2, "k": ["requests"], "v": [asked("draft", MOMENT + 1)]}),
            json!({"kind": 2, "k": ["requests"], "v": [asked("second", MOMENT + 2)], "i": 1}),
        ],
    );
    let workspace = stores.open();
    let (text, _) = tell(&workspace, GET, json!({"index": 2})).await;
    assert_eq!(
        (&text["sessionId"], &text["request"], &text["totalRequests"]),
        (&json!("s1"), &json!("second"), &json!(2))
    );
    let listed = workspace.ok("chat_sessions", json!({})).await;
    assert_eq!((&listed["count"], &listed["sessions"][0]["title"]), (&json!(1), &json!("A title")));
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn copilot_cli_sessions_are_read() {
    let stores = Stores::new();
    let event = |kind: &str, data: serde_json::Value, second: u8| {
        json!({"type": kind, "data": data, "id": "x", "timestamp": format!("2026-01-31T08:05:{second:02}.000Z"), "parentId": null}).to_string()
    };
    let lines = [
        event(
            "session.start",
            json!({"sessionId": "cli-1", "version": 1, "context": {"cwd": stores.project.root()}}),
            0,
        ),
        event(
            "user.message",
            json!({"content": "Fix the parser", "transformedContent": "<t/>Fix the parser"}),
            1,
        ),
        event("assistant.message", json!({"content": "Done: \"user.message\""}), 2),
        event("user.message", json!({"content": "skill text", "source": "skill-pdf"}), 3),
        event("user.message", json!({"content": "And its tests"}), 4),
    ];
    stores.cli("cli-1", "events.jsonl", &lines.join("\n"));
    stores.cli_about("cli-1", "Parser");
    // Without the files beside it, its first line names the folder.
    stores.cli("cli-2", "events.jsonl", &lines[..2].join("\n").replace("cli-1", "cli-2"));
    let workspace = stores.open();
    let (text, _) = tell(&workspace, GET, json!({"index": 2, "sessionId": "cli-1"})).await;
    assert_eq!(
        (&text["request"], &text["timestamp"], &text["totalRequests"]),
        (&json!("And its tests"), &json!("2026-01-31T08:05:04.000Z"), &json!(2))
    );
    let (text, _) = tell(&workspace, GET_FIRST, json!({"sessionId": "cli-2"})).await;
    assert_eq!((&text["firstRequest"], &text["requestsCount"]), (&json!("Fix the parser"), &json!(1)));
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn current_dialog_is_newest_session_of_any_store() {
    let stores = Stores::new();
    stores.session("in-editor", MOMENT, &["editor"]);
    let start = json!({"type": "session.start", "data": {"context": {"cwd": stores.project.root()}}});
    let asked = |at: &str| json!({"type": "user.message", "data": {"content": "shell"}, "timestamp": at});
    stores.cli("in-shell", "events.jsonl", &format!("{start}\n{}\n", asked("2026-01-31T08:00:00.000Z")));
    let workspace = stores.open();
    assert_eq!(tell(&workspace, GET_FIRST, json!({})).await.0["sessionId"], "in-editor");
    stores.cli("in-shell", "events.jsonl", &format!("{start}\n{}\n", asked("2026-01-31T09:00:00.000Z")));
    assert_eq!(
        tell(&workspace, GET_FIRST, json!({})).await.0["sessionId"],
        "in-shell",
        "files are read at each call"
    );
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_sessions_of_other_folders_are_not_found() {
    let stores = Stores::new();
    let session = |id: &str| vscode_session(id, MOMENT, &["a secret of another project"]).to_string();
    stores.vscode_of(
        "other",
        &json!({"folder": "file:///somewhere/else"}),
        "foreign.json",
        &session("foreign"),
    );
    stores.vscode_of(
        "remote",
        &json!({"folder": "vscode-remote://ssh-remote%2Bhost/x"}),
        "remote.json",
        &session("remote"),
    );
    stores.vscode_of("none", &json!({}), "none.json", &session("none"));
    let start = json!({"type": "session.start", "data": {"context": {"cwd": "/somewhere/else"}}});
    stores.cli("foreign-cli", "events.jsonl", &format!("{start}\n"));
    stores.cli("foreign-cli", "workspace.yaml", "cwd: /somewhere/else\n");
    // A folder whose name starts with ours is a different one.
    let beside = format!("file://{}-2", stores.project.root().display());
    stores.vscode_of("beside", &json!({"folder": beside}), "beside.json", &session("beside"));
    let workspace = stores.open();
    for id in ["foreign", "remote", "none", "foreign-cli", "beside"] {
        let text = refusal(&workspace, GET, json!({"index": 1, "sessionId": id})).await;
        assert_eq!(text["error"], format!("Session not found: {id}"));
    }
    let listed = workspace.ok("chat_sessions", json!({})).await;
    assert_eq!(listed["count"], 0, "{listed}");
    assert!(!listed.to_string().contains("secret") && !listed.to_string().contains("somewhere"), "{listed}");
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn multi_root_workspace_session_belongs_to_each_folder() {
    let stores = Stores::new();
    let file = stores.project.beside("all.code-workspace");
    fs::write(
        &file,
        "{\n  // mine\n  \"folders\": [{\"path\": \"elsewhere\"}, {\"path\": \"code/project\"},],\n}\n",
    )
    .expect("a file");
    let about = json!({"workspace": format!("file://{}", file.display())});
    stores.vscode_of("multi", &about, "m.json", &vscode_session("m", MOMENT, &["x"]).to_string());
    let below = json!({"folder": format!("file://{}/sub", stores.project.root().display())});
    stores.vscode_of("below", &below, "b.json", &vscode_session("b", MOMENT, &["x"]).to_string());
    let workspace = stores.open();
    for id in ["m", "b"] {
        assert!(tell(&workspace, GET, json!({"index": 1, "sessionId": id})).await.1.ok(), "{id}");
    }
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn broken_session_files_are_skipped_with_a_reason() {
    let stores = Stores::new();
    stores.session("good", MOMENT, &["x"]);
    for (name, text) in [
        ("notes.txt", "hello"),
        ("foreign.json", "{\"some\": \"thing\"}"),
        ("broken.json", "{\"requests\": [{\"message\""),
        ("orphan.jsonl", "{\"kind\":1,\"k\":[\"hasPendingEdits\"],\"v\":true}\n"),
        ("binary.jsonl", "\u{0}\u{1}\u{2}"),
    ] {
        stores.vscode("0123abcd", name, text);
    }
    stores.cli_about("broken-cli", "x");
    stores.cli("broken-cli", "events.jsonl", "no json\n");
    // A link out of the store is not followed.
    let folder = stores.user().join("workspaceStorage/0123abcd/chatSessions");
    let outside = stores.project.beside("outside.json");
    fs::write(&outside, vscode_session("linked", MOMENT, &["from outside"]).to_string()).expect("a file");
    symlink(&outside, folder.join("linked.json")).expect("a link");
    let workspace = stores.open();
    let listed = workspace.ok("chat_sessions", json!({})).await;
    assert_eq!(
        (&listed["sessions"][0]["sessionId"], &listed["sessions"][0]["current"]),
        (&json!("good"), &json!(true))
    );
    let reason = |name: &str| {
        let skipped = listed["skipped"].as_array().expect("a list");
        let found = skipped.iter().find(|skipped| skipped["name"] == name);
        found.and_then(|skipped| skipped["reason"].as_str()).unwrap_or_default().to_owned()
    };
    assert!(reason("notes.txt").contains("neither .json nor .jsonl"), "{listed:#}");
    assert!(reason("foreign.json").contains("not a chat session"), "{listed:#}");
    assert!(reason("broken.json").contains("broken"), "{listed:#}");
    assert!(reason("orphan.jsonl").contains("without a session to change"), "{listed:#}");
    assert!(!reason("binary.jsonl").is_empty(), "{listed:#}");
    assert!(reason("broken-cli").contains("session.start"), "{listed:#}");
    assert!(!listed.to_string().contains("linked"), "{listed:#}");
    let root = stores.project.beside("x");
    let machine = root.parent().expect("a folder").to_string_lossy().into_owned();
    assert!(!listed.to_string().contains(&machine), "no path of the machine: {listed:#}");
    workspace.shutdown().await;
}
