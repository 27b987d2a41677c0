//! Calls: results match their schemas, failures are results, slow work reports progress.

use lsp_tools::Schema;
use serde_json::{Value, json};

use crate::support::Project;
use crate::support::mcp::Mcp;

fn scripted() -> Project {
    let index = json!({"index": {"ms": 600, "steps": 4, "title": "Indexing"}});
    Project::scripted(&index, "", [("a.scr", "def one\none\n"), ("b.scr", "one WRONG\n")])
}

#[test]
fn tool_results_conform_to_their_output_schema() {
    let project = scripted();
    let mut client = Mcp::start(&project, None, &["--profile", "all", "--output-schemas"]);
    client.greet(json!({}));
    let list = client.result("tools/list", json!({}));
    let schema = |name: &str| {
        let tools = list["tools"].as_array().expect("tools");
        tools.iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("{name}"))["outputSchema"]
            .clone()
    };
    let at = json!({"path": "a.scr", "line": 1, "symbol": "one"});
    let calls = [
        ("explore", at.clone()),
        ("lsp_hover", at.clone()),
        ("lsp_definition", at.clone()),
        ("lsp_references", at.clone()),
        ("lsp_diagnostics", json!({"path": "b.scr"})),
        ("lsp_symbols", json!({"path": "a.scr"})),
        ("lsp_servers", json!({})),
        ("read", json!({"path": "a.scr"})),
        ("list", json!({})),
        ("glob", json!({"pattern": "*.scr"})),
        ("grep", json!({"pattern": "one"})),
        ("write", json!({"path": "new.txt", "content": "x\n"})),
        ("edit", json!({"path": "new.txt", "edits": [{"old": "x", "new": "y"}]})),
        ("undo", json!({})),
        ("todoread", json!({})),
        ("read", json!({"path": "none"})),
        ("edit", json!({"path": "new.txt", "edits": []})),
        ("read", json!({"path": 5})),
        ("read", json!({"path": "../x"})),
    ];
    for (name, arguments) in calls {
        let result = client.call(name, arguments.clone());
        let answer = &result["structuredContent"];
        let checked = Schema::new(schema(name)).check(name, answer);
        assert!(checked.is_ok(), "{name} {arguments}: {checked:?} in {answer}");
        assert_eq!(answer["ok"].as_bool().map(|ok| !ok), Some(result["isError"] == true), "{name} {result}");
        let text = result["content"][0]["text"].as_str().expect("a text");
        assert!(
            text.len() <= answer.to_string().len() + 16,
            "{name}: the text is longer than the JSON\n{text}\n{answer}"
        );
        if result["isError"] == true {
            let code = answer["code"].as_str().expect("a code");
            assert!(
                text.starts_with(code) && text.contains(answer["error"].as_str().expect("a sentence")),
                "{text}"
            );
        }
    }
}

#[test]
fn text_answers_have_neither_structured_form_nor_its_schema() {
    let project = scripted();
    for arguments in [["--profile", "all", "--text-answers"].as_slice(), &["--text-answers"]] {
        let mut client = Mcp::start(&project, None, arguments);
        client.greet(json!({}));
        let list = client.result("tools/list", json!({}));
        let tools = list["tools"].as_array().expect("tools");
        assert!(!tools.is_empty() && tools.iter().all(|tool| tool.get("outputSchema").is_none()), "{list}");
        let result = client.call("lsp_references", json!({"path": "a.scr", "line": 1, "symbol": "one"}));
        assert!(result.get("structuredContent").is_none(), "{result}");
        let text = result["content"][0]["text"].as_str().expect("a text");
        assert!(
            text.contains("  a.scr\n    1:5 def one\n    2:1 one\n") && text.ends_with("complete"),
            "{text}"
        );
    }
}

#[test]
fn result_locations_are_resource_links_and_short_text() {
    let project = scripted();
    let mut client = Mcp::legacy(&project, None, json!({}));
    let result = client.call("lsp_references", json!({"path": "a.scr", "line": 1, "symbol": "one"}));
    let links: Vec<&Value> = result["content"].as_array().into_iter().flatten().skip(1).collect();
    let names: Vec<&Value> = links.iter().map(|link| &link["name"]).collect();
    assert_eq!(names, ["a.scr", "b.scr"], "{result}");
    assert_eq!(links[0]["type"], "resource_link");
    let read = client.result("resources/read", json!({"uri": links[1]["uri"]}));
    assert_eq!(read["contents"][0]["text"], "one WRONG\n");
    let text = result["content"][0]["text"].as_str().expect("a text");
    assert!(text.contains("  a.scr\n    1:5 def one\n    2:1 one\n") && text.ends_with("complete"), "{text}");
}

/// The notifications of a call with the token `mine` until its answer: each has a new message and
/// more progress than the last.
fn progress_of(client: &mut Mcp, id: u64) -> Vec<Value> {
    let mut told: Vec<Value> = Vec::new();
    loop {
        let message = client.find("progress or the answer", |_| true);
        if message["id"] == json!(id) {
            return told;
        }
        assert_eq!(message["method"], "notifications/progress", "{message}");
        let params = &message["params"];
        assert_eq!(params["progressToken"], "mine");
        let progress = params["progress"].as_f64().expect("a number");
        if let Some(last) = told.last() {
            assert!(
                progress > last["progress"].as_f64().expect("a number"),
                "it only grows: {message} after {last}"
            );
            assert_ne!(params["message"], last["message"], "{message}");
        }
        assert!(params["total"].as_f64().is_none_or(|total| progress <= total), "{message}");
        told.push(params.clone());
    }
}

