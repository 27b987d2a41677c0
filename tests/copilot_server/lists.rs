//! The list of tools, and a server that misreports it.

use serde_json::json;

use super::stage::{copilot, plays, project, results};

#[test]
fn every_profile_registers_its_tools() {
    for (profile, count) in [("core", 28), ("lsp", 0), ("read-only", 0), ("edit", 0), ("all", 0)] {
        let project = project(&json!({}), "", []);
        let ran = copilot(&project, &["--format", "json", "tools", "--profile", profile]);
        assert_eq!(ran.status, 0, "{profile}: {}", ran.err);
        let list = ran.json();
        assert_eq!((&list["left_out"], &list["oddities"]), (&json!([]), &json!([])), "{profile}");
        let ours = list["tools"].as_array().unwrap().iter().filter(|tool| tool["origin"] == "ours").count();
        assert!(ours > 5 && (count == 0 || ours == count), "{profile}: {ours}");
    }
}

/// The definition, name, code and registration of a tool in one file.
#[test]
fn tool_added_as_one_file_is_registered_and_called_by_its_name() {
    let steps = json!([{"invoke": {"name": "own_tool", "input": {"text": "hello"}}}]);
    let settings = "permissions.allow = [\"own_tool\"]\n";
    let project = project(&plays(steps), settings, []);
    let schema =
        json!({"type": "object", "properties": {"text": {"type": "string", "description": "The words"}}});
    let manifest = json!({"name": "own_tool", "description": "Gives words back.", "effect": "read",
        "schema": schema, "command": ["cat"]});
    std::fs::create_dir_all(project.beside("config").join("tools")).unwrap();
    std::fs::write(project.beside("config").join("tools/own_tool.json"), manifest.to_string()).unwrap();
    let ran = copilot(&project, &["agent", "go", "--profile", "all"]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    let lists = project.log().params("conversation/registerTools");
    let registered = lists.iter().flat_map(|list| list["tools"].as_array().into_iter().flatten());
    let own: Vec<_> = registered.filter(|tool| tool["name"] == "own_tool").collect();
    assert_eq!(own.len(), 1, "{lists:?}");
    assert_eq!(own[0]["description"], "Gives words back.");
    assert_eq!(own[0]["inputSchema"]["properties"]["text"]["type"], "string");
    let [(status, text)] = &results(&project)[..] else { panic!("{}", ran.err) };
    assert!(status == "success" && text.contains("hello"), "{text}");
}

#[test]
fn tool_refused_by_server_is_warned_and_others_are_registered() {
    let project = project(&json!({"refuses": ["lsp_references", "bash"], "hides": ["glob"]}), "", []);
    let ran = copilot(&project, &["tools"]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    let refused = "is not registered: the server rejects it: inputSchema/properties: not to my taste";
    for name in ["lsp_references", "bash"] {
        assert!(ran.err.contains(&format!("warning: {name} {refused}")), "{}", ran.err);
    }
    assert!(
        ran.err.contains("warning: glob is not registered: the server accepted it but does not list it"),
        "{}",
        ran.err
    );
    assert!(ran.out.contains("lsp_rename") && !ran.out.contains("lsp_references"), "{}", ran.out);
    assert_eq!(project.log().count("conversation/registerTools"), 3);
}

#[test]
fn tool_shadowing_server_tool_is_not_registered() {
    let manifest = json!({"name": "read_file", "description": "d", "effect": "read",
        "schema": {"type": "object", "properties": {}}, "command": ["true"]});
    let project = project(&json!({}), "", []);
    std::fs::create_dir_all(project.beside("config").join("tools")).unwrap();
    std::fs::write(project.beside("config").join("tools/read_file.json"), manifest.to_string()).unwrap();
    let ran = copilot(&project, &["tools", "--profile", "all"]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    assert!(
        ran.err.contains("read_file is not registered: the server has a tool of that name"),
        "{}",
        ran.err
    );
}

#[test]
fn invalid_or_oversized_tool_list_is_an_error() {
    let many: Vec<String> = (0..120).map(|number| format!("own_{number}")).collect();
    let cases = [
        (json!({"refuses_all": true}), "conversation/registerTools failed: Schema validation failed"),
        (
            json!({"list": {"tools": []}}),
            "the response to conversation/registerTools cannot be decoded: it is not a list",
        ),
        (json!({"own": many}), "28 tools of lsp-tools and 124 others exceed the limit of 128 for a model"),
    ];
    for (scenario, said) in cases {
        let project = project(&scenario, "", []);
        let ran = copilot(&project, &["tools"]);
        assert!(ran.status == 4 || ran.status == 2, "{scenario}: {}", ran.status);
        assert!(ran.err.contains(said), "{scenario}: {}", ran.err);
        assert_eq!(project.log().events("exit").len(), 1, "{scenario}");
    }
}

#[test]
fn tool_list_invalid_entries_and_foreign_entries_are_told_apart() {
    let entry = |id: &str, kind: &str| json!({"id": id, "name": id, "type": kind, "status": "enabled"});
    let list = json!([5, {"id": 7}, entry("copilot.x", "shared"), entry("copilot.x", "shared"), entry("mcp.y", "mcp"),
        entry("copilot-editor.stranger", "client")]);
    let project = project(&json!({"list": list}), "", []);
    let ran = copilot(&project, &["--format", "json", "tools"]);
    let list = ran.json();
    let origins: Vec<&str> =
        list["tools"].as_array().unwrap().iter().map(|tool| tool["origin"].as_str().unwrap()).collect();
    assert_eq!(origins, ["server", "other", "other"]);
    assert_eq!(list["left_out"].as_array().unwrap().len(), 30);
    assert_eq!(list["oddities"], json!(["the server lists `copilot.x` twice"]));
}
