//! Shared parts of these tests: projects that mount a server, and the server's log.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use lsp_tools::{Caller, NobodyToAsk, ToolResult};
use serde_json::{Value, json};

use crate::support::peers::real_mcp;
use crate::support::{Project, TestWorkspace};

/// A project whose user's settings are `settings`.
pub fn with_settings(settings: &str) -> Project {
    let project = Project::new([("README.md", "hello\n")]);
    fs::write(project.beside("config").join("lsp-tools.toml"), settings).expect("settings");
    project
}

/// A project whose user mounts the scripted server in `mode` as `m`; `more` is appended to its
/// table.
pub fn mounting(mode: &str, more: &str) -> Project {
    let project = Project::new([("README.md", "hello\n")]);
    let settings = entry(&project, "m", mode) + more + "\n";
    fs::write(project.beside("config").join("lsp-tools.toml"), settings).expect("settings");
    project
}

/// The table that mounts the scripted server.
pub fn entry(project: &Project, name: &str, mode: &str) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mounted/server.py");
    let heard = heard_file(project);
    format!("[mcp.servers.{name}]\ncommand = \"python3\"\nargs = [{script:?}, \"{mode}\", {heard:?}]\n")
}

pub fn heard_file(project: &Project) -> PathBuf {
    project.beside("logs").join("heard.jsonl")
}

/// The messages that the scripted server received.
pub fn heard(project: &Project) -> Vec<Value> {
    let text = fs::read_to_string(heard_file(project)).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// The number of starts of the scripted server.
pub fn starts(project: &Project) -> usize {
    fs::read(heard_file(project).with_extension("jsonl.starts")).map_or(0, |bytes| bytes.len())
}

/// The command line in `project`.
pub fn run(project: &Project, arguments: &[&str]) -> Output {
    project.command(None).args(arguments).output().expect("lsp-tools runs")
}

/// Its JSON answer, and its status.
pub fn json_of(project: &Project, arguments: &[&str]) -> (Value, i32) {
    let output = run(project, &[&["--format", "json"], arguments].concat());
    let text = String::from_utf8_lossy(&output.stdout);
    let value = serde_json::from_str(&text);
    let value = value.unwrap_or_else(|_| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)));
    (value, output.status.code().expect("a status"))
}

/// A workspace with all mounted servers, without an approver.
pub fn open(project: &Project) -> TestWorkspace {
    let opening = project.opening().finding_workspace().timeout(None).with_mounts();
    opening.nobody_to_ask().answering_within(None).open()
}

/// A call by a caller who approves it.
pub async fn typed(workspace: &TestWorkspace, name: &str) -> ToolResult {
    workspace.call_as(&Caller::at_shell(), &NobodyToAsk, name, json!({})).await
}

/// The main file of an npm server.
pub fn node_server(name: &str) -> String {
    let file = real_mcp().join(format!("node_modules/@modelcontextprotocol/server-{name}/dist/index.js"));
    file.to_str().expect("UTF-8").to_owned()
}