#[test]
fn progress_of_a_check_counts_files_and_has_their_total() {
    let files: Vec<(String, &str)> = (0..24).map(|n| (format!("f{n}.scr"), "one WRONG\n")).collect();
    let play =
        json!({"index": {"ms": 300, "steps": 3, "title": "Indexing"}, "diagnostics": {"debounce_ms": 250}});
    let project = Project::scripted(&play, "", files.iter().map(|(name, text)| (name.as_str(), *text)));
    let mut client = Mcp::legacy(&project, None, json!({}));
    let call = json!({"name": "lsp_diagnostics", "arguments": {}, "_meta": {"progressToken": "mine"}});
    let id = client.request("tools/call", call);
    let told = progress_of(&mut client, id);
    let counted: Vec<&Value> = told
        .iter()
        .filter(|told| told["message"].as_str().is_some_and(|text| text.ends_with("files checked")))
        .collect();
    assert!(!counted.is_empty() && counted.iter().all(|told| told["total"] == 24.0), "{told:?}");
}

#[test]
fn progress_of_a_command_counts_its_lines_of_output() {
    let project = Project::new([("a.txt", "x\n")]);
    let settings = project.beside("config").join("lsp-tools.toml");
    std::fs::write(settings, "[permissions]\nallow = ['bash']\n").expect("settings");
    let mut client = Mcp::legacy(&project, None, json!({}));
    let command = "for n in 1 2 3; do echo line $n; sleep 0.4; done; sleep 1.2";
    let call = json!({"name": "bash", "arguments": {"command": command}, "_meta": {"progressToken": "mine"}});
    let id = client.request("tools/call", call);
    let told = progress_of(&mut client, id);
    assert!(told.iter().any(|told| told["progress"].as_f64() == Some(3.0)), "{told:?}");
    assert!(
        told.iter()
            .any(|told| told["message"].as_str().is_some_and(|text| text.contains("3 lines of output"))),
        "{told:?}"
    );
    client.call("bash", json!({"command": "sleep 1.2"}));
    let late =
        client.find_within(std::time::Duration::from_millis(100), |message| message.get("method").is_some());
    assert_eq!(late, None, "no notification without a token");
}

#[test]
fn progress_is_sent_only_for_progress_token_of_the_call() {
    let project = scripted();
    let mut client = Mcp::legacy(&project, None, json!({}));
    let call = json!({
        "name": "lsp_references",
        "arguments": {"path": "a.scr", "line": 1, "symbol": "one"},
        "_meta": {"progressToken": "mine"},
    });
    let id = client.request("tools/call", call);
    let told = progress_of(&mut client, id);
    assert!(told.len() >= 2, "{told:?}");
    client.call("read", json!({"path": "a.scr"}));
    client.call("lsp_hover", json!({"path": "b.scr", "line": 0, "symbol": "one"}));
    let late =
        client.find_within(std::time::Duration::from_millis(300), |message| message.get("method").is_some());
    assert_eq!(late, None, "no notification after the answer or without a token");
}

#[test]
fn pipelined_edits_of_one_file_are_all_applied() {
    let text = |word: &str| (0..8).map(|n| format!("{word}{n}\n")).collect::<String>();
    let project = Project::new([("a.txt", text("old").as_str())]);
    let mut client = Mcp::modern(&project, None, json!({}));
    let edits = (0..8).map(|n| json!([{"old": format!("old{n}\n"), "new": format!("new{n}\n")}]));
    let calls = edits.map(|edits| json!({"name": "edit", "arguments": {"path": "a.txt", "edits": edits}}));
    let asked: Vec<u64> = calls.map(|call| client.request("tools/call", call)).collect();
    for id in asked {
        let answer = client.answer(id);
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }
    assert_eq!(project.read("a.txt"), text("new"));
}

#[test]
fn drop_in_tool_error_is_failure_and_call_id_is_passed() {
    let project = Project::new([("a.txt", "a")]);
    let folder = project.beside("config").join("tools");
    std::fs::create_dir_all(&folder).expect("a folder");
    for (name, said) in [
        ("fails", r#"{\"result\": \"error\", \"message\": \"disk full\"}"#),
        (
            "knows",
            r#"[{\"type\": \"text\", \"value\": \"call $LSP_TOOLS_TOOL_CALL_ID of $LSP_TOOLS_TOOL_NAME\"}]"#,
        ),
    ] {
        let manifest = json!({"name": name, "description": "A test.", "effect": "read", "inputSchema": {},
                              "command": ["sh", "-c", format!("echo \"{said}\"")]});
        std::fs::write(folder.join(format!("{name}.json")), manifest.to_string()).expect("a manifest");
    }
    let mut client = Mcp::modern(&project, None, json!({}));
    let failed = client.call("fails", json!({}));
    assert_eq!(
        (&failed["isError"], &failed["content"][0]["text"]),
        (&json!(true), &json!("internal: disk full"))
    );
    let id = client.request("tools/call", json!({"name": "knows", "arguments": {}}));
    let answer = client.answer(id);
    assert_eq!(answer["result"]["content"][0]["text"], format!("call {id} of knows"), "{answer}");
}
