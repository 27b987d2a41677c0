//! The handshake, and the server's requests besides tools.

use std::sync::Arc;

use lsp_tools::Approval;
use serde_json::{Value, json};

use super::stage::{Answers, Client, LONG, answers, copilot, project, tuple};
use crate::support::ServerLog;

#[test]
fn initialize_claims_only_served_capabilities_and_exit_is_orderly() {
    let project = project(&json!({}), "", []);
    let ran = copilot(&project, &["status"]);
    assert_eq!(ran.status, 1, "{}", ran.err);
    assert_eq!(
        ran.out,
        "Scripted Copilot 1.0\nnot signed in (NotSignedIn); run: lsp-tools copilot sign-in\n\
         tools: 30 of ours, 9 of the server's\n"
    );
    let log = project.log();
    let initialize = &log.params("initialize")[0];
    let options = &initialize["initializationOptions"];
    assert_eq!(options["editorInfo"]["name"], "lsp-tools");
    assert_eq!(options["editorPluginInfo"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(options.get("copilotCapabilities"), None);
    let claimed = json!({"workspace": {"workspaceFolders": true, "configuration": true}});
    assert_eq!(initialize["capabilities"], claimed);
    let told = &log.params("workspace/didChangeConfiguration")[0]["settings"];
    assert_eq!(told["telemetry"]["telemetryLevel"], "off");
    // First the list without our tools, then with them; all of ours are unregistered by their full
    // ids.
    let lists = log.params("conversation/registerTools");
    assert_eq!((lists.len(), &lists[0]), (2, &json!({"tools": []})));
    let taken_back = &log.params("conversation/unregisterTools")[0]["toolIds"];
    let ids: Vec<String> = lists[1]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| format!("copilot-editor.{}", tool["name"].as_str().unwrap()))
        .collect();
    assert_eq!(*taken_back, json!(ids));
    let methods: Vec<String> =
        log.messages().iter().filter_map(|message| message["method"].as_str().map(str::to_owned)).collect();
    assert_eq!(methods[methods.len() - 2..], ["shutdown", "exit"]);
    assert_eq!(log.events("exit").len(), 1);
}

#[test]
fn server_requests_are_answered_or_refused_as_unknown() {
    let ask = |method: &str, params: Value| json!({"request": {"method": method, "params": params}});
    let items = json!([{"section": "telemetry"}, {"section": "github.copilot"}, {"section": "telemetry.telemetryLevel"}, {}]);
    let scenario = json!({"user": "somebody", "turns": [[
        ask("workspace/configuration", json!({"items": items})),
        ask("workspace/configuration", json!({})),
        ask("window/showMessageRequest", json!({"type": 1, "message": "Really?", "actions": [{"title": "Yes"}]})),
        ask("client/registerCapability", json!({"registrations": []})),
        ask("conversation/context", json!({"conversationId": "c", "turnId": "t", "skillId": "git-metadata"})),
        ask("workspace/workspaceFolders", Value::Null),
        ask("copilot/fetch", json!({"url": "https://example.invalid"})),
        ask("copilot/token", json!({})),
        {"notify": {"method": "copilot/of-the-future", "params": [1, {"a": null}]}},
        {"notify": {"method": "$/progress", "params": 7}},
        {"reply": "still here"},
    ]]});
    let project = project(&scenario, "", []);
    let ran = copilot(&project, &["agent", "go"]);
    assert_eq!((ran.status, ran.out.as_str()), (0, "still here\n"), "{}", ran.err);
    assert!(ran.err.contains("Copilot: Really?"), "{}", ran.err);
    let one = |method: &str| answers(&project, method)[0].clone();
    assert_eq!(
        one("workspace/configuration")["result"],
        json!([{"telemetryLevel": "off"}, null, "off", {"telemetry": {"telemetryLevel": "off"}}])
    );
    assert_eq!(answers(&project, "workspace/configuration")[1]["error"]["code"], -32602);
    assert_eq!(one("window/showMessageRequest")["result"], Value::Null);
    assert_eq!(one("client/registerCapability").get("error"), None);
    assert_eq!(one("conversation/context")["result"], json!([null, null]));
    assert_eq!(one("workspace/workspaceFolders")["result"][0]["name"], "project");
    for refused in ["copilot/fetch", "copilot/token"] {
        assert_eq!(one(refused)["error"]["code"], -32601, "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tool_call_outside_a_turn_is_refused() {
    let scenario = json!({"at_start": [
        {"invoke": {"name": "write", "input": {"path": "a.txt", "content": "x"}}},
        {"confirm": {"name": "bash", "input": {"command": "true"}}},
        {"confirm": {"name": "copilot.read_file", "input": {"filePath": "b.txt", "toolType": "file_read"}}},
    ]});
    let project = project(&scenario, "", []);
    let approver = Answers::with(Approval::Once);
    let client = Client::new(&project, |options| options.approver = Arc::new(approver.clone())).await;
    client.copilot.registration().await.expect("a list");
    let log = project.log();
    let all = |log: &ServerLog| (log.events("answered").len() == 3).then_some(());
    tokio::task::spawn_blocking(move || log.wait_for("all is answered", LONG, all)).await.expect("answers");
    client.close().await;
    let (status, text) = tuple(&answers(&project, "conversation/invokeClientTool")[0]["result"]);
    assert_eq!(
        (status.as_str(), text.as_str()),
        ("error", "no turn of lsp-tools is running, so the tool is not called")
    );
    assert!(!project.path("a.txt").exists());
    for confirmed in answers(&project, "conversation/invokeClientToolConfirmation") {
        assert_eq!(confirmed["result"], json!([{"result": "dismiss"}, null]));
    }
    assert!(approver.tools().is_empty());
}
