//! One conversation: requests with deadlines and cancellation, notifications, and requests of the
//! other side.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use parking_lot::Mutex;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

use super::frame::{FrameBuffer, FrameSink, OutgoingFrame};
use super::message::{self, ReceivedMessage};
use super::outbox::Outbox;
use super::trace::{RpcTrace, TraceDirection};
use super::{RequestError, RequestRefusal};

/// The reason for the end of a conversation when the other side closed its output, or takes no more
/// input.
pub(crate) const OUTPUT_CLOSED: &str = "it closed its output";

/// The handler of the other side's requests and notifications. It is called from the conversation's
/// own task and must not block.
pub(crate) trait PeerHandler: Send + 'static {
    /// Handles a request and returns its response. The effects of the request have happened when
    /// this returns; only the response may come later.
    fn request(&mut self, method: &str, params: Value) -> PeerResponse;
    /// A notification.
    fn notification(&mut self, method: &str, params: &RawValue);
}

/// The response to a request of the other side.
pub(crate) enum PeerResponse {
    /// The response is ready.
    Ready(Result<Value, RequestRefusal>),
    /// The response follows when it is ready, while other requests are answered; dropped with the
    /// conversation.
    Later(BoxFuture<'static, Result<Value, RequestRefusal>>),
}

impl From<Result<Value, RequestRefusal>> for PeerResponse {
    fn from(answer: Result<Value, RequestRefusal>) -> Self {
        Self::Ready(answer)
    }
}

/// A conversation with another process. Dropping it closes that process's standard input.
#[derive(Debug)]
pub(crate) struct Peer {
    shared: Arc<PeerSharedState>,
    tasks: [tokio::task::JoinHandle<()>; 2],
}

struct PeerSharedState {
    /// For traces.
    name: String,
    trace: Option<Arc<RpcTrace>>,
    outbox: Outbox,
    next_id: AtomicI64,
    /// Our unanswered requests, by id; `None` when no answer can come any more.
    pending: Mutex<Option<HashMap<i64, oneshot::Sender<RawAnswer>>>>,
    /// True if the other side has sent no response since a deadline passed.
    silent: AtomicBool,
    /// Bytes still missing from a message that has begun to arrive.
    missing: AtomicU64,
    /// The reason why the conversation ended, once it has.
    end: watch::Sender<Option<String>>,
}

/// The `result` of an answer, or its `error`.
type RawAnswer = Result<Box<RawValue>, Box<RawValue>>;

impl fmt::Debug for PeerSharedState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PeerSharedState").field("name", &self.name).finish_non_exhaustive()
    }
}

impl PeerSharedState {
    fn send(&self, frame: OutgoingFrame) {
        self.record(TraceDirection::Sent, || frame.body());
        self.outbox.send(frame);
    }

    fn answer(&self, frame: OutgoingFrame) {
        self.record(TraceDirection::Sent, || frame.body());
        self.outbox.answer(frame);
    }

    fn record<'a>(&self, direction: TraceDirection, body: impl FnOnce() -> std::borrow::Cow<'a, str>) {
        if let Some(trace) = &self.trace {
            trace.record(&self.name, direction, &body());
        }
    }

    /// Ends the conversation. The first reason stays; pending requests fail with it.
    fn close_with_reason(&self, reason: &str) {
        self.end.send_if_modified(|known| {
            let first = known.is_none();
            if first {
                *known = Some(reason.to_owned());
            }
            first
        });
        self.outbox.close();
        self.pending.lock().take();
    }

    fn end_reason(&self) -> Option<String> {
        self.end.borrow().clone()
    }
}

impl Peer {
    /// Starts talking over the other side's standard output and input. `name` is for traces.
    pub(crate) fn open(
        name: &str,
        output: impl AsyncRead + Send + Unpin + 'static,
        input: impl AsyncWrite + Send + 'static,
        handler: impl PeerHandler,
        trace: Option<Arc<RpcTrace>>,
    ) -> Self {
        let shared = Arc::new(PeerSharedState {
            name: name.to_owned(),
            trace,
            outbox: Outbox::new(input),
            next_id: AtomicI64::new(0),
            pending: Mutex::new(Some(HashMap::new())),
            silent: AtomicBool::new(false),
            missing: AtomicU64::new(0),
            end: watch::channel(None).0,
        });
        let reader = tokio::spawn({
            let ending = EndWithTask(shared.clone());
            async move { ending.0.close_with_reason(&read(output, handler, &ending.0).await) }
        });
        let writer = tokio::spawn({
            let ending = EndWithTask(shared.clone());
            async move { ending.0.close_with_reason(&pipe_failure_reason(&ending.0.outbox.write_rest().await)) }
        });
        Self { shared, tasks: [reader, writer] }
    }

