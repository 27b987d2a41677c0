//! Progress of slow servers, as LSP 3.17 *Work Done Progress*.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::future::{BoxFuture, FutureExt};
use futures::stream::FuturesUnordered;
use serde_json::{Value, json};
use tokio::sync::mpsc::unbounded_channel;
use tokio::time::Instant;

use super::context::EditorContext;
use crate::lsp::session::progress::ProgressEvent;
use crate::lsp::session::request::DependencyScope;
use crate::runtime::{Client, Runtime};

/// The time after which a progress display is ended.
const EDITOR_PROGRESS_TIMEOUT: Duration = Duration::from_secs(1_800);
/// The time limit for the editor to accept a progress token.
const PROGRESS_TOKEN_TIMEOUT: Duration = Duration::from_secs(10);

/// Reports progress until the editor disconnects.
pub(super) async fn run(context: Arc<EditorContext>) {
    let (sender, mut events) = unbounded_channel();
    let mut changes = context.live().changes();
    let watch = |runtime: &Runtime| {
        runtime.for_client(Client { progress: Some(sender.clone()), ..Client::default() })
    };
    let mut watching = watch(&changes.borrow_and_update());
    let mut shown = BTreeSet::new();
    let mut ends: FuturesUnordered<BoxFuture<'static, String>> = FuturesUnordered::new();
    loop {
        tokio::select! {
            () = context.disconnected.cancelled() => return,
            changed = changes.changed() => {
                if changed.is_err() {
                    return;
                }
                watching = watch(&changes.borrow_and_update());
            }
            Some(server) = ends.next(), if !ends.is_empty() => {
                if shown.remove(&server) {
                    report(&context, &server, json!({ "kind": "end" })).await;
                }
            }
            event = events.recv() => {
                let Some(event) = event else { return };
                if !context.capabilities().is_some_and(|greeting| greeting.has_capability("/window/workDoneProgress")) {
                    continue;
                }
                match event {
                    ProgressEvent::ServerStarting { server } => {
                        begin(&context, &mut shown, &server, "starting").await;
                    }
                    ProgressEvent::ServerReady { server } => {
                        if shown.remove(&server) {
                            report(&context, &server, json!({ "kind": "end" })).await;
                        }
                    }
                    ProgressEvent::ServerProgress { server, title, message, percentage } => {
                        if !shown.contains(&server) {
                            begin(&context, &mut shown, &server, &title).await;
                            ends.push(wait_until_idle(watching.clone(), server.clone()).boxed());
                        }
                        let text = message.map_or(title.clone(), |message| format!("{title}: {message}"));
                        let mut value = json!({ "kind": "report", "message": text });
                        if let Some(percentage) = percentage {
                            value["percentage"] = percentage.into();
                        }
                        report(&context, &server, value).await;
                    }
                    ProgressEvent::FilesChecked { .. }
                    | ProgressEvent::CommandRuns { .. }
                    | ProgressEvent::Installing { .. } => {}
                }
            }
        }
    }
}

/// Waits until `server` is idle, then returns its name.
async fn wait_until_idle(runtime: Runtime, server: String) -> String {
    let context = runtime.context();
    let sessions = context.manager.sessions_for(&context.view);
    drop(context);
    drop(runtime);
    for session in sessions.into_iter().filter(|session| session.server() == server) {
        session.wait_ready(DependencyScope::Project, Instant::now() + EDITOR_PROGRESS_TIMEOUT).await;
    }
    server
}

async fn begin(context: &EditorContext, shown: &mut BTreeSet<String>, server: &str, title: &str) {
    let params = json!({ "token": token(server) });
    let agreed = context
        .editor
        .request("window/workDoneProgress/create", params, Instant::now() + PROGRESS_TOKEN_TIMEOUT)
        .await;
    if agreed.is_ok() && shown.insert(server.to_owned()) {
        let title = format!("{server}: {title}");
        report(context, server, json!({ "kind": "begin", "title": title, "cancellable": false })).await;
    }
}

async fn report(context: &EditorContext, server: &str, value: Value) {
    context.editor.notify("$/progress", json!({ "token": token(server), "value": value })).await;
}

fn token(server: &str) -> String {
    format!("lsp-tools/{server}")
}
