//! An editor's unsaved text, private unless it is shared.

use lsp_tools::{Position, Target};
use serde_json::{Value, json};

use super::client::{Client, able, open};
use crate::support::{Project, fingerprint};

async fn agent_sees(runtime: &lsp_tools::Runtime) -> String {
    let target = Target::Position { path: "a.scr".into(), position: Position::new(0, 4) };
    runtime.hover(target).await.expect("a hover").output.contents
}

async fn editor_sees(client: &mut Client) -> String {
    let hover = client.ask("textDocument/hover", client.at("a.scr", 0, 4)).await;
    hover["contents"]["value"].as_str().or(hover["contents"].as_str()).unwrap_or_default().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn unsaved_text_is_private_to_editor_unless_saved_or_shared() {
    for shared in [false, true] {
        let project = Project::scripted(&json!({}), "", [("a.scr", "def disk\n")]);
        let settings = format!("[editor]\nshare-overlays = {shared}\n");
        std::fs::write(project.beside("config").join("lsp-tools.toml"), settings).expect("the settings");
        let (mut client, _) = Client::start(open(&project), able()).await;
        let runtime = client.runtime.clone();
        client.open("a.scr", 1, "def disk\n").await;
        for round in 2..30 {
            let text = format!("def typed{round}\n{}", "WRONG\n".repeat(round % 3));
            client.change("a.scr", round as i64, &text).await;
            // The request follows the change, so it is about the changed text.
            let (editor, agent) = tokio::join!(editor_sees(&mut client), agent_sees(&runtime));
            assert!(editor.ends_with(&fingerprint(&text)), "{round}: {editor}");
            let seen = if shared { &text } else { "def disk\n" };
            if !shared {
                assert!(agent.ends_with(&fingerprint(seen)), "{round}: {agent}");
            } else {
                let agent = agent_sees(&runtime).await;
                assert!(agent.ends_with(&fingerprint(seen)), "{round}: {agent}");
            }
        }
        assert_eq!(client.diagnostics("a.scr", 29).await.len(), 2);
        // Another program writes the file, and the editor continues with its own text.
        project.write("a.scr", "def other\n");
        let last = format!("def typed29\n{}", "WRONG\n".repeat(2));
        assert!(editor_sees(&mut client).await.ends_with(&fingerprint(&last)));
        let document = json!({"textDocument": {"uri": client.uri("a.scr")}});
        client.tell("textDocument/didClose", document).await;
        assert!(editor_sees(&mut client).await.ends_with(&fingerprint("def other\n")));
        assert!(agent_sees(&runtime).await.ends_with(&fingerprint("def other\n")));
        client.close().await;
        assert_eq!(project.log().violations(), Vec::<String>::new());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn execute_command_runs_our_tools_under_permission_rules() {
    let project = Project::scripted(&json!({}), "", [("a.scr", "def foo\n")]);
    let (mut client, answer) = Client::start(open(&project), able()).await;
    let commands = answer["capabilities"]["executeCommandProvider"]["commands"].to_string();
    assert!(commands.contains("lsp-tools.call"), "{commands}");
    let call = |name: &str, arguments: Value| json!({"command": "lsp-tools.call", "arguments": [{"name": name, "arguments": arguments}]});
    let read = client.ask("workspace/executeCommand", call("read", json!({"path": "a.scr"}))).await;
    assert_eq!((&read["ok"], &read["content"]), (&json!(true), &json!("def foo\n")), "{read}");

    client.choose("Refuse");
    let touch = || call("bash", json!({"command": "touch made"}));
    let refused = client.ask("workspace/executeCommand", touch()).await;
    assert_eq!(refused["code"], "denied", "{refused}");
    assert!(!project.path("made").exists());
    client.choose("Allow once");
    let allowed = client.ask("workspace/executeCommand", touch()).await;
    assert_eq!(allowed["exit_code"], 0, "{allowed}");
    assert!(project.path("made").exists());
    let asked = client.heard("window/showMessageRequest");
    assert!(asked[0]["message"].as_str().is_some_and(|text| text.contains("touch made")), "{asked:?}");

    let unknown = client.ask("workspace/executeCommand", call("raed", json!({}))).await;
    assert_eq!(unknown["code"], "unknown_tool");
    let id = client.put("workspace/executeCommand", json!({"command": "nobody.runs.this"})).await;
    assert_eq!(client.answer(id).await["error"]["code"], -32602);
    client.close().await;
}