    /// Sends a notification. A closed conversation is not an error here; the next request reports
    /// it.
    pub(crate) fn notify(&self, method: &str, params: &impl Serialize) {
        match message::call_frame(None, method, params) {
            Ok(frame) => self.shared.send(frame),
            Err(error) => tracing::error!(method, "a notification cannot be written as JSON: {error}"),
        }
    }

    /// Sends a request now, behind everything sent before; its response is awaited later. Dropping
    /// the returned value cancels the request at the other side.
    ///
    /// # Errors
    /// The params cannot be serialized.
    pub(crate) fn start(
        &self,
        method: &str,
        params: &impl Serialize,
    ) -> Result<PendingRequest<'_>, RequestError> {
        let id = self.shared.next_id.fetch_add(1, Ordering::Relaxed);
        let frame = message::call_frame(Some(id), method, params).map_err(|error| {
            RequestError::Malformed { method: method.to_owned(), what: error.to_string() }
        })?;
        let (sender, answer) = oneshot::channel();
        // If the conversation is over, the sender is dropped at once, and the answer is the reason.
        if let Some(pending) = self.shared.pending.lock().as_mut() {
            pending.insert(id, sender);
        }
        self.shared.send(frame);
        let method = method.to_owned();
        Ok(PendingRequest { peer: self, method, id, answer, started: Instant::now() })
    }

    /// Sends a request and waits for its response until `deadline`.
    ///
    /// # Errors
    /// See [`RequestError`].
    pub(crate) async fn request<T: DeserializeOwned>(
        &self,
        method: &str,
        params: &impl Serialize,
        deadline: Instant,
    ) -> Result<T, RequestError> {
        self.start(method, params)?.answer(deadline).await
    }

    /// The reason why the conversation ended, once it has.
    pub(crate) fn close_reason(&self) -> Option<String> {
        self.shared.end_reason()
    }

    /// Waits until the conversation is over and returns the reason.
    pub(crate) async fn wait_closed(&self) -> String {
        let mut end = self.shared.end.subscribe();
        let reason = end.wait_for(Option::is_some).await;
        reason.ok().and_then(|reason| reason.clone()).unwrap_or_default()
    }

    /// Returns true if the other side has sent no response since a request missed its deadline.
    pub(crate) fn is_silent(&self) -> bool {
        self.shared.silent.load(Ordering::Relaxed)
    }

    /// Bytes that are missing from a message that has begun to arrive; 0 between messages.
    pub(crate) fn missing_bytes(&self) -> u64 {
        self.shared.missing.load(Ordering::Relaxed)
    }

    /// Ends the conversation at once, for this reason: the pipes are closed.
    pub(crate) fn close(&self, reason: &str) {
        self.shared.close_with_reason(reason);
        self.tasks.iter().for_each(tokio::task::JoinHandle::abort);
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.close("it was released");
    }
}

/// Ends the conversation together with one of its tasks, so that no end is missed.
struct EndWithTask(Arc<PeerSharedState>);

impl Drop for EndWithTask {
    fn drop(&mut self) {
        self.0.close_with_reason("its task ended");
    }
}

/// The end reason after a pipe error. Refused input is named; any other error means that the other
/// end is gone.
fn pipe_failure_reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::InvalidData => format!("it was ended because it sent {error}"),
        _ => OUTPUT_CLOSED.to_owned(),
    }
}

/// A request that was sent and is not answered yet.
pub(crate) struct PendingRequest<'a> {
    peer: &'a Peer,
    method: String,
    id: i64,
    answer: oneshot::Receiver<RawAnswer>,
    started: Instant,
}

