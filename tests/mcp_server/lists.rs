//! The information for clients before any call: the server, its tools, resources and prompts.

use lsp_tools::Schema;
use serde_json::{Value, json};

use crate::support::Project;
use crate::support::mcp::{MODERN, Mcp};

#[path = "../../bench/support/token_budgets.rs"]
mod token_budgets;

fn both(project: &Project) -> [Mcp; 2] {
    [Mcp::legacy(project, None, json!({})), Mcp::modern(project, None, json!({}))]
}

#[test]
fn legacy_and_modern_clients_are_served_by_one_process() {
    let project = Project::of_fixture("python");
    let mut client = Mcp::legacy(&project, None, json!({}));
    let legacy = client.result("tools/list", json!({}));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let modern = client.result("tools/list", json!({"_meta": meta}));
    assert_eq!(legacy["tools"], modern["tools"]);
    assert_eq!((legacy.get("resultType"), modern["resultType"].as_str()), (None, Some("complete")));
    let found = client.result("server/discover", json!({"_meta": meta}));
    assert!(
        found["supportedVersions"].as_array().is_some_and(|versions| versions.contains(&json!(MODERN))),
        "{found}"
    );
    assert_eq!(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "lsp-tools", "{found}");
}

#[test]
fn tool_list_has_annotations_and_schemas_and_stable_order() {
    let project = Project::of_fixture("python");
    for mut client in both(&project) {
        let list = client.result("tools/list", json!({}));
        let tools = list["tools"].as_array().expect("tools").clone();
        let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
        assert_eq!(&names[..4], ["explore", "lsp_diagnostics", "lsp_definition", "lsp_references"]);
        assert_eq!(names.len(), 20, "the tools of models: {names:?}");
        for tool in &tools {
            let name = &tool["name"];
            assert!(tool["title"].as_str().is_some_and(|title| !title.is_empty()), "{name}");
            for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
                assert!(tool["annotations"][hint].is_boolean(), "{name} {hint}");
            }
            assert_eq!(tool["inputSchema"]["type"], "object", "{name}");
            assert_eq!(tool.get("outputSchema"), None, "{name}");
            Schema::new(tool["inputSchema"].clone()).verify().expect("a schema");
        }
        let read = tools.iter().find(|tool| tool["name"] == "read").expect("read");
        assert_eq!(read["annotations"]["readOnlyHint"], true);
        let bash = tools.iter().find(|tool| tool["name"] == "bash").expect("bash");
        assert_eq!(
            (&bash["annotations"]["openWorldHint"], &bash["annotations"]["readOnlyHint"]),
            (&json!(true), &json!(false))
        );
        assert!(list.to_string().len() < 15_000, "every client pays for {} bytes", list.to_string().len());
        assert_eq!(
            client.result("tools/list", json!({}))["tools"],
            list["tools"],
            "the order is the same each time"
        );
        assert_eq!(client.error("tools/list", json!({"cursor": "no-such-page"})), -32602);
        assert_eq!(client.error("prompts/list", json!({"cursor": "no-such-page"})), -32602);
    }
}

