//! State that outlives a call is named by clients of both eras: groups of edits, and unsaved texts.

use serde_json::{Value, json};

use crate::support::mcp::Mcp;
use crate::support::{Project, wait_until};

fn both(project: &Project) -> [Mcp; 2] {
    [Mcp::legacy(project, None, json!({})), Mcp::modern(project, None, json!({}))]
}

/// Calls a tool, with these fields beside its arguments.
fn call_with(client: &mut Mcp, meta: Value, name: &str, arguments: Value) -> Value {
    client.result("tools/call", json!({"name": name, "arguments": arguments, "_meta": meta}))
}

fn answer(result: &Value) -> &Value {
    &result["structuredContent"]
}

#[test]
fn undo_of_edit_group_leaves_other_edits() {
    let project = Project::new([("a.txt", "a\n"), ("b.txt", "b\n"), ("c.txt", "c\n")]);
    for (turn, mut client) in both(&project).into_iter().enumerate() {
        let group = format!("turn-{turn}");
        let grouped = json!({"lsp-tools/group": group});
        let edit =
            |path: &str, old: &str, new: &str| json!({"path": path, "edits": [{"old": old, "new": new}]});
        // One group from the host, one from the model, and one from neither.
        call_with(&mut client, grouped.clone(), "edit", edit("a.txt", "a", "A"));
        let mut arguments = edit("b.txt", "b", "B");
        arguments["group"] = json!(group);
        let result = client.call("edit", arguments);
        assert_eq!(answer(&result)["ok"], true, "{result}");
        client.call("edit", edit("c.txt", "c", "C"));
        assert_eq!((project.read("a.txt"), project.read("b.txt")), ("A\n".into(), "B\n".into()));
        let undone = client.call("undo", json!({"group": group}));
        assert_eq!(answer(&undone)["results"].as_array().map(Vec::len), Some(2), "{undone}");
        assert_eq!((project.read("a.txt"), project.read("b.txt")), ("a\n".into(), "b\n".into()));
        assert_eq!(project.read("c.txt"), "C\n");
        client.call("undo", json!({}));
        for bad in [json!("two words"), json!(5), json!("x".repeat(65))] {
            let refused =
                call_with(&mut client, json!({"lsp-tools/group": bad}), "edit", edit("a.txt", "a", "A"));
            assert_eq!(answer(&refused)["code"], "invalid_args", "{refused}");
        }
        assert_eq!(project.read("a.txt"), "a\n");
    }
}

fn scripted() -> Project {
    Project::scripted(&json!({"hover_version": false}), "", [("a.scr", "def foo\nfoo\n")])
}

fn hover(client: &mut Mcp, meta: Value) -> Value {
    let result = call_with(client, meta, "lsp_hover", json!({"path": "a.scr", "line": 0, "character": 4}));
    answer(&result)["contents"].clone()
}

#[test]
fn overlay_text_is_seen_only_with_its_handle() {
    let project = scripted();
    let text = "def foo\nfoo foo\n";
    for mut client in both(&project) {
        let saved = hover(&mut client, json!({}));
        let put = client.call("lsp_overlay", json!({"path": "a.scr", "text": text}));
        assert_eq!(
            (&answer(&put)["files"], &answer(&put)["kept_s"]),
            (&json!(["a.scr"]), &json!(1800)),
            "{put}"
        );
        let handle = answer(&put)["overlay"].clone();
        let named = json!({"lsp-tools/overlay": handle});
        let unsaved = hover(&mut client, named.clone());
        assert_ne!(unsaved, saved);
        assert_eq!(hover(&mut client, json!({})), saved, "others see the disk");
        let argument =
            client.call("lsp_hover", json!({"path": "a.scr", "line": 0, "character": 4, "overlay": handle}));
        assert_eq!(answer(&argument)["contents"], unsaved, "{argument}");
        // Another text under the same handle; then the text on disk.
        let again =
            client.call("lsp_overlay", json!({"path": "a.scr", "text": "def foo\n", "overlay": handle}));
        assert_eq!(answer(&again)["overlay"], handle);
        let other = hover(&mut client, named.clone());
        assert!(other != unsaved && other != saved, "{other}");
        let gone = client.call("lsp_overlay", json!({"path": "a.scr", "overlay": handle}));
        assert_eq!(answer(&gone)["files"], json!([]), "{gone}");
        assert_eq!(hover(&mut client, named.clone()), saved);
        client.call("lsp_overlay", json!({"overlay": handle}));
        let late = call_with(&mut client, named, "lsp_hover", json!({"path": "a.scr", "symbol": "foo"}));
        assert_eq!((&late["isError"], &answer(&late)["code"]), (&json!(true), &json!("not_found")), "{late}");
    }
    assert_eq!(project.read("a.scr"), "def foo\nfoo\n", "nothing was written");
}

