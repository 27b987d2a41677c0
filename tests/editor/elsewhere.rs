//! Documents that are not files of the workspace: the source of a library, and unsaved new
//! documents.

use serde_json::{Value, json};

use super::client::{Client, able, open};
use crate::support::{Project, fingerprint};

/// `lib` is defined after a character of four UTF-8 bytes and two UTF-16 units.
const TEXT: &str = "🦀 def lib\n🦀 lib\n";

async fn seen(client: &mut Client, uri: &str) -> String {
    let params = json!({"textDocument": {"uri": uri}, "position": {"line": 0, "character": 7}});
    let hover = client.ask("textDocument/hover", params).await;
    hover["contents"]["value"].as_str().or(hover["contents"].as_str()).unwrap_or_default().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn document_outside_workspace_is_answered_from_editor_text_read_only() {
    let project = Project::scripted(&json!({"encoding": "utf-8"}), "", [("a.scr", "def foo\n")]);
    let (mut client, _) = Client::start(open(&project), able()).await;
    client.open("a.scr", 1, "def foo\n").await;
    client.diagnostics("a.scr", 1).await;
    // Neither is on disk, so nothing of them can have been read there.
    for uri in
        [format!("file://{}/lib/out.scr", project.beside("cache").display()), "untitled:out.scr".into()]
    {
        let at = json!({"textDocument": {"uri": uri}, "position": {"line": 1, "character": 4}});
        assert_eq!(client.ask("textDocument/definition", at.clone()).await, Value::Null, "it is not open");
        let document = json!({"uri": uri, "languageId": "scripted", "version": 1, "text": TEXT});
        client.tell("textDocument/didOpen", json!({"textDocument": document})).await;
        assert!(seen(&mut client, &uri).await.ends_with(&fingerprint(TEXT)), "{uri}");
        let found = client.ask("textDocument/definition", at.clone()).await;
        let found = found.get(0).unwrap_or(&found);
        let start = json!({"line": 0, "character": 7});
        assert_eq!((&found["uri"], &found["range"]["start"]), (&json!(uri), &start), "{found}");

        let point = json!({"line": 0, "character": 10});
        let change = json!({"range": {"start": point, "end": point}, "text": "2"});
        let params = json!({"textDocument": {"uri": uri, "version": 2}, "contentChanges": [change]});
        client.tell("textDocument/didChange", params).await;
        assert!(seen(&mut client, &uri).await.ends_with(&fingerprint("🦀 def lib2\n🦀 lib\n")), "{uri}");

        let mut rename = at.clone();
        rename["newName"] = "other".into();
        assert_eq!(client.ask("textDocument/rename", rename).await, Value::Null);
        client.tell("textDocument/didClose", json!({"textDocument": {"uri": uri}})).await;
        assert_eq!(client.ask("textDocument/hover", at).await, Value::Null, "it is closed");
        let told = |method: &str| {
            project.log().params(method).iter().filter(|params| params["textDocument"]["uri"] == uri).count()
        };
        project.log().wait_for("its end at the server", super::client::SOON, |_| {
            (told("textDocument/didClose") == 1).then_some(())
        });
        assert_eq!((told("textDocument/didOpen"), told("textDocument/rename")), (1, 0));
    }
    client.close().await;
    assert_eq!(project.log().violations(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn library_text_of_two_editors_does_not_mix() {
    let project = Project::scripted(&json!({"hover_version": false}), "", [("a.scr", "def foo\n")]);
    let (mut one, _) = Client::start(open(&project), able()).await;
    let (mut other, _) = Client::start(one.runtime.clone(), able()).await;
    one.open("a.scr", 1, "def foo\n").await;
    one.diagnostics("a.scr", 1).await;
    let uri = "file:///nowhere/lib.scr";
    let text = |name: &str| format!("def {name} rest\n");
    for (client, name) in [(&mut one, "one"), (&mut other, "other")] {
        let document = json!({"uri": uri, "languageId": "scripted", "version": 1, "text": text(name)});
        client.tell("textDocument/didOpen", json!({"textDocument": document})).await;
    }
    for _ in 0..20 {
        let (first, second) = tokio::join!(seen(&mut one, uri), seen(&mut other, uri));
        assert!(first.ends_with(&fingerprint(&text("one"))), "{first}");
        assert!(second.ends_with(&fingerprint(&text("other"))), "{second}");
    }
    // A client that disconnects closes its documents.
    other.tell("exit", Value::Null).await;
    one.close().await;
    assert_eq!(project.log().violations(), Vec::<String>::new());
}
