//! The real language server, not signed in. If the package is not available, each test reports that
//! and ends.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use lsp_tools::internals::config::Catalogue;
use serde_json::{Value, json};

use crate::support::{Project, server_program};

/// The prefix with the real server, installed by the product once; `None`, with a message, if it is
/// not available.
fn prefix() -> Option<PathBuf> {
    static PREFIX: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = PREFIX.get_or_init(|| {
        let package = &Catalogue::built_in().servers["copilot"].install.npm[0];
        let known = Command::new("npm").args(["view", package, "version"]).output();
        if !known.is_ok_and(|output| output.status.success() && !output.stdout.is_empty()) {
            return None;
        }
        Some(crate::support::real_servers(&["copilot"]))
    });
    if found.is_none() {
        crate::support::skipped("npm does not bring the Copilot language server");
    }
    found.clone()
}

/// `lsp-tools copilot …` with the real server, and its own home.
fn copilot(project: &Project, prefix: &std::path::Path, words: &[&str]) -> (i32, String, String) {
    let home = project.beside("cache");
    let mut command = project.command(Some(prefix));
    command.env("HOME", &home).env("XDG_CONFIG_HOME", home.join("config")).arg("copilot").args(words);
    let output = command.stdin(std::process::Stdio::null()).output().expect("lsp-tools");
    (
        output.status.code().unwrap_or(-1),
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

#[test]
#[ignore = "installs GitHub's program, some hundred megabytes, and runs it: just hosts"]
fn real_copilot_server_signed_out_status_says_so() {
    let Some(prefix) = prefix() else { return };
    let project = Project::new([]);
    let (status, out, err) = copilot(&project, &prefix, &["--format", "json", "status"]);
    assert_eq!(status, 1, "{err}");
    let report: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(report["signed_in"], false);
    assert_eq!(report["status"]["auth"], "NotSignedIn");
    // Reported by notification, not requested.
    assert_eq!(report["status"]["kind"], "Error");
    assert_eq!(report["server"]["name"], "GitHub Copilot Language Server");
    let (status, _, err) = copilot(&project, &prefix, &["agent", "hello"]);
    assert_eq!(status, 4);
    assert!(err.contains("not signed in") && err.contains("lsp-tools copilot sign-in"), "{err}");
}

#[test]
#[ignore = "installs GitHub's program, some hundred megabytes, and runs it: just hosts"]
fn real_copilot_server_accepts_every_profile_whole() {
    let Some(prefix) = prefix() else { return };
    let project = Project::new([]);
    for profile in ["core", "lsp", "read-only", "edit", "all"] {
        let (status, out, err) =
            copilot(&project, &prefix, &["--format", "json", "tools", "--profile", profile]);
        assert_eq!(status, 0, "{profile}: {err}");
        let list: Value = serde_json::from_str(&out).expect("JSON");
        assert_eq!((&list["left_out"], &list["oddities"]), (&json!([]), &json!([])), "{profile}");
        let tools = list["tools"].as_array().expect("tools");
        let ours = tools.iter().filter(|tool| tool["origin"] == "ours").count();
        assert!(ours > 5 && tools.len() - ours >= 5, "{profile}: {ours} of {}", tools.len());
    }
}

/// A direct conversation with the real server, for messages that our client never sends.
struct Raw {
    child: std::process::Child,
    input: std::process::ChildStdin,
    output: std::io::BufReader<std::process::ChildStdout>,
    next: u64,
}

impl Raw {
    fn start(project: &Project, prefix: &std::path::Path) -> Self {
        let program = server_program(prefix, "copilot-language-server").expect("the program");
        let home = project.beside("cache");
        let mut command = Command::new(program);
        command.arg("--stdio").current_dir(project.root()).envs(project.environment(None));
        command.env("HOME", &home).env("XDG_CONFIG_HOME", home.join("config"));
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let mut child = command.stderr(std::process::Stdio::null()).spawn().expect("the server");
        let input = child.stdin.take().expect("stdin");
        let output = std::io::BufReader::new(child.stdout.take().expect("stdout"));
        let mut raw = Self { child, input, output, next: 1 };
        let us = json!({"name": "lsp-tools", "version": "1"});
        let options = json!({"editorInfo": us, "editorPluginInfo": us});
        let folder = json!({"uri": format!("file://{}", project.root().display()), "name": "project"});
        let params = json!({"processId": null, "workspaceFolders": [folder], "initializationOptions": options,
            "capabilities": {"workspace": {"workspaceFolders": true}}});
        raw.ask("initialize", &params).expect("an answer");
        raw.send(&json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}));
        raw
    }

    fn send(&mut self, message: &Value) {
        use std::io::Write;
        let body = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("a message");
        self.input.flush().expect("a message");
    }

    /// Sends a request; the server's own requests get an empty result.
    fn ask(&mut self, method: &str, params: &Value) -> Result<Value, Value> {
        let id = self.next;
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let message = self.read();
            match (message.get("method"), message.get("id")) {
                (Some(_), Some(theirs)) => {
                    let answer = json!({"jsonrpc": "2.0", "id": theirs, "result": null});
                    self.send(&answer);
                }
                (None, Some(ours)) if *ours == json!(id) => {
                    return match message.get("error") {
                        Some(error) => Err(error.clone()),
                        None => Ok(message["result"].clone()),
                    };
                }
                _ => {}
            }
        }
    }

    fn read(&mut self) -> Value {
        use std::io::{BufRead, Read};
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).expect("a header") > 0, "the server ended");
            if line.trim().is_empty() {
                break;
            }
            if let Some(value) = line.trim().strip_prefix("Content-Length: ") {
                length = value.parse().expect("a length");
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body).expect("a body");
        serde_json::from_slice(&body).expect("JSON")
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // The server ends with its input; otherwise it is killed.
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

