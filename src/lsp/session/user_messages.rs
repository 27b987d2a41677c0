//! Messages and questions of servers to the user of an editor.

use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

/// The maximum number of queued messages for an editor that does not read; further ones are
/// dropped.
const MAX_QUEUED_USER_MESSAGES: usize = 256;

/// A message of a server.
#[derive(Debug)]
pub(crate) enum ServerUserMessage {
    /// A message to be shown, or written to a log.
    Message {
        /// The server's key.
        server: String,
        /// `window/showMessage` or `window/logMessage` (LSP 3.17).
        method: &'static str,
        /// The params, as the server sent them.
        params: Value,
    },
    /// A question to the user (LSP 3.17, *ShowMessage Request*).
    Question {
        /// The server's key.
        server: String,
        /// The params, as the server sent them.
        params: Value,
        /// The chosen `MessageActionItem`; dropped if no choice is made.
        answer: oneshot::Sender<Value>,
    },
}

/// All listeners of a workspace's servers. Cheap to clone: all clones are the same.
#[derive(Debug, Clone, Default)]
pub(crate) struct UserMessageListeners(Arc<Mutex<Vec<mpsc::Sender<ServerUserMessage>>>>);

impl UserMessageListeners {
    /// Adds a listener, for as long as the receiver lives.
    pub(crate) fn join(&self) -> mpsc::Receiver<ServerUserMessage> {
        let (sender, receiver) = mpsc::channel(MAX_QUEUED_USER_MESSAGES);
        self.0.lock().push(sender);
        receiver
    }

    /// Sends a message to all listeners.
    pub(super) fn broadcast(&self, server: &str, method: &'static str, params: &Value) {
        let mut all = self.0.lock();
        all.retain(|one| {
            let word =
                ServerUserMessage::Message { server: server.to_owned(), method, params: params.clone() };
            !matches!(one.try_send(word), Err(mpsc::error::TrySendError::Closed(_)))
        });
    }

    /// Asks the last listener; returns the choice, or null if there is no listener.
    pub(super) fn ask(&self, server: &str, params: Value) -> impl Future<Output = Value> + Send + use<> {
        let (answer, chosen) = oneshot::channel();
        let mut all = self.0.lock();
        all.retain(|one| !one.is_closed());
        if let Some(one) = all.last() {
            // A listener without room in its queue is skipped: dropping the question answers it.
            let _unasked =
                one.try_send(ServerUserMessage::Question { server: server.to_owned(), params, answer });
        }
        async move { chosen.await.unwrap_or_default() }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn show_message_reaches_all_listeners_and_request_only_the_last() {
        let people = UserMessageListeners::default();
        assert_eq!(people.ask("one", json!({})).await, Value::Null, "nobody is there");
        let (mut first, mut last) = (people.join(), people.join());
        people.broadcast("one", "window/showMessage", &json!({"message": "x"}));
        for heard in [&mut first, &mut last] {
            let Some(ServerUserMessage::Message { server, params, .. }) = heard.recv().await else {
                panic!("no message")
            };
            assert_eq!((server.as_str(), &params["message"]), ("one", &json!("x")));
        }
        let asked = people.ask("one", json!({"message": "?"}));
        let Some(ServerUserMessage::Question { answer, .. }) = last.recv().await else {
            panic!("no question")
        };
        answer.send(json!({"title": "Yes"})).expect("somebody waits");
        assert_eq!(asked.await, json!({"title": "Yes"}));
        assert!(first.try_recv().is_err(), "only one is asked");
        // A listener that disconnects without an answer has made no choice.
        let asked = people.ask("one", json!({}));
        drop(last);
        assert_eq!(asked.await, Value::Null);
        drop(first);
        assert_eq!(people.ask("one", json!({})).await, Value::Null);
    }

    #[test]
    fn unread_user_messages_are_limited_per_listener() {
        let people = UserMessageListeners::default();
        let deaf = people.join();
        for _ in 0..10 * MAX_QUEUED_USER_MESSAGES {
            people.broadcast("one", "window/logMessage", &Value::Null);
        }
        assert_eq!(deaf.len(), MAX_QUEUED_USER_MESSAGES);
    }
}