#[test]
fn profile_option_limits_listed_tools() {
    let project = Project::of_fixture("python");
    let mut client = Mcp::start(&project, None, &["--profile", "lsp"]);
    let initialize = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let answer = client.result("initialize", initialize);
    assert_eq!(answer["protocolVersion"], "2025-06-18");
    assert_eq!(answer["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
    assert!(answer["instructions"].as_str().is_some_and(|text| text.len() < 600), "{answer}");
    let list = client.result("tools/list", json!({}));
    let names: Vec<&str> =
        list["tools"].as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str()).collect();
    assert!(names.contains(&"lsp_hover") && !names.contains(&"bash"), "{names:?}");
    assert_eq!(client.error("tools/call", json!({"name": "no_such_tool", "arguments": {}})), -32602);
}

#[test]
fn profile_lsp_lists_few_tools_and_all_others_can_be_found_and_called() {
    let project = Project::new([("a.txt", "hello\n")]);
    for profile in ["core", "lsp"] {
        let mut client = Mcp::start(&project, None, &["--profile", profile]);
        client.greet(json!({}));
        let list = client.result("tools/list", json!({}));
        let listed: Vec<&str> =
            list["tools"].as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str()).collect();
        assert!(listed.len() <= if profile == "core" { 20 } else { 12 }, "{listed:?}");
        let found = client.call("tools", json!({}));
        let all = found["structuredContent"]["tools"].as_object().expect("names").clone();
        assert!(all.len() > 45 && listed.iter().all(|name| all.contains_key(*name)), "{found}");
        assert!(all.values().all(|line| line.as_str().is_some_and(|line| !line.is_empty())), "{found}");
        let shown = client.call("tools", json!({"name": "mkdir"}));
        let definition = &shown["structuredContent"]["definition"];
        assert_eq!(definition["inputSchema"]["required"], json!(["path"]), "{shown}");
        let folder = format!("made-for-{profile}");
        let made = client.call("tools", json!({"name": "mkdir", "arguments": {"path": folder}}));
        assert_eq!(made["isError"], false, "{made}");
        assert!(project.path(&folder).is_dir());
        assert_eq!(client.call("list", json!({"path": folder}))["isError"], false);
        let unknown = client
            .ask("tools/call", json!({"name": "tools", "arguments": {"name": "no_such", "arguments": {}}}));
        assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
        let denied = client.call("tools", json!({"name": "bash", "arguments": {"command": "ls"}}));
        assert_eq!(
            denied["structuredContent"]["code"], "denied",
            "rules are those of the tool that is called: {denied}"
        );
    }
}

#[test]
fn documents_state_the_number_of_tools_in_each_list() {
    let project = Project::new([("a.txt", "hello\n")]);
    let count = |profile: &str| {
        let mut client = Mcp::start(&project, None, &["--profile", profile]);
        client.greet(json!({}));
        client.result("tools/list", json!({}))["tools"].as_array().map_or(0, Vec::len)
    };
    let read = |path: &str| {
        let text = std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path));
        text.expect("a document").replace('\n', " ")
    };
    let (comparison, agents) = (read("docs/comparison.md"), read("docs/agents.md"));
    let [core, lsp, all] = ["core", "lsp", "all"].map(count);
    for (document, sentence) in [
        (&comparison, format!("| tools listed by default | {core} |")),
        (&agents, format!("There are {all} tools.")),
        (&agents, format!("the default profile `core` lists {core}.")),
        (&agents, format!("| `core` | {core} |")),
        (&agents, format!("| `lsp` | {lsp} |")),
        (&agents, format!("| `read-only` | {} |", count("read-only"))),
        (&agents, format!("| `edit` | {} |", count("edit"))),
        (&agents, format!("| `all` | {all} |")),
    ] {
        assert!(document.contains(&sentence), "{sentence}");
    }
}

#[test]
fn output_schemas_are_listed_only_on_request() {
    let project = Project::new([("a.txt", "hello\n")]);
    let mut client = Mcp::start(&project, None, &["--output-schemas"]);
    client.greet(json!({}));
    let list = client.result("tools/list", json!({}));
    for tool in list["tools"].as_array().expect("tools") {
        assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
        Schema::new(tool["outputSchema"].clone()).verify().expect("a schema");
    }
}

#[test]
fn every_listed_argument_has_a_description_in_every_profile() {
    fn undescribed(schema: &Value, place: &str, found: &mut Vec<String>) {
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let place = format!("{place}.{name}");
            if property["description"].as_str().is_none_or(|text| text.trim().is_empty()) {
                found.push(place.clone());
            }
            undescribed(property, &place, found);
            undescribed(&property["items"], &place, found);
        }
    }
    let project = Project::new([("a.txt", "hello\n")]);
    let settings = project.beside("config").join("lsp-tools.toml");
    std::fs::write(settings, "chats.enabled = true\n").expect("settings");
    for profile in ["core", "lsp", "read-only", "edit", "all"] {
        let mut client = Mcp::start(&project, None, &["--profile", profile]);
        client.greet(json!({}));
        let mut found = Vec::new();
        for tool in client.result("tools/list", json!({}))["tools"].as_array().expect("tools") {
            undescribed(&tool["inputSchema"], tool["name"].as_str().expect("a name"), &mut found);
        }
        assert_eq!(found, Vec::<String>::new(), "{profile}");
    }
}

