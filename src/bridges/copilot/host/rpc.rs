//! The connection to the Copilot command line, with messages in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::error::HostError;
use super::program::HostProcess;
use crate::rpc::{OUTPUT_CLOSED, Peer, PeerHandler, PeerResponse, RequestError, RequestRefusal};

/// The peer's name in traces.
const NAME: &str = "copilot-cli";
/// The time limit for requests that involve no other program.
pub(super) const HOST_REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// The time limit for closing a session.
pub(super) const SESSION_CLOSE_TIMEOUT: Duration = Duration::from_secs(5);
/// The number of queued messages. A session's first ones arrive while its creation is awaited.
const MAX_WAITING_MESSAGES: usize = 10_000;

/// Sends to the command line. Clones are cheap.
#[derive(Debug, Clone)]
pub(super) struct Rpc(Arc<Peer>);

/// An incoming message.
#[derive(Debug)]
pub(super) enum HostMessage {
    /// A notification.
    Told { method: String, params: Value },
    /// A request, and the channel for its response.
    Asked { method: String, params: Value, answer: QuestionAnswer },
    /// The connection has ended, with the reason.
    Ended(HostError),
}

/// The channel for the response to a request of the command line. Dropping it refuses the request.
#[derive(Debug)]
pub(super) struct QuestionAnswer(oneshot::Sender<Value>);

impl QuestionAnswer {
    pub(super) fn send(self, result: Value) {
        // The peer may have disconnected.
        let _ignored = self.0.send(result);
    }
}

/// A connection, closed when this is dropped.
#[derive(Debug)]
pub(super) struct HostConversation {
    rpc: Rpc,
    incoming: mpsc::Receiver<HostMessage>,
    /// True if the command line sent more messages than the queue holds.
    is_overrun: Arc<AtomicBool>,
}

impl HostConversation {
    /// Opens the connection to a started command line.
    pub(super) fn open(running: &mut HostProcess) -> Result<Self, HostError> {
        let ended = || HostError::Ended { last: Vec::new() };
        let (stdin, stdout) = running.pipes().ok_or_else(ended)?;
        Ok(Self::from_streams(stdout, stdin))
    }

    /// Opens a connection over any two streams.
    pub(super) fn from_streams(
        from: impl AsyncRead + Unpin + Send + 'static,
        to: impl AsyncWrite + Unpin + Send + 'static,
    ) -> Self {
        let (sender, incoming) = mpsc::channel(MAX_WAITING_MESSAGES);
        let is_overrun = Arc::default();
        let queue = MessageQueue { sender: Some(sender), is_overrun: Arc::clone(&is_overrun) };
        let peer = Peer::open(NAME, from, to, queue, None);
        Self { rpc: Rpc(Arc::new(peer)), incoming, is_overrun }
    }

    /// Returns the sender for this connection.
    pub(super) fn rpc(&self) -> Rpc {
        self.rpc.clone()
    }

    /// Returns the next message. Cancel safe.
    pub(super) async fn next(&mut self) -> HostMessage {
        match self.incoming.recv().await {
            Some(next) => next,
            None if self.is_overrun.load(Ordering::Relaxed) => {
                let what = format!("more than {MAX_WAITING_MESSAGES} messages at once");
                HostMessage::Ended(HostError::Garbage(what))
            }
            None => {
                self.rpc.0.wait_closed().await;
                HostMessage::Ended(self.rpc.end_error())
            }
        }
    }

    /// Sends the closing request. Requests that arrive meanwhile get an empty response.
    pub(super) async fn close(
        &mut self,
        method: &'static str,
        params: Value,
        within: Duration,
    ) -> Result<(), HostError> {
        let rpc = self.rpc();
        let request = rpc.ask(method, params, within);
        tokio::pin!(request);
        loop {
            tokio::select! {
                answer = &mut request => return answer.map(drop),
                next = self.next() => match next {
                    HostMessage::Asked { answer, .. } => answer.send(json!({"output": null})),
                    HostMessage::Told { .. } => {}
                    HostMessage::Ended(error) => return Err(error),
                },
            }
        }
    }
}

impl Rpc {
    /// Sends a request and waits for its response.
    pub(super) async fn ask(
        &self,
        method: &'static str,
        params: Value,
        within: Duration,
    ) -> Result<Value, HostError> {
        let answer = self.0.request(method, &params, Instant::now() + within).await;
        answer.map_err(|error| match error {
            RequestError::Timeout { .. } => HostError::Silent { method, within },
            RequestError::Refused { code, message, .. } => HostError::Refused { method, code, message },
            RequestError::Malformed { what, .. } => HostError::Garbage(what),
            RequestError::Closed { .. } => self.end_error(),
        })
    }

    /// Returns the reason for the end of the connection.
    fn end_error(&self) -> HostError {
        match self.0.close_reason() {
            Some(reason) if reason != OUTPUT_CLOSED => HostError::Garbage(reason),
            _ => HostError::Ended { last: Vec::new() },
        }
    }
}