#[test]
fn edit_with_overlay_handle_is_a_conflict() {
    let project = scripted();
    let mut client = Mcp::modern(&project, None, json!({}));
    let put = client.call("lsp_overlay", json!({"path": "a.scr", "text": "other\n"}));
    let named = json!({"lsp-tools/overlay": answer(&put)["overlay"]});
    let edit = json!({"path": "a.scr", "edits": [{"old": "foo\nfoo", "new": "bar"}]});
    let refused = call_with(&mut client, named, "edit", edit);
    assert_eq!(answer(&refused)["code"], "conflict", "{refused}");
}

#[test]
fn overlay_with_invalid_arguments_is_refused() {
    let project = scripted();
    let mut client = Mcp::modern(&project, None, json!({}));
    for (arguments, code) in [
        (json!({}), "invalid_args"),
        (json!({"text": "x"}), "invalid_args"),
        (json!({"path": "a.scr"}), "invalid_args"),
        (json!({"path": "../a.scr", "text": "x"}), "outside_workspace"),
        (json!({"path": "a.scr", "text": "x", "overlay": "0123456789abcdef0123456789abcdef"}), "not_found"),
        (json!({"overlay": "\u{1b}[2K"}), "not_found"),
    ] {
        let refused = client.call("lsp_overlay", arguments.clone());
        assert_eq!(answer(&refused)["code"], code, "{arguments}: {refused}");
        assert!(!refused.to_string().contains('\u{1b}'), "{refused}");
    }
    let wrong = call_with(&mut client, json!({"lsp-tools/overlay": 5}), "read", json!({"path": "a.scr"}));
    assert_eq!(answer(&wrong)["code"], "invalid_args", "{wrong}");
}

#[test]
fn overlay_arguments_are_listed_only_with_overlay_tool() {
    let project = scripted();
    let schema = |profile: &[&str], tool: &str| {
        let mut client = Mcp::start(&project, None, profile);
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        client.result("initialize", hello);
        let list = client.result("tools/list", json!({}));
        let tools = list["tools"].as_array().expect("tools").clone();
        tools
            .into_iter()
            .find(|found| found["name"] == tool)
            .map(|found| found["inputSchema"]["properties"].clone())
    };
    assert!(schema(&[], "lsp_overlay").is_none());
    assert!(schema(&[], "lsp_definition").expect("lsp_definition").get("overlay").is_none());
    let all = ["--profile", "all"];
    assert_eq!(schema(&all, "lsp_hover").expect("lsp_hover")["overlay"]["type"], "string");
    assert_eq!(schema(&all, "edit").expect("edit")["group"]["type"], "string");
    assert!(schema(&all, "lsp_servers").expect("lsp_servers").get("overlay").is_none());
}

#[test]
fn traceparent_of_call_is_recorded_in_audit_log() {
    let project = Project::new([("a.txt", "a\n")]);
    let mut client = Mcp::modern(&project, None, json!({}));
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    call_with(&mut client, json!({"traceparent": parent}), "read", json!({"path": "a.txt"}));
    call_with(&mut client, json!({"traceparent": "00-none"}), "list", json!({}));
    let audit = project.beside("state").join("audit.jsonl");
    let mut lines = Vec::new();
    wait_until("the calls are in the record", crate::support::mcp::PATIENCE, || {
        let text = std::fs::read_to_string(&audit).unwrap_or_default();
        lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).collect();
        lines.len() == 2
    });
    assert_eq!((&lines[0]["tool"], &lines[0]["trace"]), (&json!("read"), &json!(parent)));
    assert!(lines[1].get("trace").is_none(), "{}", lines[1]);
}

/// Two hosts, one after the other and at once, each with its own process.
#[test]
fn todo_lists_are_per_host_and_resumable_by_session_id() {
    let project = Project::new([]);
    let item = |id: &str| json!([{"id": id, "content": id, "status": "pending", "priority": "low"}]);
    let list = |answer: &Value| answer["structuredContent"]["items"].clone();
    let mut one = Mcp::modern(&project, None, json!({}));
    let mut other = Mcp::legacy(&project, None, json!({}));
    let kept = one.call("todowrite", json!({"todos": item("one")}));
    other.call("todowrite", json!({"todos": item("other")}));
    assert_eq!(list(&one.call("todoread", json!({}))), item("one"));
    drop(one);
    // The host has restarted. Its groups are visible, and the model or the host can name them.
    let mut again = Mcp::modern(&project, None, json!({}));
    let found = again.call("todoread", json!({}));
    let name = &kept["structuredContent"]["session_id"];
    let others = found["structuredContent"]["others"].as_array().expect("the others").clone();
    assert!(others.iter().any(|other| other["session_id"] == *name), "{found}");
    assert_eq!(list(&again.call("todoread", json!({"session_id": name}))), item("one"));
    let named = call_with(&mut again, json!({"lsp-tools/session": name}), "todoread", json!({}));
    assert_eq!(list(&named), item("one"));
}
