//! Answers from text search if a server is missing, marked as such.

use serde_json::{Value, json};

use super::client::{Client, able, open};
use crate::support::Project;

/// The crab has two UTF-16 units.
const TEXT: &str = "CRAB = '🦀'; from lib import greet\n\n\ndef main():\n    s = '🦀'; greet('x')\n";
const LIB: &str = "def greet(name):\n    \"\"\"Greet somebody.\"\"\"\n    return name\n";

/// A Python project without a server for it.
fn bare() -> Project {
    let project = Project::new([("app.py", "nothing\n"), ("lib.py", LIB)]);
    std::fs::write(
        project.beside("config").join("servers.toml"),
        "[server.nowhere]\nname = \"Nowhere\"\nlanguages = [\"python\"]\ncommand = [\"nowhere-to-be-found\"]\n\
         install = { npm = [\"nowhere@1.0.0\"] }\n",
    )
    .expect("servers.toml");
    std::fs::write(project.beside("config").join("lsp-tools.toml"), "prefer.python = [\"nowhere\"]\n")
        .expect("the settings");
    project
}

fn start(place: &Value) -> Value {
    place["range"]["start"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_server_text_search_answers_and_says_so() {
    let project = bare();
    let (mut client, _) = Client::start(open(&project), able()).await;
    client.open("app.py", 1, TEXT).await;

    let hover = client.ask("textDocument/hover", client.at("app.py", 4, 16)).await;
    let text = hover["contents"]["value"].as_str().unwrap_or_else(|| panic!("{hover}"));
    assert!(text.contains("def greet(name)") && text.contains("Greet somebody."), "{text}");
    assert!(
        text.contains("found in the text: nowhere is not installed, run: npm install -g nowhere"),
        "{text}"
    );
    assert_eq!(start(&hover), json!({"line": 4, "character": 14}), "{hover}");

    let found = client.ask("textDocument/definition", client.at("app.py", 4, 16)).await;
    assert_eq!(
        (&found[0]["uri"], start(&found[0])),
        (&json!(client.uri("lib.py")), json!({"line": 0, "character": 4}))
    );
    let mut params = client.at("app.py", 4, 16);
    params["context"] = json!({"includeDeclaration": true});
    let found = client.ask("textDocument/references", params).await;
    let places: Vec<Value> = found.as_array().expect("a list").iter().map(start).collect();
    // In the unsaved text, and in the editor's columns.
    for (line, character) in [(0, 29), (4, 14), (0, 4)] {
        assert!(places.contains(&json!({"line": line, "character": character})), "{found}");
    }
    let document = json!({"textDocument": {"uri": client.uri("app.py")}});
    let outline = client.ask("textDocument/documentSymbol", document).await;
    let names: Vec<&str> =
        outline.as_array().expect("a list").iter().filter_map(|one| one["name"].as_str()).collect();
    assert!(names.contains(&"main"), "{outline}");
    let symbols = client.ask("workspace/symbol", json!({"query": "greet"})).await;
    assert_eq!(
        (&symbols[0]["name"], &symbols[0]["location"]["uri"]),
        (&json!("greet"), &json!(client.uri("lib.py")))
    );
    assert!(
        symbols[0]["containerName"].as_str().is_some_and(|text| text.contains("found in the text")),
        "{symbols}"
    );

    // Information that only a server has is not invented.
    assert_eq!(client.ask("textDocument/completion", client.at("app.py", 4, 16)).await, Value::Null);
    let mut rename = client.at("app.py", 4, 16);
    rename["newName"] = "hail".into();
    assert_eq!(client.ask("textDocument/rename", rename).await, Value::Null);
    let told = client.heard("window/logMessage");
    for method in ["hover", "definition", "references", "documentSymbol", "workspace/symbol"] {
        let says = |one: &Value| {
            one["message"]
                .as_str()
                .is_some_and(|text| text.contains(method) && text.contains("from text search only"))
        };
        assert!(told.iter().any(says), "{method}: {told:?}");
    }
    client.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn empty_server_answer_is_not_replaced_by_text_search() {
    let scenario = json!({"answers": {"textDocument/definition": {"result": []}}});
    let project = Project::scripted(&scenario, "", [("a.scr", "def foo\nfoo\n")]);
    let (mut client, _) = Client::start(open(&project), able()).await;
    client.open("a.scr", 1, "def foo\nfoo\n").await;
    assert_eq!(client.ask("textDocument/definition", client.at("a.scr", 1, 1)).await, Value::Null);
    client.close().await;
}
