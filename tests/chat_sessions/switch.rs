//! Chats are private: without the user's own setting they are not shown.

use std::fs;

use lsp_tools::Caller;
use serde_json::json;

use super::store::{CHAT_TOOLS, GET, MOMENT, Stores};

fn set(stores: &Stores, text: &str) {
    fs::write(stores.project.beside("config").join("lsp-tools.toml"), text).expect("settings");
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_tools_disabled_are_unlisted_and_calls_are_denied_with_hint() {
    let stores = Stores::new();
    stores.session("abc-123", MOMENT, &["secret"]);
    for settings in
        ["", "[chats]\nenabled = false\n", "[permissions]\nprofile = \"all\"\navailable = [\"*chat*\"]\n"]
    {
        set(&stores, settings);
        let workspace = stores.project.open();
        let listed = workspace.definitions(&Caller::default());
        for name in CHAT_TOOLS {
            assert!(listed.iter().all(|definition| definition.card.name != name), "{settings}: {name}");
            assert!(!workspace.is_offered(&Caller::at_shell(), name));
            let (code, error) = workspace.failure(name, json!({"index": 1})).await;
            assert_eq!(code, "denied");
            assert!(error.contains("`enabled = true` under [chats]") && !error.contains("secret"), "{error}");
        }
        workspace.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_tools_enabled_by_project_settings_stay_off() {
    let stores = Stores::new();
    stores.session("abc-123", MOMENT, &["secret"]);
    set(&stores, "");
    stores.project.write(".lsp-tools/lsp-tools.toml", "[chats]\nenabled = true\n");
    let trusting = stores.project.command(None).args(["trust", "--yes"]).output().expect("lsp-tools");
    let workspace = stores.project.open();
    assert!(!workspace.is_offered(&Caller::default(), GET), "{trusting:?}");
    assert_eq!(workspace.failure(GET, json!({"index": 1})).await.0, "denied");
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_settings_with_relative_path_are_rejected() {
    let stores = Stores::new();
    set(&stores, "[chats]\nenabled = true\nvscode = [\"Code/User\"]\n");
    let output = stores.project.command(None).args(["tools", "list"]).output().expect("lsp-tools");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("line 3") && said.contains("give a path from `/` or `~/`"), "{said}");
}
