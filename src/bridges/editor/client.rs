//! The connection to the editor: notifications, and requests with their responses.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::task::{Context, Poll};

use futures::Sink;
use futures::stream::{BoxStream, StreamExt, poll_fn};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tower_lsp::Loopback;
use tower_lsp::jsonrpc::{Error, Id, Request, Response};

/// LSP 3.17 *MessageType* `Error`.
pub(super) const MESSAGE_TYPE_ERROR: u8 = 1;
/// LSP 3.17 *MessageType* `Warning`.
pub(super) const MESSAGE_TYPE_WARNING: u8 = 2;
/// LSP 3.17 *MessageType* `Info`.
pub(super) const MESSAGE_TYPE_INFO: u8 = 3;

/// The number of messages queued for an editor that does not read. Further senders wait.
const MAX_QUEUED_EDITOR_MESSAGES: usize = 64;

type EditorResponse = Result<Value, Error>;

/// The editor.
#[derive(Debug)]
pub(super) struct Editor {
    outgoing: mpsc::Sender<Request>,
    asked: Mutex<HashMap<i64, oneshot::Sender<EditorResponse>>>,
    next: AtomicI64,
}

/// Reasons for a missing response of the editor.
#[derive(Debug, thiserror::Error)]
pub(super) enum EditorRequestError {
    /// The editor refused the request.
    #[error("the editor refused {method}: {message}")]
    Refused {
        /// The request's method.
        method: &'static str,
        /// The editor's error message.
        message: String,
    },
    /// The editor did not respond in time, or has disconnected.
    #[error("the editor did not answer {method}")]
    Silent {
        /// The request's method.
        method: &'static str,
    },
}

impl Editor {
    /// Creates the editor and the loopback for tower-lsp.
    pub(super) fn new() -> (Arc<Self>, EditorLoopback) {
        let (outgoing, messages) = mpsc::channel(MAX_QUEUED_EDITOR_MESSAGES);
        let editor = Arc::new(Self { outgoing, asked: Mutex::default(), next: AtomicI64::new(1) });
        (editor.clone(), EditorLoopback { messages, editor })
    }

    /// Sends a notification. Waits while the editor does not read.
    pub(super) async fn notify(&self, method: &'static str, params: Value) {
        // A notification to a disconnected editor is dropped.
        let _ignored = self.outgoing.send(Request::build(method).params(params).finish()).await;
    }

    /// Sends a request, and waits for the response until `deadline`.
    pub(super) async fn request(
        &self,
        method: &'static str,
        params: Value,
        deadline: Instant,
    ) -> Result<Value, EditorRequestError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = oneshot::channel();
        self.asked.lock().insert(id, sender);
        let _forgotten = EditorRequestGuard { editor: self, id };
        let request = Request::build(method).params(params).id(id).finish();
        let answered = tokio::time::timeout_at(deadline, async {
            self.outgoing.send(request).await.ok()?;
            receiver.await.ok()
        });
        match answered.await.ok().flatten() {
            Some(Ok(value)) => Ok(value),
            Some(Err(error)) => {
                Err(EditorRequestError::Refused { method, message: error.message.into_owned() })
            }
            None => Err(EditorRequestError::Silent { method }),
        }
    }
}

/// Drops the pending entry, so that a late response is ignored.
struct EditorRequestGuard<'a> {
    editor: &'a Editor,
    id: i64,
}

impl Drop for EditorRequestGuard<'_> {
    fn drop(&mut self) {
        self.editor.asked.lock().remove(&self.id);
    }
}

/// The channel from which tower-lsp sends to the editor, and its sink for the editor's responses.
pub(super) struct EditorLoopback {
    messages: mpsc::Receiver<Request>,
    editor: Arc<Editor>,
}

impl Loopback for EditorLoopback {
    type RequestStream = BoxStream<'static, Request>;
    type ResponseSink = EditorResponseSink;

    fn split(self) -> (Self::RequestStream, Self::ResponseSink) {
        let Self { mut messages, editor } = self;
        (poll_fn(move |context| messages.poll_recv(context)).boxed(), EditorResponseSink(editor))
    }
}

/// Receives the editor's responses.
pub(super) struct EditorResponseSink(Arc<Editor>);

impl Sink<Response> for EditorResponseSink {
    type Error = std::convert::Infallible;

    fn poll_ready(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn start_send(self: Pin<&mut Self>, response: Response) -> Result<(), Self::Error> {
        let (id, answered) = response.into_parts();
        let known = match id {
            Id::Number(id) => self.0.asked.lock().remove(&id),
            Id::String(_) | Id::Null => None,
        };
        if let Some(sender) = known {
            // The receiver may have been dropped.
            let _ignored = sender.send(answered);
        }
        Ok(())
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }
}
