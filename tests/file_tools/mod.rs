//! The tools that read files, called by name as agents call them: their tables of arguments and answers, and their failures.

mod finding;
mod marks;
mod reading;

use std::path::PathBuf;
use std::time::Duration;

use crate::support::Project;
use lsp_tools::{CallRequest, Caller, Runtime, RuntimeOptions};
use serde_json::{Value, json};

/// A project, and a runtime on it.
pub struct Bench {
    pub project: Project,
    pub runtime: Runtime,
}

impl Bench {
    pub fn new<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        Self::open(Project::new(files))
    }

    pub fn open(project: Project) -> Self {
        let options = RuntimeOptions {
            workspace: Some(project.root()),
            cwd: project.root(),
            supervisor: Some(PathBuf::from(env!("CARGO_BIN_EXE_lsp-tools"))),
            ..RuntimeOptions::default()
        };
        let runtime = Runtime::open_with(options, project.folders(None)).expect("a runtime");
        Self { project, runtime }
    }

    /// The whole answer of a tool.
    pub async fn call(&self, name: &str, arguments: Value) -> Value {
        let caller = Caller::default();
        let call = self.runtime.call(CallRequest::new(name, arguments, &caller));
        let answered = tokio::time::timeout(Duration::from_secs(60), call).await;
        answered.expect("an answer in time").value
    }

    /// The same where it must be a success.
    pub async fn ok(&self, name: &str, arguments: Value) -> Value {
        let answer = self.call(name, arguments).await;
        assert_eq!(answer["ok"], json!(true), "{answer}");
        answer
    }

    /// The code and the sentence of a failure.
    pub async fn failure(&self, name: &str, arguments: Value) -> (String, String) {
        let answer = self.call(name, arguments).await;
        assert_eq!(answer["ok"], json!(false), "{answer}");
        let text = |field: &str| answer[field].as_str().unwrap_or_default().to_owned();
        (text("code"), text("error"))
    }
}

/// Whether one of the notes of `answer` has `part` in it.
pub fn notes(answer: &Value, part: &str) -> bool {
    let notes = answer["notes"].as_array();
    notes.into_iter().flatten().any(|note| note.as_str().is_some_and(|note| note.contains(part)))
}
