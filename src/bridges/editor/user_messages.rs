//! Messages and questions of servers to the user (LSP 3.17, *ShowMessage*, *LogMessage*, *ShowMessage Request*). Each editor
//! hears all servers of the workspace; a question goes to the one that came last.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::context::EditorContext;
use crate::lsp::user_messages::ServerUserMessage;

/// How long a person is waited for.
const SERVER_QUESTION_TIMEOUT: Duration = Duration::from_secs(600);

/// Passes on what servers say until the editor is gone.
pub(super) async fn run(context: Arc<EditorContext>) {
    let mut changes = context.live().changes();
    let mut words = changes.borrow_and_update().server_messages();
    loop {
        tokio::select! {
            // First whether another runtime has come: the words of the one before may have ended with it.
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
                        let asked = editor.request("window/showMessageRequest", with_server_name(&server, params), deadline);
                        if let Ok(chosen) = asked.await {
                            // The server may have gone meanwhile.
                            let _unheard = answer.send(chosen);
                        }
                    });
                }
                None => return,
            },
        }
    }
}

/// A message, and who says it: to the editor there is one server.
fn with_server_name(server: &str, mut params: Value) -> Value {
    if let Some(message) = params["message"].as_str() {
        params["message"] = format!("{server}: {message}").into();
    }
    params
}
