//! A runtime on a project, whose tools are called by name, as by every front end.

use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::time::Duration;

use lsp_tools::internals::bridges;
use lsp_tools::internals::policy::LeaveGiven;
use lsp_tools::{
    Approver, CallRequest, Caller, Client, NobodyToAsk, Runtime, RuntimeOptions, ToolError, ToolResult,
    TrustRequest,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{Project, real_servers};

/// A runtime on a project, and a caller of its tools. Dereferences to the runtime. A clone has the
/// same runtime.
#[derive(Clone)]
pub struct TestWorkspace {
    pub runtime: Runtime,
    pub project: Project,
    /// The caller.
    pub caller: Caller,
    approver: &'static dyn Approver,
    patience: Option<Duration>,
}

impl TestWorkspace {
    /// The same runtime for another client.
    pub fn for_client(&self, client: Client) -> Self {
        Self { runtime: self.runtime.for_client(client), ..self.clone() }
    }

    /// Trusts everything that the project wants to run.
    pub async fn grant_trust(&self) {
        let shown = self.runtime.trust(TrustRequest::Show).await.expect("its programs");
        let grant = TrustRequest::Grant { fingerprint: shown.fingerprint };
        assert!(self.runtime.trust(grant).await.expect("a grant").trusted);
    }

    /// Calls a tool, with any result.
    pub async fn call(&self, name: &str, arguments: Value) -> ToolResult {
        self.call_as(&self.caller, self.approver, name, arguments).await
    }

    /// Calls a tool without an approver.
    pub async fn call_unasked(&self, name: &str, arguments: Value) -> ToolResult {
        self.call_as(&self.caller, &NobodyToAsk, name, arguments).await
    }

    /// Calls a tool with another caller and approver.
    pub async fn call_as(
        &self,
        caller: &Caller,
        approver: &dyn Approver,
        name: &str,
        arguments: Value,
    ) -> ToolResult {
        self.request(CallRequest::new(name, arguments, caller).approved_by(approver)).await
    }

    /// Calls a tool in an undo group.
    pub async fn call_in(&self, group: &str, name: &str, arguments: Value) -> ToolResult {
        let request = CallRequest::new(name, arguments, &self.caller).approved_by(self.approver);
        self.request(request.in_group(Some(group))).await
    }

    /// Calls a tool that ends when `cancelled` does, and not before.
    pub async fn call_until(&self, cancelled: CancellationToken, name: &str, arguments: Value) -> ToolResult {
        let request = CallRequest::new(name, arguments, &self.caller).approved_by(self.approver);
        self.runtime.call(request.with_cancellation(cancelled)).await
    }

    async fn request(&self, request: CallRequest<'_>) -> ToolResult {
        let call = self.runtime.call(request);
        match self.patience {
            Some(patience) => tokio::time::timeout(patience, call).await.expect("an answer in time"),
            None => call.await,
        }
    }

    /// The answer of a tool, a success or a failure.
    pub async fn answer(&self, name: &str, arguments: Value) -> Value {
        self.call(name, arguments).await.value
    }

    /// The answer of a tool, which must succeed.
    pub async fn ok(&self, name: &str, arguments: Value) -> Value {
        let result = self.call(name, arguments.clone()).await;
        assert!(result.ok(), "{name} {arguments}: {}", result.value);
        result.value
    }

    /// The failure of a tool, which must fail: its code and its sentence.
    pub async fn failure(&self, name: &str, arguments: Value) -> (String, String) {
        let result = self.call(name, arguments.clone()).await;
        assert!(!result.ok(), "{name} {arguments}: {}", result.value);
        failure_of(&result)
    }
}

impl Deref for TestWorkspace {
    type Target = Runtime;

    fn deref(&self) -> &Runtime {
        &self.runtime
    }
}

impl DerefMut for TestWorkspace {
    fn deref_mut(&mut self) -> &mut Runtime {
        &mut self.runtime
    }
}

/// The code and the message of an expected failure.
pub fn failure_of(result: &ToolResult) -> (String, String) {
    assert!(!result.ok(), "{}", result.value);
    let word = |name: &str| result.value[name].as_str().unwrap_or_default().to_owned();
    (word("code"), word("error"))
}

/// The line and the character, 0-based, at which a finding or a place of an answer begins.
pub fn start_of(item: &Value) -> (u64, u64) {
    let at = item["at"].as_str().or_else(|| item[0].as_str()).unwrap_or_else(|| panic!("no place: {item}"));
    let (line, character) = at.split('-').next().and_then(|at| at.split_once(':')).expect("line:column");
    let number = |text: &str| text.parse::<u64>().expect("a number") - 1;
    (number(line), number(character))
}

/// The options for opening a [`TestWorkspace`].
pub struct TestWorkspaceBuilder {
    project: Project,
    options: RuntimeOptions,
    data: Option<PathBuf>,
    mounts: bool,
    caller: Caller,
    approver: &'static dyn Approver,
    patience: Option<Duration>,
}

impl Project {
    /// Opens the project with the options of [`opening`](Self::opening).
    pub fn open(&self) -> TestWorkspace {
        self.opening().open()
    }

    /// The start of every way to open the project. By default its root is the workspace, no server
    /// is installed, every deadline is 90 seconds, and the caller is an agent with all permissions
    /// and a wait of three minutes.
    pub fn opening(&self) -> TestWorkspaceBuilder {
        let options = RuntimeOptions {
            workspace: Some(self.root()),
            cwd: self.root(),
            supervisor: Some(env!("CARGO_BIN_EXE_lsp-tools").into()),
            // Slow machines that run many tests in parallel need long deadlines; a wrong result is
            // wrong at any speed.
            timeout: Some(Duration::from_secs(90)),
            ..RuntimeOptions::default()
        };
        TestWorkspaceBuilder {
            project: self.clone(),
            options,
            data: None,
            mounts: false,
            caller: Caller::default(),
            approver: &LeaveGiven,
            patience: Some(Duration::from_secs(180)),
        }
    }
}

impl TestWorkspaceBuilder {
    /// Installs these real servers, by their keys in the catalogue; without a key, uses the
    /// project's own data folder.
    pub fn servers(mut self, keys: &[&str]) -> Self {
        self.data = (!keys.is_empty()).then(|| real_servers(keys));
        self
    }

    /// Uses the servers that are installed in this data folder.
    pub fn servers_in(mut self, data: PathBuf) -> Self {
        self.data = Some(data);
        self
    }

    /// Sets one deadline for everything; `None` leaves those of the settings.
    pub fn timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.options.timeout = timeout.into();
        self
    }

    /// Sets another folder as workspace and current folder.
    pub fn workspace(mut self, folder: PathBuf) -> Self {
        (self.options.workspace, self.options.cwd) = (Some(folder.clone()), folder);
        self
    }

    /// Lets the runtime find the workspace around the current folder.
    pub fn finding_workspace(mut self) -> Self {
        self.options.workspace = None;
        self
    }

    /// Lets the runtime find the supervisor program.
    pub fn finding_supervisor(mut self) -> Self {
        self.options.supervisor = None;
        self
    }

    /// Adds the tools of the MCP servers that the settings mount, as front ends do.
    pub fn with_mounts(mut self) -> Self {
        self.mounts = true;
        self
    }

    /// Calls as a person at a shell, without a time limit.
    pub fn at_shell(mut self) -> Self {
        self.caller = Caller::at_shell();
        self.nobody_to_ask().answering_within(None)
    }

    /// Removes the approver.
    pub fn nobody_to_ask(mut self) -> Self {
        self.approver = &NobodyToAsk;
        self
    }

    /// Fails the test if a call takes longer; `None` waits without a limit.
    pub fn answering_within(mut self, patience: impl Into<Option<Duration>>) -> Self {
        self.patience = patience.into();
        self
    }

    pub fn open(self) -> TestWorkspace {
        self.try_open().expect("a runtime")
    }

    pub fn try_open(self) -> Result<TestWorkspace, ToolError> {
        let Self { project, options, data, mounts, caller, approver, patience } = self;
        let open = if mounts { bridges::open_with } else { Runtime::open_with };
        let runtime = open(options, project.folders(data.as_deref()))?;
        Ok(TestWorkspace { runtime, project, caller, approver, patience })
    }
}