impl PendingRequest<'_> {
    /// The request's method.
    pub(crate) fn method(&self) -> &str {
        &self.method
    }

    /// The time since the request was sent.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Waits for the response until `deadline`.
    ///
    /// # Errors
    /// See [`RequestError`].
    pub(crate) async fn answer<T: DeserializeOwned>(mut self, deadline: Instant) -> Result<T, RequestError> {
        let result = self.raw_result(deadline).await?;
        serde_json::from_str(result.get())
            .map_err(|error| RequestError::Malformed { method: self.method.clone(), what: error.to_string() })
    }

    /// Waits for the response until `deadline`; returns its `result` as it was written.
    ///
    /// # Errors
    /// See [`RequestError`].
    pub(crate) async fn raw_result(&mut self, deadline: Instant) -> Result<Box<RawValue>, RequestError> {
        let shared = &self.peer.shared;
        match tokio::time::timeout_at(deadline, &mut self.answer).await {
            Ok(Ok(answer)) => {
                shared.silent.store(false, Ordering::Relaxed);
                answer.map_err(|error| RequestError::from_error_member(&self.method, &error))
            }
            Ok(Err(_)) => Err(RequestError::Closed { reason: shared.end_reason().unwrap_or_default() }),
            Err(_) => {
                shared.silent.store(true, Ordering::Relaxed);
                Err(RequestError::Timeout { method: self.method.clone(), waited: self.started.elapsed() })
            }
        }
    }
}

impl Drop for PendingRequest<'_> {
    fn drop(&mut self) {
        let shared = &self.peer.shared;
        let is_unanswered =
            shared.pending.lock().as_mut().is_some_and(|pending| pending.remove(&self.id).is_some());
        // LSP 3.17, *Cancellation Support*.
        if is_unanswered {
            self.peer.notify("$/cancelRequest", &serde_json::json!({ "id": self.id }));
        }
    }
}

/// The pending responses to requests of the other side, as frames.
type LaterAnswers = FuturesUnordered<BoxFuture<'static, OutgoingFrame>>;

/// Reads the other side's output until it ends or becomes invalid. Returns the reason.
async fn read(
    mut output: impl AsyncRead + Send + Unpin,
    handler: impl PeerHandler,
    shared: &Arc<PeerSharedState>,
) -> String {
    let mut frames = FrameBuffer::default();
    let mut dispatcher = Dispatcher { handler, shared, later: LaterAnswers::new() };
    let mut missing = 0;
    loop {
        let read = tokio::select! {
            read = output.read_buf(frames.reserve_room(missing)) => read,
            Some(frame) = dispatcher.later.next() => {
                shared.answer(frame);
                continue;
            }
        };
        let drained = match read {
            Ok(0) => return OUTPUT_CLOSED.to_owned(),
            Ok(_) => frames.drain(&mut dispatcher),
            Err(error) => Err(error),
        };
        missing = match drained {
            Ok(missing) => missing,
            Err(error) => return pipe_failure_reason(&error),
        };
        shared.missing.store(missing as u64, Ordering::Relaxed);
    }
}

/// Passes each message to its receiver.
struct Dispatcher<'a, H> {
    handler: H,
    shared: &'a PeerSharedState,
    later: LaterAnswers,
}

impl<H: PeerHandler> FrameSink for Dispatcher<'_, H> {
    fn message(&mut self, body: &str) -> bool {
        let Some(message) = ReceivedMessage::read(body) else { return false };
        self.shared.record(TraceDirection::Received, || body.into());
        match message {
            ReceivedMessage::Request { id, method, params } => self.dispatch_request(id, &method, params),
            ReceivedMessage::Notification { method, params } => self.handler.notification(&method, params),
            ReceivedMessage::Response { id, answer } => {
                let waiting = self.shared.pending.lock().as_mut().and_then(|pending| pending.remove(&id));
                match waiting {
                    // The caller may have gone away meanwhile.
                    Some(waiting) => {
                        drop(waiting.send(answer.map(ToOwned::to_owned).map_err(ToOwned::to_owned)))
                    }
                    // The late answer to a cancelled request, a second answer, or one to an id that
                    // we never used.
                    None => tracing::debug!(id, "a response to a request that is not pending"),
                }
            }
        }
        true
    }

    fn junk(&mut self, text: &str) {
        tracing::debug!(junk = %text.trim().chars().take(200).collect::<String>(), "not a message");
        self.shared.record(TraceDirection::Junk, || text.into());
    }
}

impl<H: PeerHandler> Dispatcher<'_, H> {
    fn dispatch_request(&mut self, id: &RawValue, method: &str, params: &RawValue) {
        let response = match serde_json::from_str(params.get()) {
            Ok(params) => self.handler.request(method, params),
            Err(error) => Err(RequestRefusal::InvalidParams(error.to_string())).into(),
        };
        match response {
            PeerResponse::Ready(answer) => self.shared.answer(message::response_frame(id, method, answer)),
            PeerResponse::Later(answer) => {
                let (id, method) = (id.to_owned(), method.to_owned());
                self.later.push(Box::pin(async move { message::response_frame(&id, &method, answer.await) }));
            }
        }
    }
}

#[cfg(test)]
#[path = "peer_tests.rs"]
mod tests;
