//! A project and a runtime on it, whose tools are called by name.

use std::path::PathBuf;
use std::time::Duration;

use lsp_tools::internals::policy::LeaveGiven;
use lsp_tools::{
    Approver, CallRequest, Caller, NobodyToAsk, Runtime, RuntimeOptions, ToolResult, TrustRequest,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::support::Project;

/// A project without servers, and a runtime on it.
pub struct House {
    pub project: Project,
    pub runtime: Runtime,
    pub caller: Caller,
}

impl House {
    pub fn new<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        Self::open(Project::new(files))
    }

    pub fn open(project: Project) -> Self {
        let runtime = runtime(&project, project.root());
        Self { project, runtime, caller: Caller::default() }
    }

    /// The same project with the runtime of another process, which has read the settings anew.
    pub fn again(self) -> Self {
        Self::open(self.project)
    }

    /// The same project with a workspace within it.
    pub fn within(self, folder: &str) -> Self {
        let runtime = runtime(&self.project, self.project.path(folder));
        Self { runtime, ..self }
    }

    pub async fn call(&self, name: &str, arguments: Value) -> ToolResult {
        self.call_as(&self.caller, &LeaveGiven, name, arguments).await
    }

    /// Where nobody can be asked.
    pub async fn call_unasked(&self, name: &str, arguments: Value) -> ToolResult {
        self.call_as(&self.caller, &NobodyToAsk, name, arguments).await
    }

    pub async fn call_as(
        &self,
        caller: &Caller,
        approver: &dyn Approver,
        name: &str,
        arguments: Value,
    ) -> ToolResult {
        let cancelled = CancellationToken::new();
        let request =
            CallRequest::new(name, arguments, caller).approved_by(approver).with_cancellation(cancelled);
        let call = self.runtime.call(request);
        tokio::time::timeout(Duration::from_secs(30), call).await.expect("an answer within bounds")
    }

    /// Says yes to all that the project asks for.
    pub async fn trust(&self) {
        let shown = self.runtime.trust(TrustRequest::Show).await.expect("a list");
        let grant = TrustRequest::Grant { fingerprint: shown.fingerprint };
        assert!(self.runtime.trust(grant).await.expect("a grant").trusted);
    }
}

fn runtime(project: &Project, root: PathBuf) -> Runtime {
    let options = RuntimeOptions {
        workspace: Some(root.clone()),
        cwd: root,
        supervisor: Some(PathBuf::from(env!("CARGO_BIN_EXE_lsp-tools"))),
        ..RuntimeOptions::default()
    };
    Runtime::open_with(options, project.folders(None)).expect("a runtime")
}

/// Code and sentence of a failure.
pub fn failure(result: &ToolResult) -> (&str, &str) {
    assert!(!result.ok(), "{:?}", result.value);
    let text = |key: &str| result.value.get(key).and_then(Value::as_str).unwrap_or_default();
    (text("code"), text("error"))
}

/// Asserts that a call failed with this code and that its sentence has these words.
pub fn assert_fails(result: &ToolResult, code: &str, words: &str) {
    let (given, error) = failure(result);
    assert!(given == code && error.contains(words), "wanted {code}: …{words}…, got {given}: {error}");
}
