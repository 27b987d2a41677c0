//! Relayed requests: positions in the encoding of each side, and unknown requests.

use serde_json::{Value, json};

use super::client::{Client, able, open};
use crate::support::Project;

/// `foo` is defined after a character of four UTF-8 bytes and two UTF-16 units.
const TEXT: &str = "🦀 def foo\n🦀 foo WRONG\n";

fn place(value: &Value) -> (u64, u64, u64) {
    let range = &value["range"];
    let number =
        |end: &str, what: &str| range[end][what].as_u64().unwrap_or_else(|| panic!("no range: {value}"));
    (number("start", "line"), number("start", "character"), number("end", "character"))
}

#[tokio::test(flavor = "multi_thread")]
async fn column_encodings_of_server_and_editor_are_converted() {
    let range = |start: [u32; 2], end: [u32; 2]| {
        let at = |[line, character]: [u32; 2]| json!({"line": line, "character": character});
        json!({"start": at(start), "end": at(end)})
    };
    // The server counts bytes: `foo` in line 1 is at 5..8.
    let scenario = json!({
        "encoding": "utf-8",
        "answers": {
            "textDocument/documentHighlight": {"result": [{"range": range([1, 5], [1, 8]), "kind": 1}]},
            "textDocument/foldingRange": {"result": [{"startLine": 0, "startCharacter": 5, "endLine": 1, "endCharacter": 8}]},
            "textDocument/selectionRange": {"result": [{"range": range([1, 5], [1, 8]), "parent": {"range": range([1, 0], [1, 8])}}]},
            "textDocument/rename": {"result": {"documentChanges": [{
                "textDocument": {"uri": "${uri}", "version": 4},
                "edits": [{"range": range([1, 5], [1, 8]), "newText": "bar"}],
            }]}},
            "textDocument/semanticTokens/full": {"result": {"data": [0, 5, 3, 1, 0, 0, 4, 3, 0, 1, 1, 5, 3, 2, 1]}},
            "textDocument/inlayHint": {"result": [{"position": {"line": 1, "character": 8}, "label": "x", "data": {"line": 1, "character": 8}}]},
            "textDocument/completion": {"result": {
                "isIncomplete": false,
                "itemDefaults": {"editRange": range([1, 5], [1, 8])},
                "items": [{"label": "foo"}, {"label": "call", "textEditText": "call(${1:it})$0", "insertTextFormat": 2}],
            }},
            "scripted/own": {"result": {"uri": "${uri}", "range": range([0, 9], [0, 12])}},
        },
        "capabilities": {"documentHighlightProvider": true, "foldingRangeProvider": true, "selectionRangeProvider": true,
            "inlayHintProvider": true, "semanticTokensProvider": {
            "legend": {"tokenTypes": ["own", "function", "variable"], "tokenModifiers": ["declaration"]},
            "full": true,
        }},
    });
    let project = Project::scripted(&scenario, "", [("a.scr", "nothing\n"), ("b.scr", "🦀 foo\n")]);
    let (mut client, _) = Client::start(open(&project), able()).await;
    client.open("a.scr", 3, TEXT).await;
    let found = client.diagnostics("a.scr", 3).await;
    assert_eq!(found.len(), 1);
    assert_eq!(place(&found[0]), (1, 7, 12));

    let definition = client.ask("textDocument/definition", client.at("a.scr", 1, 4)).await;
    let definition = if definition.is_array() { &definition[0] } else { &definition };
    assert_eq!((place(definition), &definition["uri"]), ((0, 7, 10), &json!(client.uri("a.scr"))));
    let mut params = client.at("a.scr", 1, 4);
    params["context"] = json!({"includeDeclaration": true});
    let references = client.ask("textDocument/references", params).await;
    let mut places: Vec<_> = references.as_array().expect("a list").iter().map(place).collect();
    places.sort_unstable();
    // The last one is in a file that is not open, and read from disk.
    assert_eq!(places, [(0, 3, 6), (0, 7, 10), (1, 3, 6)], "{references}");

    let highlights = client.ask("textDocument/documentHighlight", client.at("a.scr", 1, 4)).await;
    assert_eq!(place(&highlights[0]), (1, 3, 6));
    let document = json!({"textDocument": {"uri": client.uri("a.scr")}});
    let folds = client.ask("textDocument/foldingRange", document.clone()).await;
    assert_eq!((&folds[0]["startCharacter"], &folds[0]["endCharacter"]), (&json!(3), &json!(6)));
    let mut params = document.clone();
    params["positions"] = json!([{"line": 1, "character": 4}]);
    let selected = client.ask("textDocument/selectionRange", params).await;
    assert_eq!((place(&selected[0]), place(&selected[0]["parent"])), ((1, 3, 6), (1, 0, 6)));
    let asked = project.log().params("textDocument/selectionRange");
    assert_eq!(asked[0]["positions"][0], json!({"line": 1, "character": 6}), "the server counts bytes");

    let mut params = client.at("a.scr", 1, 4);
    params["newName"] = "bar".into();
    let edit = client.ask("textDocument/rename", params).await;
    let change = &edit["documentChanges"][0];
    assert_eq!(place(&change["edits"][0]), (1, 3, 6));
    assert_eq!(change["textDocument"], json!({"uri": client.uri("a.scr"), "version": 3}));

    // The second token is of a type that only the server knows.
    let tokens = client.ask("textDocument/semanticTokens/full", document.clone()).await;
    assert_eq!(tokens, json!({"data": [0, 3, 3, 12, 0, 1, 3, 3, 8, 1]}));
    let mut params = document.clone();
    params["range"] = range([0, 0], [1, 5]);
    let hints = client.ask("textDocument/inlayHint", params).await;
    assert_eq!(hints[0]["position"], json!({"line": 1, "character": 6}));
    assert_eq!(hints[0]["data"], json!({"line": 1, "character": 8}), "the server's own data is unchanged");
    let items = client.ask("textDocument/completion", client.at("a.scr", 1, 4)).await;
    assert_eq!(place(&items["items"][0]["textEdit"]), (1, 3, 6), "{items}");
    assert_eq!(
        items["items"][1]["textEdit"]["newText"], "call(it)",
        "this editor takes no snippets: {items}"
    );

    // A request that only the server knows.
    let own = client.ask("scripted/own", client.at("a.scr", 1, 4)).await;
    assert_eq!(place(&own), (0, 7, 10));
    let asked = project.log().params("scripted/own");
    assert_eq!(asked[0]["position"], json!({"line": 1, "character": 6}));
    client.close().await;
    assert_eq!(project.log().violations(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_method_or_outside_document_is_answered() {
    let project = Project::scripted(&json!({}), "", [("a.scr", TEXT)]);
    let (mut client, _) = Client::start(open(&project), able()).await;
    client.open("a.scr", 1, TEXT).await;
    let id = client.put("nobody/knowsThis", client.at("a.scr", 0, 0)).await;
    assert_eq!(client.answer(id).await["error"]["code"], -32601);
    let mut outside = client.at("a.scr", 0, 0);
    outside["textDocument"]["uri"] = "file:///usr/lib/elsewhere.scr".into();
    assert_eq!(client.ask("textDocument/hover", outside.clone()).await, Value::Null);
    outside["textDocument"]["uri"] = "untitled:1".into();
    assert_eq!(client.ask("textDocument/hover", outside).await, Value::Null);
    // The server does not offer it: an empty answer without an error.
    assert_eq!(client.ask("textDocument/foldingRange", client.at("a.scr", 0, 0)).await, Value::Null);
    client.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn server_error_reaches_editor_unchanged() {
    let scenario =
        json!({"answers": {"textDocument/rename": {"error": {"code": -32803, "message": "not a name"}}}});
    let project = Project::scripted(&scenario, "", [("a.scr", TEXT)]);
    let (mut client, _) = Client::start(open(&project), able()).await;
    client.open("a.scr", 1, TEXT).await;
    let mut params = client.at("a.scr", 0, 8);
    params["newName"] = "7".into();
    let id = client.put("textDocument/rename", params).await;
    let error = client.answer(id).await["error"].clone();
    assert_eq!((error["code"].as_i64(), error["message"].as_str()), (Some(-32803), Some("not a name")));
    client.close().await;
}
