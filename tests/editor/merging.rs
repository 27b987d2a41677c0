//! Two servers for one file, and one editor that sees one server.

use std::fs;

use serde_json::{Value, json};

use super::client::{Client, able, open};
use crate::support::{Project, SCRIPTED};

/// A project whose `.scr` files have two servers: the scripted one, and one called `second` that
/// plays `second`.
fn with_two(first: &Value, second: &Value, text: &str) -> Project {
    let project = Project::scripted(first, "", [("a.scr", text)]);
    let scenario = project.beside("logs").join("second.json");
    let mut second = second.clone();
    second["log"] = json!(project.beside("logs").join("second.jsonl"));
    fs::write(&scenario, second.to_string()).expect("the scenario");
    let file = project.beside("config").join("servers.toml");
    let catalogue = fs::read_to_string(&file).expect("servers.toml");
    let catalogue = catalogue
        .replace(&format!("servers = [\"{SCRIPTED}\"]"), &format!("servers = [\"{SCRIPTED}\", \"second\"]"));
    let [program, _] = project.server_command();
    let second = format!(
        "[server.second]\nname = \"Second\"\nlanguages = [\"{SCRIPTED}\"]\n\
         command = [{}, {}]\n",
        json!(program),
        json!(scenario)
    );
    fs::write(file, format!("{catalogue}\n{second}")).expect("servers.toml");
    project
}