#[test]
#[ignore = "installs GitHub's program, some hundred megabytes, and runs it: just hosts"]
fn real_copilot_server_refusal_names_tool_and_unregister_needs_full_id() {
    let Some(prefix) = prefix() else { return };
    let project = Project::new([]);
    let mut server = Raw::start(&project, &prefix);
    let good = json!({"name": "good", "description": "d",
        "inputSchema": {"type": "object", "properties": {}, "required": []}});
    let mut bad = good.clone();
    bad["inputSchema"]["properties"] = json!({"p": {"type": ["string", "null"]}});
    let register = "conversation/registerTools";
    let error = server.ask(register, &json!({"tools": [good, bad]})).expect_err("a refusal");
    assert_eq!(error["code"], -32602);
    let message = error["message"].as_str().expect("a message");
    assert!(message.contains("/tools/1/inputSchema/properties/p/type"), "{message}");
    let listed = server.ask(register, &json!({"tools": [good]})).expect("a list");
    let ids = |list: &Value| -> Vec<String> {
        list.as_array()
            .expect("a list")
            .iter()
            .map(|tool| tool["id"].as_str().expect("an id").to_owned())
            .collect()
    };
    assert!(ids(&listed).contains(&"copilot-editor.good".to_owned()), "{listed}");
    server.ask("conversation/unregisterTools", &json!({"toolIds": ["good"]})).expect("an answer");
    let still = server.ask(register, &json!({"tools": []})).expect("a list");
    assert!(ids(&still).contains(&"copilot-editor.good".to_owned()));
    server
        .ask("conversation/unregisterTools", &json!({"toolIds": ["copilot-editor.good"]}))
        .expect("an answer");
    let gone = server.ask(register, &json!({"tools": []})).expect("a list");
    assert!(!ids(&gone).contains(&"copilot-editor.good".to_owned()));
}

#[test]
#[ignore = "installs GitHub's program, some hundred megabytes, and runs it: just hosts"]
fn real_copilot_gateway_starts_our_mcp_server_and_lists_tools() {
    let Some(prefix) = prefix() else { return };
    let project = Project::new([("a.txt", "one\n")]);
    let mut server = Raw::start(&project, &prefix);
    let env: serde_json::Map<String, Value> =
        project.environment(None).into_iter().map(|(name, value)| (name, json!(value))).collect();
    let root = project.root();
    let ours =
        json!({"command": env!("CARGO_BIN_EXE_lsp-tools"), "args": ["--workspace", root, "mcp"], "env": env});
    let folder = format!("file://{}", root.display());
    let config = json!({"workspaceFolder": folder, "user": {"lsp": ours}, "project": {}});
    server.ask("mcpGateway/applyConfig", &config).expect("an answer");
    let end = Instant::now() + Duration::from_secs(90);
    let tools = loop {
        let scope = json!({"scope": {"kind": "user"}});
        let servers = server.ask("mcpGateway/listServers", &scope).expect("a list");
        if servers.to_string().contains("\"running\"") {
            let asked = json!({"source": {"kind": "user"}, "name": "lsp"});
            break server.ask("mcpGateway/getServerDetails", &asked).expect("details");
        }
        assert!(Instant::now() < end, "the gateway does not start our server: {servers}");
        std::thread::sleep(Duration::from_millis(100));
    };
    let text = tools.to_string();
    for name in ["lsp_definition", "lsp_diagnostics", "read"] {
        assert!(text.contains(&format!("\"{name}\"")), "{text}");
    }
}
