//! Someone who calls tools by name, as every door does.

use std::path::Path;
use std::time::Duration;

use lsp_tools::{
    Approval, ApprovalRequest, Approver, CallRequest, Caller, Runtime, RuntimeOptions, ToolResult,
};
use serde_json::Value;

use super::Project;

/// Says yes to everything.
pub struct Yes;

impl Approver for Yes {
    fn ask<'a>(&'a self, _request: &'a ApprovalRequest) -> futures::future::BoxFuture<'a, Approval> {
        Box::pin(std::future::ready(Approval::Once))
    }
}

/// A runtime on `project`, with the servers in `servers`.
pub fn open(project: &Project, servers: Option<&Path>) -> Runtime {
    let options = RuntimeOptions {
        workspace: Some(project.root()),
        cwd: project.root(),
        supervisor: Some(env!("CARGO_BIN_EXE_lsp-tools").into()),
        // Machines that run many tests at once are slow; what is not right is not right at any speed.
        timeout: Some(Duration::from_secs(90)),
        ..RuntimeOptions::default()
    };
    Runtime::open_with(options, project.folders(servers)).expect("a runtime")
}

/// Calls a tool in an undo group, with leave for everything.
pub async fn call_in(runtime: &Runtime, group: Option<&str>, name: &str, arguments: Value) -> ToolResult {
    let caller = Caller::default();
    let request = CallRequest::new(name, arguments, &caller).approved_by(&Yes).in_group(group);
    tokio::time::timeout(Duration::from_secs(180), runtime.call(request)).await.expect("an answer in time")
}

/// The answer of a tool, which must succeed.
pub async fn call(runtime: &Runtime, name: &str, arguments: Value) -> Value {
    let result = call_in(runtime, None, name, arguments.clone()).await;
    assert!(result.ok(), "{name} {arguments}: {}", result.value);
    result.value
}

/// The failure of a tool, which must fail: its code and its sentence.
pub async fn failure(runtime: &Runtime, name: &str, arguments: Value) -> (String, String) {
    let result = call_in(runtime, None, name, arguments.clone()).await;
    assert!(!result.ok(), "{name} {arguments}: {}", result.value);
    let word = |name: &str| result.value[name].as_str().unwrap_or_default().to_owned();
    (word("code"), word("error"))
}

/// The line and the character, 0-based, at which a finding or a place of an answer begins.
pub fn start(item: &Value) -> (u64, u64) {
    let at = item["at"].as_str().or_else(|| item[0].as_str()).unwrap_or_else(|| panic!("no place: {item}"));
    let (line, character) = at.split('-').next().and_then(|at| at.split_once(':')).expect("line:character");
    (line.parse().expect("a line"), character.parse().expect("a character"))
}
