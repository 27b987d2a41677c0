//! Editor requests besides hovers and definitions. These are pulled diagnostics, hierarchies,
//! lenses, formatting; and answers for an editor with few capabilities.

use serde_json::{Value, json};

use super::client::{Client, able, open};
use crate::support::Project;

/// `foo` follows a character of four UTF-8 bytes and two UTF-16 units.
const TEXT: &str = "🦀 def foo\n🦀 foo WRONG\n";

fn range(start: [u32; 2], end: [u32; 2]) -> Value {
    let at = |[line, character]: [u32; 2]| json!({"line": line, "character": character});
    json!({"start": at(start), "end": at(end)})
}

/// In bytes for the server, and in UTF-16 units for the editor.
fn bytes() -> Value {
    range([1, 5], [1, 8])
}

fn units() -> Value {
    range([1, 3], [1, 6])
}

fn project(answers: Value, capabilities: Value) -> Project {
    let scenario = json!({"encoding": "utf-8", "answers": answers, "capabilities": capabilities});
    Project::scripted(&scenario, "", [("a.scr", TEXT)])
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn pull_diagnostics_client_gets_reports_and_no_pushes() {
    for mode in ["push_versioned", "push_unversioned", "pull"] {
        let scenario = json!({"encoding": "utf-8", "diagnostics": {"mode": mode}});
        let project = Project::scripted(&scenario, "", [("a.scr", "def foo\n")]);
        let options = json!({"diagnostics": "pull"});
        let (mut client, answer) = Client::start_with(open(&project), able(), options).await;
        assert!(answer["capabilities"]["diagnosticProvider"].is_object(), "{answer}");
        client.open("a.scr", 1, TEXT).await;
        let document = json!({"textDocument": {"uri": client.uri("a.scr")}});
        for (version, wrongs) in [(2, 1), (3, 2), (4, 0)] {
            let text = format!("🦀 def foo\n🦀 foo{}\n", " WRONG".repeat(wrongs));
            client.change("a.scr", version, &text).await;
            // It follows the change, so it is about the changed text.
            let report = client.ask("textDocument/diagnostic", document.clone()).await;
            assert_eq!(report["kind"], "full", "{mode}: {report}");
            let items = report["items"].as_array().expect("a list");
            assert_eq!(items.len(), wrongs, "{mode}: {report}");
            if let Some(first) = items.first() {
                assert_eq!(
                    (&first["range"], &first["source"]),
                    (&range([1, 7], [1, 12]), &json!("scripted"))
                );
            }
        }
        assert!(client.heard("textDocument/publishDiagnostics").is_empty(), "{mode}");
        client.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hierarchy_items_return_to_server_with_its_data() {
    let item = |name: &str| {
        json!({
            "name": name, "kind": 12, "uri": "${root}/a.scr", "range": bytes(), "selectionRange": bytes(),
            "data": {"line": 1, "character": 5, "of": name},
        })
    };
    let project = project(
        json!({
            "textDocument/prepareCallHierarchy": {"result": [item("foo")]},
            "callHierarchy/incomingCalls": {"result": [{"from": item("caller"), "fromRanges": [bytes()]}]},
            "callHierarchy/outgoingCalls": {"result": [{"to": item("callee"), "fromRanges": [bytes()]}]},
            "textDocument/prepareTypeHierarchy": {"result": [item("Foo")]},
            "typeHierarchy/supertypes": {"result": [item("Base")]},
            "typeHierarchy/subtypes": {"result": [item("Derived")]},
        }),
        json!({"callHierarchyProvider": true, "typeHierarchyProvider": true}),
    );
    let (mut client, _) = Client::start(open(&project), able()).await;
    client.open("a.scr", 1, TEXT).await;
    let own = |name: &str| json!({"line": 1, "character": 5, "of": name});
    for (prepare, name, follow) in [
        (
            "textDocument/prepareCallHierarchy",
            "foo",
            [
                ("callHierarchy/incomingCalls", "from", "caller"),
                ("callHierarchy/outgoingCalls", "to", "callee"),
            ],
        ),
        (
            "textDocument/prepareTypeHierarchy",
            "Foo",
            [("typeHierarchy/supertypes", "", "Base"), ("typeHierarchy/subtypes", "", "Derived")],
        ),
    ] {
        let items = client.ask(prepare, client.at("a.scr", 1, 4)).await;
        let asked = project.log().params(prepare);
        assert_eq!(asked[0]["position"], json!({"line": 1, "character": 6}), "the server counts bytes");
        assert_eq!((&items[0]["name"], &items[0]["range"]), (&json!(name), &units()), "{items}");
        for (method, end, next) in follow {
            let answer = client.ask(method, json!({"item": items[0]})).await;
            let asked = project.log().params(method);
            assert_eq!(
                (&asked[0]["item"]["data"], &asked[0]["item"]["selectionRange"]),
                (&own(name), &bytes())
            );
            let found = if end.is_empty() { answer[0].clone() } else { answer[0][end].clone() };
            assert_eq!((&found["name"], &found["selectionRange"]), (&json!(next), &units()), "{answer}");
            if !end.is_empty() {
                assert_eq!(answer[0]["fromRanges"][0], units(), "{answer}");
            }
            // And one level further.
            client.ask(method, json!({"item": found})).await;
            assert_eq!(project.log().params(method)[1]["item"]["data"], own(next));
        }
    }
    client.close().await;
    assert_eq!(project.log().violations(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn code_lens_and_formatting_ranges_use_editor_columns() {
    let project = project(
        json!({
            "textDocument/codeLens": {"result": [{"range": bytes(), "data": {"n": 7}}]},
            "codeLens/resolve": {"result": {"range": bytes(), "command": {"title": "1 use", "command": "uses", "arguments": [{"line": 1, "character": 5}]}}},
            "workspace/executeCommand": {"result": "ran"},
            "textDocument/formatting": {"result": [{"range": bytes(), "newText": "bar"}]},
            "textDocument/rangeFormatting": {"result": [{"range": bytes(), "newText": "baz"}]},
        }),
        json!({
            "codeLensProvider": {"resolveProvider": true}, "executeCommandProvider": {"commands": ["uses"]},
            "documentFormattingProvider": true, "documentRangeFormattingProvider": true,
        }),
    );
    let (mut client, _) = Client::start(open(&project), able()).await;
    client.open("a.scr", 1, TEXT).await;
    let document = json!({"textDocument": {"uri": client.uri("a.scr")}});
    let lenses = client.ask("textDocument/codeLens", document.clone()).await;
    assert_eq!(lenses[0]["range"], units(), "{lenses}");
    let lens = client.ask("codeLens/resolve", lenses[0].clone()).await;
    let asked = &project.log().params("codeLens/resolve")[0];
    assert_eq!((&asked["data"], &asked["range"]), (&json!({"n": 7}), &bytes()));
    assert_eq!((&lens["range"], &lens["command"]["title"]), (&units(), &json!("1 use")), "{lens}");
    let command = &lens["command"];
    let params = json!({"command": command["command"], "arguments": command["arguments"]});
    assert_eq!(client.ask("workspace/executeCommand", params).await, "ran");
    let ran = &project.log().params("workspace/executeCommand")[0];
    // The server's own data stays unchanged.
    assert_eq!((&ran["command"], &ran["arguments"][0]["character"]), (&json!("uses"), &json!(5)));

    let mut params = document.clone();
    params["options"] = json!({"tabSize": 4, "insertSpaces": true});
    let edits = client.ask("textDocument/formatting", params.clone()).await;
    assert_eq!(edits, json!([{"range": units(), "newText": "bar"}]));
    params["range"] = units();
    let edits = client.ask("textDocument/rangeFormatting", params).await;
    assert_eq!(edits, json!([{"range": units(), "newText": "baz"}]));
    assert_eq!(project.log().params("textDocument/rangeFormatting")[0]["range"], bytes());
    client.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn workspace_edit_form_follows_client_capabilities() {
    let edit = json!({"documentChanges": [{
        "textDocument": {"uri": "${root}/a.scr", "version": 1},
        "edits": [{"range": bytes(), "newText": "bar"}],
    }]});
    let project = project(
        json!({
            "textDocument/codeAction": {"result": [{"title": "whole", "edit": edit}, {"title": "later", "data": 1}]},
            "codeAction/resolve": {"result": {"title": "later", "edit": edit}},
            "textDocument/rename": {"result": edit},
        }),
        json!({"codeActionProvider": {"resolveProvider": true}}),
    );
    for capable in [false, true] {
        let abilities = if capable { able() } else { json!({}) };
        let (mut client, _) = Client::start(open(&project), abilities).await;
        client.open("a.scr", 1, TEXT).await;
        let mut params = client.at("a.scr", 1, 4);
        params["newName"] = "bar".into();
        let renamed = client.ask("textDocument/rename", params.clone()).await;
        params["range"] = units();
        params["context"] = json!({"diagnostics": []});
        let actions = client.ask("textDocument/codeAction", params).await;
        let resolved = client.ask("codeAction/resolve", actions[1].clone()).await;
        let edits = json!([{"range": units(), "newText": "bar"}]);
        for edit in [&renamed, &actions[0]["edit"], &resolved["edit"]] {
            if capable {
                assert_eq!(edit["documentChanges"][0]["edits"], edits, "{edit}");
            } else {
                assert_eq!(*edit, json!({"changes": {client.uri("a.scr"): edits}}));
            }
        }
        client.close().await;
    }
}
