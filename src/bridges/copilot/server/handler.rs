//! The handler of the Copilot server's requests and notifications.
//!
//! | method | answer |
//! |---|---|
//! | `conversation/invokeClientTool` | `invoke` |
//! | `conversation/invokeClientToolConfirmation` | `confirm` |
//! | `conversation/context` | `[null, null]`: no context skill was announced |
//! | `workspace/configuration` | the catalogue's settings, by section |
//! | `workspace/workspaceFolders` | the workspace |
//! | `window/showMessageRequest` | `null`, no action; the message becomes an event |
//! | `client/registerCapability`, `client/unregisterCapability` | `null` |
//! | anything else | -32601 |

use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio_util::task::AbortOnDropHandle;

use super::context::CopilotContext;
use super::events::CopilotEvent;
use super::format::InvocationAnswer;
use super::link::WeakCopilotLink;
use super::{confirm, handshake, invoke};
use crate::rpc::{PeerHandler, PeerResponse, RequestRefusal};

/// Handles the requests and notifications of the Copilot language server.
pub(super) struct CopilotHandler {
    pub(super) context: Arc<CopilotContext>,
    pub(super) link: Arc<WeakCopilotLink>,
}

impl PeerHandler for CopilotHandler {
    fn request(&mut self, method: &str, params: Value) -> PeerResponse {
        let now = |value: Value| PeerResponse::Ready(Ok(value));
        match method {
            "conversation/invokeClientTool" => {
                let (context, line) = (self.context.clone(), self.link.clone());
                // The permit is acquired here, in the order of the calls.
                let place = context.waiting.clone().try_acquire_owned().ok();
                // In a task of its own, so that a running tool does not block the connection.
                let work = tokio::spawn(async move { invoke::answer(&context, &line, params, place).await });
                deferred_response(
                    work,
                    InvocationAnswer::error("the call was ended").encode(self.context.format),
                )
            }
            "conversation/invokeClientToolConfirmation" => {
                let context = self.context.clone();
                let work = tokio::spawn(async move { confirm::answer_confirmation(&context, params).await });
                deferred_response(work, json!([{"result": "dismiss"}, null]))
            }
            "conversation/context" => now(json!([null, null])),
            "workspace/configuration" => PeerResponse::Ready(handshake::settings_for(&self.context, &params)),
            "workspace/workspaceFolders" => now(json!([handshake::folder(&self.context)])),
            "window/showMessageRequest" => {
                self.on_message(&params);
                now(Value::Null)
            }
            "client/registerCapability" | "client/unregisterCapability" => now(Value::Null),
            _ => PeerResponse::Ready(Err(RequestRefusal::MethodNotFound)),
        }
    }

    fn notification(&mut self, method: &str, params: &RawValue) {
        let Ok(params) = serde_json::from_str::<Value>(params.get()) else { return };
        match method {
            "$/progress" => self.context.turns.on_progress(&params),
            "window/showMessage" => self.on_message(&params),
            "window/logMessage" => {
                tracing::debug!(target: "copilot", "{}", params["message"].as_str().unwrap_or_default());
            }
            _ => {
                if !self.context.statuses.on_notification(method, &params) {
                    tracing::trace!(method, "the server sent an unknown notification");
                }
            }
        }
    }
}

impl CopilotHandler {
    fn on_message(&self, params: &Value) {
        if let Some(message) = params["message"].as_str() {
            self.context.events.send(CopilotEvent::Said(message.to_owned()));
        }
    }
}

/// Awaits `work`, which is aborted with the connection. Returns `failed` if it panicked.
fn deferred_response(work: tokio::task::JoinHandle<Value>, failed: Value) -> PeerResponse {
    let work = AbortOnDropHandle::new(work);
    PeerResponse::Later(Box::pin(async move { Ok(work.await.unwrap_or(failed)) }))
}