/// Queues the command line's messages for the turn.
struct MessageQueue {
    /// `None` after the queue was full.
    sender: Option<mpsc::Sender<HostMessage>>,
    is_overrun: Arc<AtomicBool>,
}

impl MessageQueue {
    fn add(&mut self, message: HostMessage) {
        if let Some(sender) = &self.sender
            && let Err(TrySendError::Full(_)) = sender.try_send(message)
        {
            self.is_overrun.store(true, Ordering::Relaxed);
            self.sender = None;
        }
    }
}

impl PeerHandler for MessageQueue {
    fn request(&mut self, method: &str, params: Value) -> PeerResponse {
        let (sender, answer) = oneshot::channel();
        self.add(HostMessage::Asked { method: method.to_owned(), params, answer: QuestionAnswer(sender) });
        PeerResponse::Later(Box::pin(async { answer.await.map_err(|_| RequestRefusal::MethodNotFound) }))
    }

    fn notification(&mut self, method: &str, params: &RawValue) {
        match serde_json::from_str(params.get()) {
            Ok(params) => self.add(HostMessage::Told { method: method.to_owned(), params }),
            Err(error) => tracing::debug!(method, "params that cannot be read: {error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex, split};

    use super::*;

    type From = BufReader<tokio::io::ReadHalf<DuplexStream>>;

    fn pair() -> (HostConversation, From, tokio::io::WriteHalf<DuplexStream>) {
        let (ours, theirs) = duplex(1 << 16);
        let (from, to) = split(ours);
        let (their_from, their_to) = split(theirs);
        (HostConversation::from_streams(from, to), BufReader::new(their_from), their_to)
    }

    async fn say(to: &mut (impl AsyncWrite + Unpin), message: Value) {
        let body = message.to_string();
        to.write_all(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes()).await.unwrap();
    }

    async fn hear(from: &mut From) -> Value {
        let mut header = String::new();
        from.read_line(&mut header).await.unwrap();
        from.read_line(&mut String::new()).await.unwrap();
        let mut body = vec![0; header.trim().strip_prefix("Content-Length: ").unwrap().parse().unwrap()];
        from.read_exact(&mut body).await.unwrap();
        serde_json::from_slice(&body).unwrap()
    }

    #[tokio::test]
    async fn rpc_responses_in_any_order_match_their_requests() {
        let (conversation, mut from, mut to) = pair();
        let rpc = conversation.rpc();
        let within = Duration::from_secs(10);
        let other = async {
            let (first, second) = (hear(&mut from).await, hear(&mut from).await);
            say(&mut to, json!({"id": 99, "result": "nobody's"})).await;
            say(&mut to, json!({"id": second["id"], "error": {"code": -1, "message": "no"}})).await;
            say(&mut to, json!({"id": first["id"], "result": first["method"]})).await;
        };
        let (first, second, ()) =
            tokio::join!(rpc.ask("one", json!({}), within), rpc.ask("two", json!({}), within), other);
        assert_eq!(first.unwrap(), json!("one"));
        assert!(matches!(second, Err(HostError::Refused { method: "two", code: -1, .. })));
    }

    #[tokio::test]
    async fn rpc_end_of_stream_fails_all_pending_requests() {
        let (mut conversation, mut from, mut to) = pair();
        let rpc = conversation.rpc();
        say(&mut to, json!({"method": "m", "params": {"a": 1}})).await;
        say(&mut to, json!({"id": "x", "method": "q"})).await;
        assert!(matches!(conversation.next().await, HostMessage::Told { params, .. } if params["a"] == 1));
        assert!(matches!(conversation.next().await, HostMessage::Asked { method, .. } if method == "q"));
        let refused = hear(&mut from).await;
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!("x"), &json!(-32601)));
        let asked = rpc.ask("m", json!({}), Duration::from_secs(10));
        let gone = async {
            hear(&mut from).await;
            drop((from, to));
        };
        let (asked, ()) = tokio::join!(asked, gone);
        assert!(matches!(asked, Err(HostError::Ended { .. })));
        assert!(matches!(conversation.next().await, HostMessage::Ended(HostError::Ended { .. })));
        assert!(matches!(
            rpc.ask("m", json!({}), Duration::from_secs(10)).await,
            Err(HostError::Ended { .. })
        ));
    }

    #[tokio::test]
    async fn rpc_content_length_over_limit_ends_conversation_with_reason() {
        let (mut conversation, _from, mut to) = pair();
        to.write_all(b"Content-Length: 99999999999\r\n\r\n").await.unwrap();
        let end = conversation.next().await;
        assert!(
            matches!(&end, HostMessage::Ended(HostError::Garbage(why)) if why.contains("99999999999")),
            "{end:?}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn rpc_request_without_response_times_out() {
        let (conversation, _from, _to) = pair();
        let asked = conversation.rpc().ask("m", json!({}), Duration::from_secs(3)).await;
        assert!(matches!(asked, Err(HostError::Silent { method: "m", .. })));
    }
}
