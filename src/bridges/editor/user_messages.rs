//! Messages and questions of servers to the user (LSP 3.17, *ShowMessage*, *LogMessage*,
//! *ShowMessage Request*).
//!
//! Each editor receives the messages of all servers of the workspace. A question goes to the editor
//! that connected last.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::context::EditorContext;
use crate::lsp::session::user_messages::ServerUserMessage;

/// The time limit for the user's answer.
const SERVER_QUESTION_TIMEOUT: Duration = Duration::from_secs(600);

/// Passes on messages of servers until the editor disconnects.
pub(super) async fn run(context: Arc<EditorContext>) {
    let mut changes = context.live().changes();
    let mut words = changes.borrow_and_update().server_messages();
    loop {
        tokio::select! {
            // Checks for a new runtime first: the channel of the former one may have closed with
            // it.
            biased;
            () = context.disconnected.cancelled() => return,
            changed = changes.changed() => {
                if changed.is_err() {
                    return;
                }
                words = changes.borrow_and_update().server_messages();
            }
            word = words.recv() => match word {
                Some(ServerUserMessage::Message { server, method, params }) => {
                    context.editor.notify(method, with_server_name(&server, params)).await;
                }
                Some(ServerUserMessage::Question { server, params, answer }) => {
                    let editor = context.editor.clone();
                    context.spawn(async move {
                        let deadline = Instant::now() + SERVER_QUESTION_TIMEOUT;
                        let request = editor.request("window/showMessageRequest", with_server_name(&server, params), deadline);
                        if let Ok(chosen) = request.await {
                            // The server may have exited meanwhile.
                            let _ignored = answer.send(chosen);
                        }
                    });
                }
                None => return,
            },
        }
    }
}

/// Adds the server's name to a message, since the editor knows only one server.
fn with_server_name(server: &str, mut params: Value) -> Value {
    if let Some(message) = params["message"].as_str() {
        params["message"] = format!("{server}: {message}").into();
    }
    params
}
