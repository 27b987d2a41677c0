//! The names of the Copilot language server's own tools, on real files, the scripted server and
//! pyright.

mod commands;
mod edits;
mod errors;
mod finding;
mod rules;

use std::time::Duration;

use crate::support::Project;
use lsp_tools::internals::bridges::{AliasAnswer, AliasCallOptions, call_alias};
use lsp_tools::internals::policy::LeaveGiven;
use lsp_tools::internals::runtime::{LiveRuntime, LocalBackend};
use lsp_tools::{Approver, Caller, Client, Runtime};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// Calls a name as a turn of the server does, with an approver.
async fn asked(runtime: &Runtime, name: &str, input: Value, approver: &dyn Approver) -> AliasAnswer {
    let caller = Caller::default();
    let asked = AliasCallOptions {
        backend: &backend_of(runtime),
        caller: &caller,
        approver,
        group: Some("turn-1"),
        cancelled: CancellationToken::new(),
    };
    tokio::time::timeout(Duration::from_secs(180), call_alias(runtime, name, input, &asked))
        .await
        .expect("an answer")
}

/// The backend that executes a front end's calls in the process of `runtime`.
fn backend_of(runtime: &Runtime) -> LocalBackend {
    LocalBackend::new(LiveRuntime::new(runtime.clone()), Client::default())
}

/// Calls a name with full approval; it must succeed.
async fn done(runtime: &Runtime, name: &str, input: Value) -> AliasAnswer {
    let answer = asked(runtime, name, input.clone(), &LeaveGiven).await;
    assert!(answer.ok, "{name} {input}: {}", answer.text);
    answer
}

/// Calls a name that must fail; returns the message.
async fn refused(runtime: &Runtime, name: &str, input: Value) -> String {
    let answer = asked(runtime, name, input.clone(), &LeaveGiven).await;
    assert!(!answer.ok, "{name} {input}: {}", answer.text);
    answer.text
}

/// The absolute path of a file, as the server sends it.
fn absolute(project: &Project, path: &str) -> String {
    project.path(path).to_string_lossy().into_owned()
}