fn action(title: &str, command: &str) -> Value {
    json!({
        "answers": {
            "textDocument/codeAction": {"result": [
                {"title": title, "kind": "quickfix", "data": {"of": title}},
                {"title": format!("run {title}"), "command": {"title": "run", "command": command, "arguments": [title]}},
            ]},
            "codeAction/resolve": {"result": {
                "title": title,
                "edit": {"documentChanges": [{
                    "textDocument": {"uri": "${root}/a.scr", "version": 77},
                    "edits": [{"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}, "newText": title}],
                }]},
            }},
            "workspace/executeCommand": {"result": format!("{title} ran")},
            "textDocument/hover": {"result": {"contents": {"kind": "markdown", "value": format!("hover of {title}")}}},
        },
        "capabilities": {
            "codeActionProvider": {"resolveProvider": true},
            "executeCommandProvider": {"commands": [command]},
        },
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_answers_are_merged_and_routed_back() {
    let project = with_two(&action("one", "cmd.one"), &action("two", "cmd.two"), "def foo WRONG\n");
    let (mut client, _) = Client::start(open(&project), able()).await;
    client.open("a.scr", 5, "def foo WRONG WRONG\n").await;

    // Each server finds the same two mistakes, and names itself.
    let found = client.diagnostics("a.scr", 5).await;
    let mut sources: Vec<&str> = found.iter().filter_map(|one| one["source"].as_str()).collect();
    sources.sort_unstable();
    assert_eq!(sources.len(), 4, "{found:?}");

    let hover = client.ask("textDocument/hover", client.at("a.scr", 0, 4)).await;
    let text = hover["contents"]["value"].as_str().expect("a text");
    assert!(text.starts_with("hover of one") && text.ends_with("hover of two"), "{hover}");

    let mut params = client.at("a.scr", 0, 4);
    let point = json!({"line": 0, "character": 0});
    params["range"] = json!({"start": point, "end": point});
    params["context"] = json!({"diagnostics": []});
    let actions = client.ask("textDocument/codeAction", params).await;
    let titles: Vec<&str> =
        actions.as_array().unwrap().iter().filter_map(|one| one["title"].as_str()).collect();
    assert_eq!(titles, ["one", "run one", "two", "run two"]);
    for (index, title) in [(0, "one"), (2, "two")] {
        let resolved = client.ask("codeAction/resolve", actions[index].clone()).await;
        let change = &resolved["edit"]["documentChanges"][0];
        assert_eq!(change["edits"][0]["newText"], title, "{resolved}");
        // The version is the editor's, and so is the URI.
        assert_eq!(change["textDocument"], json!({"uri": client.uri("a.scr"), "version": 5}));
    }
    for (index, title) in [(1, "one"), (3, "two")] {
        let command = &actions[index]["command"];
        let params = json!({"command": command["command"], "arguments": command["arguments"]});
        let ran = client.ask("workspace/executeCommand", params).await;
        assert_eq!(ran, format!("{title} ran"));
    }
    client.close().await;
    assert_eq!(project.log().violations(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn server_apply_edit_reaches_only_editor_that_ran_command() {
    let edit = json!({"changes": {"${root}/a.scr": [
        {"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 3}}, "newText": "x"},
    ]}});
    let mut scenario = action("one", "cmd.one");
    let root = |project: &Project| format!("file://{}", project.root().display());
    let project = Project::scripted(&json!({}), "", [("a.scr", "def foo\n")]);
    let edit: Value = serde_json::from_str(&edit.to_string().replace("${root}", &root(&project))).unwrap();
    scenario["rules"] = json!([{
        "at": "workspace/executeCommand",
        "when": "before",
        "do": {"request": {"method": "workspace/applyEdit", "params": {"edit": edit}, "id": "apply-1"}},
    }]);
    project.set_scenario(&scenario);
    let (mut client, _) = Client::start(open(&project), able()).await;
    let (mut other, _) = Client::start(client.runtime.clone(), able()).await;
    client.open("a.scr", 1, "def foo\n").await;
    client.diagnostics("a.scr", 1).await;
    client.ask("workspace/executeCommand", json!({"command": "cmd.one", "arguments": []})).await;
    let asked = client.find("the edit", |message| message["method"] == "workspace/applyEdit").await;
    assert_eq!(asked["params"]["edit"], edit);
    other.ask("workspace/symbol", json!({"query": "foo"})).await;
    assert!(other.heard("workspace/applyEdit").is_empty());
    other.close().await;
    client.vanish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn capabilities_are_static_or_registered_dynamically_when_known() {
    let project = Project::scripted(&json!({}), "", [("a.scr", "def foo\n")]);
    let dynamic = json!({"dynamicRegistration": true});
    let capabilities =
        json!({"textDocument": {"hover": dynamic, "references": dynamic, "foldingRange": dynamic}});
    let (mut client, answer) = Client::start(open(&project), capabilities).await;
    let told = &answer["capabilities"];
    assert!(told["hoverProvider"].is_null() && told["definitionProvider"].is_object(), "{told}");
    assert_eq!(told["positionEncoding"], "utf-16");
    client.open("a.scr", 1, "def foo\n").await;
    let asked =
        client.find("a registration", |message| message["method"] == "client/registerCapability").await;
    let methods: Vec<&str> = asked["params"]["registrations"]
        .as_array()
        .expect("registrations")
        .iter()
        .filter_map(|one| one["method"].as_str())
        .collect();
    // The server folds nothing.
    assert_eq!(methods, ["textDocument/hover", "textDocument/references"]);
    client.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn indexing_progress_and_missing_server_are_shown_to_editor() {
    let scenario = json!({"index": {"ms": 300, "title": "Indexing", "steps": 3}});
    let project = Project::scripted(&scenario, "", [("a.scr", "def foo\n"), ("a.py", "x = 1\n")]);
    let (mut client, _) = Client::start(open(&project), able()).await;
    client.open("a.scr", 1, "def foo\n").await;
    for kind in ["begin", "report", "end"] {
        let told = client
            .find(kind, |message| {
                message["method"] == "$/progress" && message["params"]["value"]["kind"] == kind
            })
            .await;
        assert_eq!(told["params"]["token"], "lsp-tools/scripted");
    }
    client.open("a.py", 1, "x = 1\n").await;
    let told = client.find("what is missing", |message| message["method"] == "window/showMessage").await;
    let text = told["params"]["message"].as_str().expect("a text");
    assert!(text.starts_with("[LSP] python: ") && text.contains("not installed, run: "), "{text}");
    client.close().await;
}
