//! The server is notified of files that our tools change before the answer, except files that rules
//! hide.

use serde_json::{Value, json};

use super::stage::{copilot, plays, project, results};

fn call(name: &str, input: Value) -> Value {
    json!({"invoke": {"name": name, "input": input}})
}

#[test]
#[ignore = "slow: just slow"]
fn file_changes_are_sent_in_order_and_turn_undo_reverts_all() {
    let steps = json!([
        call("write", json!({"path": "new.py", "content": "a = 1\n"})),
        call("edit", json!({"path": "new.py", "edits": [{"old": "1", "new": "2"}]})),
        call("edit", json!({"path": "old.rs", "edits": [{"old": "before", "new": "after"}]})),
        call("bash", json!({"command": "echo more >> notes.txt; echo secret > .env"})),
        call("delete", json!({"path": "new.py"})),
    ]);
    let settings = "[permissions]\nprofile = \"all\"\nallow = [\"bash\"]\ndeny = [\"read(.env)\"]\n";
    let project = project(&plays(steps), settings, [("old.rs", "// before\n"), ("notes.txt", "some\n")]);
    let ran = copilot(&project, &["--format", "json", "agent", "go"]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    assert!(results(&project).iter().all(|(status, _)| status == "success"), "{:?}", results(&project));
    let log = project.log();
    let opened = log.params("textDocument/didOpen");
    let names = |params: &[Value]| -> Vec<String> {
        let name = |params: &Value| {
            params["textDocument"]["uri"].as_str().unwrap().rsplit('/').next().unwrap().to_owned()
        };
        params.iter().map(name).collect()
    };
    assert_eq!(names(&opened), ["new.py", "old.rs", "notes.txt"]);
    assert_eq!(opened[0]["textDocument"]["languageId"], "python");
    assert_eq!(opened[0]["textDocument"]["text"], "a = 1\n");
    assert_eq!(opened[1]["textDocument"]["text"], "// after\n");
    assert_eq!(opened[2]["textDocument"]["text"], "some\nmore\n");
    let changed = log.params("textDocument/didChange");
    assert_eq!(names(&changed), ["new.py"]);
    assert_eq!(changed[0]["textDocument"]["version"], 2);
    assert_eq!(changed[0]["contentChanges"], json!([{"text": "a = 2\n"}]));
    assert_eq!(names(&log.params("textDocument/didClose")), ["new.py"]);
    // The first answer came after the notification to the server.
    let messages = log.messages();
    let told = messages.iter().position(|message| message["method"] == "textDocument/didOpen").unwrap();
    let answered = messages.iter().position(|message| message["result"][0]["status"] == "success").unwrap();
    assert!(told < answered);

    let outcome = ran.json();
    assert_eq!(
        outcome["edits"],
        json!(["created new.py", "modified new.py", "modified old.rs", "deleted new.py"])
    );
    let undone = copilot(&project, &["undo", outcome["turn"].as_str().unwrap()]);
    assert_eq!(undone.status, 0, "{}", undone.err);
    assert_eq!(project.read("old.rs"), "// before\n");
    assert!(!project.path("new.py").exists());
    let again = copilot(&project, &["undo", "turn-of-nobody"]);
    assert_eq!(again.status, 1, "{}", again.err);
    assert!(again.err.contains("nothing to undo in the group `turn-of-nobody`"), "{}", again.err);
}

#[test]
fn open_document_changed_on_disk_is_synced_before_each_turn() {
    let project = project(&plays(json!([{"reply": "yes"}])), "", [("a.py", "a = 1\n"), (".env", "KEY=1\n")]);
    let command = project.root().join("a.py");
    let mut chat = project.command(None);
    let chat = chat.args(["copilot", "chat", "--open", "a.py"]);
    let mut chat = chat
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("lsp-tools");
    let mut input = chat.stdin.take().expect("stdin");
    let turns = |count: usize| {
        let asked = move |log: &crate::support::ServerLog| {
            let asked = log.count("conversation/create") + log.count("conversation/turn");
            (asked == count).then_some(())
        };
        project.log().wait_for("a turn", super::stage::LONG, asked);
    };
    use std::io::Write;
    writeln!(input, "first").expect("a line");
    turns(1);
    std::fs::write(command, "a = 3\n").expect("a file");
    writeln!(input, "second").expect("a line");
    turns(2);
    drop(input);
    assert!(chat.wait().expect("an end").success());
    let log = project.log();
    assert_eq!(log.params("textDocument/didOpen")[0]["textDocument"]["text"], "a = 1\n");
    assert_eq!(log.params("textDocument/didChange")[0]["contentChanges"][0]["text"], "a = 3\n");
    // The second turn continues the first one's conversation.
    assert_eq!(log.params("conversation/turn")[0]["conversationId"], "c1");
    assert_eq!(log.params("conversation/turn")[0]["message"], "second");
}
