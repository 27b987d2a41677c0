//! The names of the server's own tools: the offered ones, and the same path for their calls as for
//! all calls.

use std::sync::Arc;

use lsp_tools::Approval;
use serde_json::{Value, json};

use super::stage::{Answers, Client, copilot, plays, project, results};

#[test]
fn alias_edits_of_server_are_written_and_undone_with_turn() {
    let long = "x = 1\n".repeat(5_000);
    let given = project(&json!({}), "", [("old.py", "x = 0\n")]);
    let path = |name: &str| given.path(name).to_string_lossy().into_owned();
    let steps = json!([
        {"invoke": {"name": "create_file", "input": {"filePath": path("new.py"), "content": "y = 1\n"}}},
        {"invoke": {"name": "insert_edit_into_file",
            "input": {"filePath": path("old.py"), "code": long, "explanation": "longer"}}},
        {"invoke": {"name": "insert_edit_into_file", "input": {}}},
        {"invoke": {"name": "create_file", "input": {"filePath": "/etc/new", "content": ""}}},
    ]);
    given.set_scenario(&plays(steps));
    let ran = copilot(&given, &["--format", "json", "agent", "go"]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    let results = results(&given);
    assert_eq!(results[0], ("success".to_owned(), "y = 1\n".to_owned()));
    // The server uses it as the file's text, so it must not be truncated.
    assert_eq!(results[1], ("success".to_owned(), long.clone()));
    assert!(results[2].0 == "error" && results[2].1.contains("`filePath`"), "{results:?}");
    assert_eq!(results[3].0, "error");
    assert_eq!(given.read("old.py"), long);
    let opened = given.log().params("textDocument/didOpen");
    assert_eq!(opened.len(), 2);
    let turn = ran.json()["turn"].as_str().expect("a name").to_owned();
    assert_eq!(copilot(&given, &["undo", &turn]).status, 0);
    assert_eq!(given.read("old.py"), "x = 0\n");
    assert!(!given.path("new.py").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn terminal_alias_confirmed_by_server_is_asked_once() {
    let input = json!({"command": "echo ran >> ran", "explanation": "e", "isBackground": false});
    let mut asked = input.clone();
    asked["toolType"] = json!("terminal");
    let steps = json!([
        {"confirm": {"name": "run_in_terminal", "title": "Run", "message": "May I?", "input": asked, "toolCallId": "1"}},
        {"invoke": {"name": "run_in_terminal", "input": input, "toolCallId": "1"}},
    ]);
    let project = project(&plays(steps), "", [("ran", "")]);
    let approver = Answers::with(Approval::Once);
    let client = Client::new(&project, |options| options.approver = Arc::new(approver.clone())).await;
    client.turn().await.expect("a turn");
    assert_eq!(approver.tools(), ["run_in_terminal"]);
    assert_eq!(project.read("ran"), "ran\n", "{:?}", results(&project));
    client.close().await;
}

#[test]
fn names_option_selects_registered_aliases() {
    let project = project(&json!({}), "", []);
    let list = |words: &[&str]| {
        let ran = copilot(&project, &[&["--format", "json", "tools"], words].concat());
        assert_eq!(ran.status, 0, "{}", ran.err);
        ran.json()
    };
    let registered = |list: &Value| -> Vec<String> {
        let names = list["names"].as_array().expect("names").iter();
        let names = names.filter(|name| name["registered"] == true);
        names.map(|name| name["name"].as_str().expect("a name").to_owned()).collect()
    };
    let usual = list(&[]);
    assert!(registered(&usual).contains(&"get_errors".to_owned()));
    assert!(!registered(&usual).contains(&"read_file".to_owned()));
    assert_eq!(
        (&usual["hidden"], &usual["unlocked"]),
        (&json!([]), &json!(["create_file", "insert_edit_into_file"]))
    );
    let none = list(&["--names", "none"]);
    assert_eq!((registered(&none), &none["unlocked"]), (Vec::new(), &json!([])));
    let some = list(&["--names", "read_file,get_errors"]);
    assert_eq!(registered(&some), ["read_file", "get_errors"]);
    assert_eq!(some["hidden"], json!(["read_file"]));
    let wrong = copilot(&project, &["tools", "--names", "read_fil"]);
    assert_eq!(wrong.status, 2);
    assert!(wrong.err.contains("`read_fil` is not the name"), "{}", wrong.err);
    // All registered names are unregistered, including those that the server hides.
    let ids = project.log().params("conversation/unregisterTools");
    assert!(ids[0]["toolIds"].to_string().contains("copilot-editor.insert_edit_into_file"), "{}", ids[0]);
}
