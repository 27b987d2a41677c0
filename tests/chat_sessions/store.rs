//! Stores of chats in a project's own folders.

use std::fs;
use std::path::PathBuf;

use lsp_tools::ToolResult;
use serde_json::{Value, json};

use crate::support::{Project, TestWorkspace};

pub const GET: &str = "copilot_chat_secretary_get_request";
pub const GET_FIRST: &str = "copilot_chat_secretary_get_first_request";
/// All tools about chats.
pub const CHAT_TOOLS: [&str; 3] = [GET, GET_FIRST, "chat_sessions"];

/// A project whose user has enabled chats, with empty stores beside it.
pub struct Stores {
    pub project: Project,
}

impl Stores {
    pub fn new() -> Self {
        let project = Project::new([("a.txt", "x\n")]);
        let stores = Self { project };
        let settings = format!(
            "[chats]\nenabled = true\nvscode = [{}]\ncopilot-cli = [{}]\n",
            json!(stores.user()),
            json!(stores.copilot())
        );
        fs::write(stores.project.beside("config").join("lsp-tools.toml"), settings).expect("settings");
        stores
    }

    /// VS Code's folder `User`.
    pub fn user(&self) -> PathBuf {
        self.project.beside("Code").join("User")
    }

    /// The folder of Copilot's command line.
    pub fn copilot(&self) -> PathBuf {
        self.project.beside("dot-copilot")
    }

    pub fn open(&self) -> TestWorkspace {
        self.project.open()
    }

    /// Writes a file of VS Code's storage `hash`, which belongs to the project.
    pub fn vscode(&self, hash: &str, file: &str, text: &str) {
        let about = json!({"folder": format!("file://{}", self.project.root().display())});
        self.vscode_of(hash, &about, file, text);
    }

    /// Writes a file of a storage that belongs to the folder in `about`.
    pub fn vscode_of(&self, hash: &str, about: &Value, file: &str, text: &str) {
        let folder = self.user().join("workspaceStorage").join(hash);
        fs::create_dir_all(folder.join("chatSessions")).expect("a folder");
        fs::write(folder.join("workspace.json"), about.to_string()).expect("workspace.json");
        fs::write(folder.join("chatSessions").join(file), text).expect("a session");
    }

    /// A session of VS Code as one object, with these requests a minute apart, the first one at
    /// `at`.
    pub fn session(&self, id: &str, at: i64, requests: &[&str]) {
        self.vscode("0123abcd", &format!("{id}.json"), &vscode_session(id, at, requests).to_string());
    }

    /// Writes a file of a session of the command line.
    pub fn cli(&self, id: &str, file: &str, text: &str) {
        let folder = self.copilot().join("session-state").join(id);
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join(file), text).expect("a file");
    }

    /// The files beside the events of a session in the project.
    pub fn cli_about(&self, id: &str, name: &str) {
        let text =
            format!("id: {id}\ncwd: {}\nname: {name}\nuser_named: false\n", self.project.root().display());
        self.cli(id, "workspace.yaml", &text);
    }
}

pub fn vscode_session(id: &str, at: i64, requests: &[&str]) -> Value {
    let requests = requests.iter().zip(0_i64..).map(|(text, number)| {
        json!({
            "requestId": format!("request_{number}"),
            "message": {"text": text, "parts": [{"kind": "text", "text": text}]},
            "timestamp": at + number * 60_000,
            "response": [{"value": "Certainly."}],
        })
    });
    json!({
        "version": 3,
        "sessionId": id,
        "creationDate": at - 1_000,
        "requesterUsername": "someone",
        "responderUsername": "GitHub Copilot",
        "requests": requests.collect::<Vec<_>>(),
    })
}

/// 2026-01-31T08:05:09.120Z
pub const MOMENT: i64 = 1_769_846_709_120;

/// Calls a tool of chats; returns the model's text as JSON, and the result.
pub async fn tell(workspace: &TestWorkspace, name: &str, arguments: Value) -> (Value, ToolResult) {
    let result = workspace.call(name, arguments).await;
    let text = serde_json::from_str(&result.text_for_model()).expect("a JSON string");
    (text, result)
}

/// Calls a tool that must fail; returns the model's text.
pub async fn refusal(workspace: &TestWorkspace, name: &str, arguments: Value) -> Value {
    let (text, result) = tell(workspace, name, arguments).await;
    assert!(!result.ok(), "{text}");
    assert_eq!(result.value["ok"], false);
    text
}
