//! What a client learns before it calls anything: who answers, which tools, resources and prompts there are.

use lsp_tools::Schema;
use serde_json::{Value, json};

use crate::support::Project;
use crate::support::mcp::{MODERN, Mcp};

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
        assert_eq!(names.len(), 16, "what models choose from: {names:?}");
        for tool in &tools {
            let name = &tool["name"];
            assert!(tool["title"].as_str().is_some_and(|title| !title.is_empty()), "{name}");
            for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
                assert!(tool["annotations"][hint].is_boolean(), "{name} {hint}");
            }
            assert_eq!(tool["inputSchema"]["type"], "object", "{name}");
            assert_eq!(tool["outputSchema"]["type"], "object", "{name}");
            Schema::new(tool["inputSchema"].clone()).verify().expect("a schema");
            Schema::new(tool["outputSchema"].clone()).verify().expect("a schema");
        }
        let read = tools.iter().find(|tool| tool["name"] == "read").expect("read");
        assert_eq!(read["annotations"]["readOnlyHint"], true);
        let bash = tools.iter().find(|tool| tool["name"] == "bash").expect("bash");
        assert_eq!(
            (&bash["annotations"]["openWorldHint"], &bash["annotations"]["readOnlyHint"]),
            (&json!(true), &json!(false))
        );
        assert!(
            list.to_string().len() < 40_000,
            "{} bytes are what every client pays for",
            list.to_string().len()
        );
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