#[test]
fn tool_lists_stay_within_their_token_budgets() {
    let tokens = tiktoken_rs::o200k_base().expect("a vocabulary");
    let project = Project::new([("a.txt", "hello\n")]);
    for (profile, budget) in [("core", token_budgets::CORE), ("lsp", token_budgets::LSP)] {
        let mut client = Mcp::start(&project, None, &["--profile", profile]);
        client.greet(json!({}));
        let list = client.result("tools/list", json!({}));
        let tools = list["tools"].as_array().expect("tools");
        let spent = token_budgets::listed(tools, |text| tokens.encode_ordinary(text).len());
        assert!(
            spent <= budget,
            "the list of {profile} takes {spent} tokens; descriptions can say less (`just tokens`)"
        );
    }
}

#[test]
fn names_and_arguments_of_other_programs_are_those_of_our_tools() {
    let project = Project::new([("a.txt", "one\n"), ("sub/b.txt", "two\n")]);
    let settings = project.beside("config").join("lsp-tools.toml");
    std::fs::write(settings, "[permissions]\nallow = ['bash']\n").expect("settings");
    let absolute = project.path("a.txt").display().to_string();
    for mut client in both(&project) {
        for (name, arguments, field, value) in [
            ("read_file", json!({"filePath": absolute}), "content", json!("one\n")),
            ("list_dir", json!({"path": "sub"}), "/items/0/name", json!("b.txt")),
            ("file_search", json!({"query": "b.txt"}), "matches", json!(["sub/b.txt"])),
            ("grep_search", json!({"query": "two"}), "count", json!(1)),
            ("run_in_terminal", json!({"command": "echo x", "explanation": "why"}), "stdout", json!("x\n")),
            ("bash", json!({"command": "sleep 9", "timeout": 50}), "exit_code", json!(124)),
            ("create_file", json!({"filePath": "new.txt", "content": "x\n"}), "operation", json!("created")),
            ("edit", json!({"path": "new.txt", "old": "x", "new": "y"}), "operation", json!("modified")),
            (
                "replace_string_in_file",
                json!({"filePath": "new.txt", "oldString": "y", "newString": "z"}),
                "operation",
                json!("modified"),
            ),
            (
                "multi_replace_string",
                json!({"replacements": [
                    {"filePath": "new.txt", "oldString": "z", "newString": "x"},
                    {"filePath": "sub/b.txt", "oldString": "two", "newString": "2"},
                ]}),
                "/results/1/path",
                json!("sub/b.txt"),
            ),
            ("move", json!({"path": "new.txt", "to": "newer.txt"}), "/results/0/operation", json!("renamed")),
            (
                "todowrite",
                json!({"todos": [{"content": "look", "status": "pending"}], "session_id": "s"}),
                "/items/0",
                json!({"id": "1", "content": "look", "status": "pending", "priority": "medium"}),
            ),
            (
                "get-library-docs",
                json!({"library_id": "playwright", "query": "wait"}),
                "libraryId",
                json!("playwright"),
            ),
            (
                "resolve-library-id",
                json!({"library_name": "playwright"}),
                "/libraries/0/id",
                json!("playwright"),
            ),
            ("delete_file", json!({"path": "newer.txt"}), "/results/0/operation", json!("deleted")),
        ] {
            let answer = &client.call(name, arguments.clone())["structuredContent"];
            let found = if field.starts_with('/') { answer.pointer(field) } else { answer.get(field) };
            assert_eq!(found, Some(&value), "{name} {arguments}: {answer}");
            project.write("sub/b.txt", "two\n");
        }
        let refused = client.call("read", json!({"pth": "a.txt"}));
        let error = &refused["structuredContent"]["error"];
        assert!(error.as_str().is_some_and(|error| error.contains("did you mean `path`?")), "{refused}");
    }
}

