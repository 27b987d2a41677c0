//! A project with tools that record their arguments, and approvers with set answers.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use lsp_tools::internals::policy::{CallSubjects, Effect};
use lsp_tools::{
    Approval, ApprovalRequest, Approver, Call, CallRequest, Caller, Card, Context, ErrorCode, Runtime, Tool,
    ToolError, ToolResult,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::support::{Project, wait_until, write_executable};

/// The events, in order.
pub type Diary = Arc<Mutex<Vec<String>>>;

#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct Args {
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    text: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    said: String,
}

/// A tool that records its call and echoes its `text`; `fail`, `panic` and `sleep` act as named.
pub struct Echo {
    pub name: &'static str,
    pub effect: Effect,
    pub diary: Diary,
}

impl Tool for Echo {
    type Args = Args;
    type Output = Output;

    fn card(&self) -> Card {
        Card::new(self.name, "Echo", "Says what it is told.", self.effect)
    }

    fn subjects(&self, context: &Context, args: &Args) -> Result<CallSubjects, ToolError> {
        let path = args.path.iter().map(|path| context.path(path.as_ref())).collect::<Result<_, _>>()?;
        let list = |text: &Option<String>| text.iter().cloned().collect();
        let (commands, urls) = (list(&args.command), list(&args.url));
        Ok(CallSubjects { paths: path, commands, urls, ..CallSubjects::default() })
    }

    async fn run(&self, call: Call<'_>, args: Args) -> Result<Output, ToolError> {
        let text = args.text.unwrap_or_default();
        note(&self.diary, format!("run {} {text}", self.name).trim());
        match text.as_str() {
            "fail" => return Err(ToolError::new(ErrorCode::NotFound, "it is not there")),
            "panic" => panic!("secret detail"),
            "sleep" => {
                let (diary, cancelled) = (Arc::clone(&self.diary), call.cancelled.clone());
                tokio::spawn(async move {
                    cancelled.cancelled().await;
                    note(&diary, "told to stop");
                });
                tokio::time::sleep(Duration::from_secs(600)).await;
            }
            _ => {}
        }
        Ok(Output { said: text })
    }
}

pub fn note(diary: &Diary, what: &str) {
    diary.lock().expect("a diary").push(what.to_owned());
}

/// An approver with a constant answer.
pub struct Person {
    pub answer: Approval,
    pub diary: Diary,
}

impl Approver for Person {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        note(&self.diary, &format!("asked: {}", request.why));
        Box::pin(std::future::ready(self.answer.clone()))
    }
}

pub struct Stage {
    pub project: Project,
    pub diary: Diary,
    pub caller: Caller,
    settings: String,
}

impl Stage {
    /// With the user's settings.
    pub fn new(settings: &str) -> Self {
        let project = Project::new([("src/a.rs", ""), ("secret/key", ""), (".git/HEAD", "")]);
        Self { project, diary: Diary::default(), caller: Caller::default(), settings: settings.to_owned() }
    }

    /// An executable script outside the project; its absolute path.
    pub fn script(&self, name: &str, body: &str) -> String {
        executable(self.project.beside("logs").join(name), body)
    }

    /// Adds to the user's settings.
    pub fn settings(&mut self, more: &str) {
        self.settings.push_str(more);
    }

    /// Adds a hook that is a script of `body`.
    pub fn hook(&mut self, event: &str, name: &str, body: &str) {
        let script = self.script(name, body);
        self.settings
            .push_str(&format!("\n[[hooks.{event}]]\ncommand = [{}]\ntimeout-ms = 5000\n", json!(script)));
    }

    pub fn try_runtime(&self) -> Result<Runtime, ToolError> {
        fs::write(self.project.beside("config").join("lsp-tools.toml"), &self.settings).expect("settings");
        let mut runtime = self.project.opening().timeout(None).try_open()?.runtime;
        for (name, effect) in [
            ("test_read", Effect::Read),
            ("test_edit", Effect::Edit),
            ("test_run", Effect::Execute),
            ("test_fetch", Effect::Network),
        ] {
            runtime.add_tool(Echo { name, effect, diary: Arc::clone(&self.diary) })?;
        }
        Ok(runtime)
    }

    pub fn runtime(&self) -> Runtime {
        self.try_runtime().expect("a runtime")
    }

    /// Calls with an approver that answers `answer`.
    pub async fn call_with(
        &self,
        runtime: &Runtime,
        name: &str,
        arguments: Value,
        answer: Approval,
    ) -> ToolResult {
        let approver = Person { answer, diary: Arc::clone(&self.diary) };
        let request = CallRequest::new(name, arguments, &self.caller).approved_by(&approver);
        runtime.call(request).await
    }

    /// Calls without an approver.
    pub async fn call(&self, runtime: &Runtime, name: &str, arguments: Value) -> ToolResult {
        self.call_with(runtime, name, arguments, Approval::Nobody).await
    }

    /// The events since the last call.
    pub fn diary(&self) -> Vec<String> {
        std::mem::take(&mut *self.diary.lock().expect("a diary"))
    }

    /// Waits for the event named `what`.
    pub fn wait_for(&self, what: &str) {
        let happened = || self.diary.lock().expect("a diary").iter().any(|entry| entry == what);
        wait_until(what, Duration::from_secs(60), happened);
    }

    /// The entries of the audit log.
    pub fn audit(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.project.beside("state").join("audit.jsonl")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }
}

pub fn executable(path: PathBuf, body: &str) -> String {
    write_executable(&path, format!("#!/bin/sh\n{body}\n"));
    path.to_string_lossy().into_owned()
}

pub fn code(result: &ToolResult) -> &str {
    result.value["code"].as_str().unwrap_or("ok")
}

pub fn error(result: &ToolResult) -> &str {
    result.value["error"].as_str().unwrap_or_default()
}
