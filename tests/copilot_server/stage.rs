//! A project with a scripted Copilot server, and both ways to run a turn: the command, and the
//! library.

use std::process::Output;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use lsp_tools::internals::bridges::{
    CopilotClient, CopilotError, CopilotEvent, CopilotEventSink, CopilotOptions, TurnOutcome, TurnRequest,
};
use lsp_tools::internals::runtime::LiveRuntime;
use lsp_tools::{Approval, ApprovalRequest, Approver, Caller, Runtime};
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_util::sync::CancellationToken;

use crate::support::{Project, scripted_copilot};

/// Longer than any step here takes.
pub const LONG: Duration = Duration::from_secs(60);

/// A project of these files with these settings, and a scripted Copilot server that plays
/// `scenario`.
pub fn project<'a>(
    scenario: &Value,
    settings: &str,
    files: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Project {
    let project = Project::new(files);
    project.set_scenario(scenario);
    let command = json!([scripted_copilot(), project.marker()]);
    let catalogue = format!("[server.copilot]\ncommand = {command}\n");
    std::fs::write(project.beside("config").join("servers.toml"), catalogue).expect("servers.toml");
    std::fs::write(project.beside("config").join("lsp-tools.toml"), settings).expect("lsp-tools.toml");
    project
}

/// A scenario with a signed-in user in which every turn plays `steps`.
pub fn plays(steps: Value) -> Value {
    json!({"user": "somebody", "turns": [steps]})
}

/// The result of `lsp-tools copilot …`.
pub struct Ran {
    pub status: i32,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// The JSON on stdout.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}\n{}", self.out, self.err))
    }
}

/// Runs `lsp-tools copilot` with these arguments.
pub fn copilot(project: &Project, words: &[&str]) -> Ran {
    let mut command = project.command(None);
    let Output { status, stdout, stderr } =
        command.arg("copilot").args(words).stdin(std::process::Stdio::null()).output().expect("lsp-tools");
    Ran {
        status: status.code().unwrap_or(-1),
        out: String::from_utf8(stdout).expect("text"),
        err: String::from_utf8(stderr).expect("text"),
    }
}

/// The client's responses to the server's `method` requests, in order: whole messages.
pub fn answers(project: &Project, method: &str) -> Vec<Value> {
    let events = project.log().events("answered").into_iter();
    events.filter(|event| event["method"] == method).map(|mut event| event["answer"].take()).collect()
}

/// The status and text of the answers to tool calls. A tuple of a wrong shape fails here.
pub fn results(project: &Project) -> Vec<(String, String)> {
    let answers = answers(project, "conversation/invokeClientTool");
    answers.iter().map(|answer| tuple(&answer["result"])).collect()
}

/// The status and text of a tuple.
pub fn tuple(result: &Value) -> (String, String) {
    let parts = result.as_array().unwrap_or_else(|| panic!("no tuple: {result}"));
    assert_eq!((parts.len(), &parts[1]), (2, &Value::Null), "{result}");
    let content = parts[0]["content"].as_array().unwrap_or_else(|| panic!("no content: {result}"));
    let texts: Vec<&str> = content.iter().map(|part| part["value"].as_str().expect("a text")).collect();
    (parts[0]["status"].as_str().expect("a status").to_owned(), texts.join("\n"))
}

/// A client in this process.
pub struct Client {
    pub copilot: CopilotClient,
    pub runtime: Runtime,
    pub events: UnboundedReceiver<CopilotEvent>,
}

impl Client {
    pub async fn new(project: &Project, change: impl FnOnce(&mut CopilotOptions)) -> Self {
        let runtime = project.opening().timeout(None).with_mounts().open().runtime;
        let caller = Caller { session: "copilot".to_owned(), ..Caller::default() };
        let (sender, events) = unbounded_channel();
        let mut options = CopilotOptions::new(LiveRuntime::new(runtime.clone()), caller);
        options.events = CopilotEventSink::new(sender);
        change(&mut options);
        Self { copilot: CopilotClient::new(options).await.expect("a client"), runtime, events }
    }

    /// Runs a turn to its end.
    pub async fn turn(&self) -> Result<TurnOutcome, CopilotError> {
        let stop = CancellationToken::new();
        let request = TurnRequest::new("do it");
        let turn = self.copilot.run_turn(&request, &stop);
        tokio::time::timeout(LONG, turn).await.expect("the turn ends")
    }

    /// All events so far.
    pub fn told(&mut self) -> Vec<CopilotEvent> {
        std::iter::from_fn(|| self.events.try_recv().ok()).collect()
    }

    pub async fn close(self) {
        self.copilot.end().await;
        self.runtime.shutdown().await;
    }
}

/// Gives the set answer, and records the questions.
#[derive(Clone)]
pub struct Answers {
    answer: Approval,
    pub asked: Arc<Mutex<Vec<ApprovalRequest>>>,
}

impl Answers {
    pub fn with(answer: Approval) -> Self {
        Self { answer, asked: Arc::default() }
    }

    /// The tools of the recorded questions.
    pub fn tools(&self) -> Vec<String> {
        self.asked.lock().expect("a lock").iter().map(|request| request.tool.clone()).collect()
    }
}

impl Approver for Answers {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        self.asked.lock().expect("a lock").push(request.clone());
        Box::pin(std::future::ready(self.answer.clone()))
    }
}