#[test]
fn resource_read_outside_workspace_is_refused() {
    let project = Project::new([("src/a.txt", "hello\n"), ("secret.txt", "hidden\n")]);
    std::fs::write(
        project.beside("config").join("lsp-tools.toml"),
        "[permissions]\ndeny = ['read(secret.txt)']\n",
    )
    .expect("settings");
    std::fs::hard_link(project.path("secret.txt"), project.path("twin.txt")).expect("a hard link");
    std::os::unix::fs::symlink("/etc/passwd", project.path("link")).expect("a link");
    for mut client in both(&project) {
        let uri = |path: &str| format!("file://{}", project.path(path).display());
        let read = client.result("resources/read", json!({"uri": uri("src/a.txt")}));
        assert_eq!(read["contents"][0]["text"], "hello\n");
        let outside = [
            "file:///etc/passwd".to_owned(),
            uri("../config/lsp-tools.toml"),
            uri("%2e%2e/config/lsp-tools.toml"),
            uri("link"),
            uri("secret.txt"),
            uri("twin.txt"),
            uri("none.txt"),
            "file://elsewhere/etc/passwd".to_owned(),
            "lsp-tools://diagnostics/none.py".to_owned(),
            "lsp-tools://diagnostics/..%2F..%2Fetc".to_owned(),
            "lsp-tools://nothing/".to_owned(),
            "lsp-tools://logs/none".to_owned(),
            "no uri".to_owned(),
            "https://example.com/".to_owned(),
        ];
        for uri in outside {
            let answer = client.ask("resources/read", json!({"uri": uri}));
            assert_eq!(
                (&answer["error"]["code"], &answer["error"]["data"]["uri"]),
                (&json!(-32602), &json!(uri)),
                "{answer}"
            );
            assert!(!answer.to_string().contains("root:"), "{answer}");
        }
        let list = client.result("resources/list", json!({}));
        assert_eq!(list["resources"][0]["uri"], "lsp-tools://diagnostics");
        let templates = client.result("resources/templates/list", json!({}));
        assert_eq!(templates["resourceTemplates"].as_array().map(Vec::len), Some(3));
    }
}

#[test]
fn prompts_and_completions_use_project_files() {
    let project = Project::of_fixture("python");
    for mut client in both(&project) {
        let list = client.result("prompts/list", json!({}));
        let names: Vec<&Value> =
            list["prompts"].as_array().into_iter().flatten().map(|prompt| &prompt["name"]).collect();
        assert_eq!(names, ["fix-errors", "rename-safely", "explore-symbol"]);
        let prompt = json!({"name": "fix-errors", "arguments": {"path": "greet/`app`.py\u{1b}[0m"}});
        let text = client.result("prompts/get", prompt)["messages"][0]["content"]["text"].to_string();
        assert!(text.contains("greet/'app'.py [0m") && text.contains("lsp_diagnostics"), "{text}");
        for wrong in [
            json!({"name": "none"}),
            json!({"name": "fix-errors"}),
            json!({"name": "fix-errors", "arguments": {"path": ""}}),
            json!({"name": "fix-errors", "arguments": {"path": 5}}),
        ] {
            assert_eq!(client.error("prompts/get", wrong.clone()), -32602, "{wrong}");
        }
        let complete = |name: &str, argument: &str, value: &str| json!({"ref": {"type": "ref/prompt", "name": name}, "argument": {"name": argument, "value": value}});
        let paths = client.result("completion/complete", complete("fix-errors", "path", "mess"));
        assert_eq!(paths["completion"]["values"], json!(["greet/messages.py"]));
        assert_eq!(client.error("completion/complete", complete("none", "path", "")), -32602);
        let symbols = client.result("completion/complete", complete("explore-symbol", "symbol", "greet_a"));
        assert_eq!(symbols["completion"]["values"][0], "greet_all", "{symbols}");
    }
}
