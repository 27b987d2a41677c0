//! The conversation with one language server: requests with deadlines and cancellation, notifications, and what the
//! server asks of us. The only file that names async-lsp.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use async_lsp::{
    AnyEvent, AnyNotification, AnyRequest, ErrorCode, LspService, MainLoop, ResponseError, ServerSocket,
};
use futures::future::{BoxFuture, FutureExt, ready};
use futures::{AsyncRead, AsyncWrite};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::watch;
use tokio::time::Instant;
use tower_service::Service;

use super::wire::parts::{self, Parts};
use super::wire::{CleanReader, FrameWriter, Parcel, Trace, Wire};
use crate::text::cut;

/// The reason for the end of a conversation when the server closed its side of it.
pub const OUTPUT_CLOSED: &str = "it closed its output";
/// The longest reason of a server's refusal that is told, in bytes.
const LONGEST_REASON: usize = 2_000;
/// An answer of so many bytes takes long enough to read that a thread of its own pays.
const LARGE: usize = 256 << 10;

/// Why a request has no answer.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RequestError {
    /// The server did not answer in time; it was told that the answer is not wanted any more.
    #[error("no answer to {method} within {} ms", waited.as_millis())]
    Timeout {
        /// The request's method.
        method: String,
        /// How long it was waited for.
        waited: Duration,
    },
    /// The server answered with an error (LSP 3.17, *ResponseError*).
    #[error("{method} failed: {message} (code {code})")]
    Refused {
        /// The request's method.
        method: String,
        /// JSON-RPC or LSP error code.
        code: i64,
        /// The server's words.
        message: String,
        /// The error's `data` member.
        data: Box<Value>,
    },
    /// The answer is not of the type that the specification gives it.
    #[error("the answer to {method} cannot be understood: {what}")]
    Malformed {
        /// The request's method.
        method: String,
        /// What is wrong with it.
        what: String,
    },
    /// The conversation is over.
    #[error("the server's connection is closed: {reason}")]
    Closed {
        /// Why.
        reason: String,
    },
}

impl RequestError {
    /// Codes of LSP 3.17, *ErrorCodes*.
    const CONTENT_MODIFIED: i64 = -32801;
    const SERVER_CANCELLED: i64 = -32802;
    const REQUEST_CANCELLED: i64 = -32800;

    /// Whether asking again is what the specification expects (`ContentModified`, `ServerCancelled`).
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Refused { code, .. }
            if [Self::CONTENT_MODIFIED, Self::SERVER_CANCELLED, Self::REQUEST_CANCELLED].contains(code))
    }

    /// Whether the server does not know the method at all.
    pub fn is_unsupported(&self) -> bool {
        matches!(self, Self::Refused { code: -32601, .. })
    }
}

/// Answers what a server asks and hears what it tells. Called from the connection's own task: it must not block.
pub trait Incoming: Send + 'static {
    /// What a server's request is answered with. What the request leads to has happened when this returns; only the answer may
    /// come later.
    fn request(&mut self, method: &str, params: Value) -> Answering;
    /// A server's notification.
    fn notification(&mut self, method: &str, params: &RawValue);
}

/// The result of a server's request, or the error it is answered with: there already, or when it is done.
pub enum Answering {
    /// There already.
    Now(Result<Value, Refusal>),
    /// Answered when it is done, while other requests are answered; dropped with the conversation.
    Later(BoxFuture<'static, Result<Value, Refusal>>),
}

impl From<Result<Value, Refusal>> for Answering {
    fn from(answer: Result<Value, Refusal>) -> Self {
        Self::Now(answer)
    }
}

/// How a server's request is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// We do not know the method (`MethodNotFound`).
    MethodNotFound,
    /// The params make no sense (`InvalidParams`).
    InvalidParams(String),
}

/// A conversation. Dropping it closes the server's standard input.
#[derive(Debug)]
pub struct Connection {
    socket: ServerSocket,
    wire: Arc<WireHandle>,
    next_token: AtomicU64,
    /// It has answered nothing since a deadline passed.
    silent: AtomicBool,
    closed: End,
    task: tokio::task::JoinHandle<()>,
}

/// Where it is written why the conversation is over. Dropping it writes that too, so that no end goes unnoticed.
#[derive(Debug)]
struct End(watch::Sender<Option<String>>);

impl End {
    /// The first reason stays.
    fn because(&self, reason: &str) {
        self.0.send_if_modified(|known| {
            let first = known.is_none();
            if first {
                *known = Some(reason.to_owned());
            }
            first
        });
    }
}

impl Drop for End {
    fn drop(&mut self) {
        self.because("its task ended");
    }
}

/// [`Wire`] behind a name that can be shown.
struct WireHandle(Arc<Wire>);

impl std::fmt::Debug for WireHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Wire")
    }
}

impl Connection {
    /// Starts talking over the server's standard output and input. `name` is for traces.
    pub fn open(
        name: &str,
        output: impl AsyncRead + Send + Unpin + 'static,
        input: impl AsyncWrite + Send + Unpin + 'static,
        incoming: impl Incoming,
        trace: Option<Arc<Trace>>,
    ) -> Self {
        let wire = Arc::new(Wire::new(name, trace));
        let end = End(watch::channel(None).0);
        let closed = end.0.clone();
        // The loop panics when its last handle goes while it runs: the handler keeps one.
        let (main_loop, socket) = MainLoop::new_client(|socket| Handler {
            incoming,
            wire: wire.clone(),
            _keeps_the_loop_alive: socket,
        });
        let reader = CleanReader::new(output, wire.clone());
        let writer = FrameWriter::new(input, wire.clone());
        let task = tokio::spawn(async move {
            let reason = match main_loop.run(reader, writer).await {
                // What the reader refuses is a reason of ours; any other failure of a pipe means that the other end is gone.
                Err(async_lsp::Error::Io(error)) if error.kind() == std::io::ErrorKind::InvalidData => {
                    format!("it was ended because it sent {error}")
                }
                Ok(()) | Err(async_lsp::Error::Eof | async_lsp::Error::Io(_)) => OUTPUT_CLOSED.to_owned(),
                Err(error) => error.to_string(),
            };
            end.because(&reason);
        });
        Self {
            socket,
            wire: Arc::new(WireHandle(wire)),
            next_token: AtomicU64::new(1),
            silent: AtomicBool::new(false),
            closed: End(closed),
            task,
        }
    }

    /// Sends a notification; a closed connection is no error here, the next request tells.
    pub fn notify(&self, method: &str, params: &impl Serialize) {
        match to_raw_value(params) {
            Ok(params) => self.send(Parcel::Notification { method: method.to_owned(), params }),
            Err(error) => tracing::error!(method, "a notification cannot be written as JSON: {error}"),
        }
    }

    fn send(&self, parcel: Parcel) {
        let ticket = self.wire.0.leave(parcel);
        // The socket only queues, in order; the loop writes.
        let mut socket = self.socket.clone();
        let stand_in = serde_json::json!({ "method": ticket.to_string() });
        if let Ok(notification) = serde_json::from_value::<AnyNotification>(stand_in) {
            let _closed: ControlFlow<_> = LspService::notify(&mut socket, notification);
        }
    }

    /// Sends a request now, so that it stands behind everything sent before; its answer is waited for later.
    /// Dropping the returned value cancels the request at the server.
    pub fn start(&self, method: &str, params: &impl Serialize) -> Result<Pending<'_>, RequestError> {
        let malformed = |error: serde_json::Error| RequestError::Malformed {
            method: method.to_owned(),
            what: error.to_string(),
        };
        let params = to_raw_value(params).map_err(malformed)?;
        let token = self.next_token.fetch_add(1, Ordering::Relaxed);
        let ticket = self.wire.0.leave(Parcel::Request { token, method: method.to_owned(), params });
        let stand_in = serde_json::json!({ "id": 0, "method": ticket.to_string() });
        let request = serde_json::from_value::<AnyRequest>(stand_in).map_err(malformed)?;
        let answer = Service::call(&mut self.socket.clone(), request);
        let method = method.to_owned();
        Ok(Pending {
            connection: self,
            method,
            token,
            answer: Box::pin(answer),
            started: Instant::now(),
            done: false,
        })
    }

    /// Sends a request and waits for its answer until `deadline`.
    pub async fn request<T: DeserializeOwned>(
        &self,
        method: &str,
        params: &impl Serialize,
        deadline: Instant,
    ) -> Result<T, RequestError> {
        self.start(method, params)?.answer(deadline).await
    }

    /// Returns when everything that was sent before stands in front of whatever is answered from now on: answers to the
    /// server's own requests do not stand in line with what we send by ourselves.
    pub async fn in_order(&self) {
        let (passed, waiting) = tokio::sync::oneshot::channel();
        if self.socket.emit(Passed(passed)).is_ok() {
            // It fails where the conversation ends first; then nothing is answered any more.
            let _ended = waiting.await;
        }
    }

    /// Why the conversation is over, once it is.
    pub fn closed(&self) -> Option<String> {
        self.closed.0.borrow().clone()
    }

    /// Waits until the conversation is over and tells why.
    pub async fn wait_closed(&self) -> String {
        let mut closed = self.closed.0.subscribe();
        match closed.wait_for(Option::is_some).await {
            Ok(reason) => reason.clone().unwrap_or_default(),
            Err(_) => "its task ended".to_owned(),
        }
    }

    /// Whether it has answered nothing since a request that it did not answer in time.
    pub fn is_silent(&self) -> bool {
        self.silent.load(Ordering::Relaxed)
    }

    /// Bytes that are missing from a message that has begun to arrive; 0 between messages.
    pub fn missing_bytes(&self) -> u64 {
        self.wire.0.missing.load(Ordering::Relaxed)
    }

    /// How many messages could not be understood so far.
    pub fn dropped_messages(&self) -> u64 {
        self.wire.0.dropped.load(Ordering::Relaxed)
    }

    /// Ends the conversation at once, for this reason: the pipes are closed.
    pub fn close(&self, reason: &str) {
        self.closed.because(reason);
        self.task.abort();
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.task.abort();
    }
}

type Answer = <ServerSocket as Service<AnyRequest>>::Future;

/// A request that was sent and is not answered yet.
pub struct Pending<'a> {
    connection: &'a Connection,
    method: String,
    token: u64,
    answer: std::pin::Pin<Box<Answer>>,
    started: Instant,
    done: bool,
}

impl Pending<'_> {
    /// Waits for the answer until `deadline`.
    pub async fn answer<T: DeserializeOwned>(mut self, deadline: Instant) -> Result<T, RequestError> {
        let raw = self.raw_answer(deadline).await?;
        serde_json::from_str(raw.get())
            .map_err(|error| RequestError::Malformed { method: self.method.clone(), what: error.to_string() })
    }

    /// As [`answer`](Self::answer), with a limit on how much of it becomes values. A large one is read on a thread that is left
    /// behind at the deadline.
    pub async fn answer_parts(mut self, deadline: Instant) -> Result<Parts, RequestError> {
        let raw = self.raw_answer(deadline).await?;
        let malformed = |what| RequestError::Malformed { method: self.method.clone(), what };
        if raw.get().len() < LARGE {
            return parts::read(&self.method, raw.get()).map_err(malformed);
        }
        let method = self.method.clone();
        let reading = tokio::task::spawn_blocking(move || parts::read(&method, raw.get()));
        match tokio::time::timeout_at(deadline, reading).await {
            Ok(Ok(parts)) => parts.map_err(malformed),
            Ok(Err(stopped)) => Err(malformed(stopped.to_string())),
            Err(_) => {
                Err(RequestError::Timeout { method: self.method.clone(), waited: self.started.elapsed() })
            }
        }
    }

    async fn raw_answer(&mut self, deadline: Instant) -> Result<Box<RawValue>, RequestError> {
        let connection = self.connection;
        let answered = tokio::select! {
            biased;
            answered = self.answer.as_mut() => answered,
            reason = connection.wait_closed() => return Err(self.closed(reason)),
            () = tokio::time::sleep_until(deadline) => {
                connection.silent.store(true, Ordering::Relaxed);
                return Err(RequestError::Timeout { method: self.method.clone(), waited: self.started.elapsed() });
            }
        };
        // The loop itself only fails when it stops.
        let Ok(ticket) = answered else {
            // It lets go of its requests a moment before it says why.
            return Err(self.closed(connection.wait_closed().await));
        };
        self.done = true;
        connection.silent.store(false, Ordering::Relaxed);
        match ticket.as_u64().and_then(|ticket| self.connection.wire.0.take(ticket)) {
            Some(Parcel::Body(body)) => Ok(body),
            Some(Parcel::Error(error)) => Err(refused(&self.method, &error)),
            _ => Err(RequestError::Malformed { method: self.method.clone(), what: "it was lost".into() }),
        }
    }

    fn closed(&mut self, reason: String) -> RequestError {
        self.done = true;
        RequestError::Closed { reason }
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if !self.done {
            self.connection.send(Parcel::Cancel { token: self.token });
        }
    }
}

fn refused(method: &str, error: &RawValue) -> RequestError {
    let error: Value = serde_json::from_str(error.get()).unwrap_or_default();
    RequestError::Refused {
        method: method.to_owned(),
        code: error["code"].as_i64().unwrap_or(0),
        message: cut(error["message"].as_str().unwrap_or("no message"), LONGEST_REASON).into_owned(),
        data: Box::new(error["data"].clone()),
    }
}

/// Goes through the loop's queue behind what was sent, and tells that it has.
struct Passed(tokio::sync::oneshot::Sender<()>);

/// What the main loop calls for the server's messages.
struct Handler<I> {
    incoming: I,
    wire: Arc<Wire>,
    _keeps_the_loop_alive: ServerSocket,
}

impl<I: Incoming> Handler<I> {
    fn body(&self, ticket: &Value) -> Box<RawValue> {
        match ticket.as_u64().and_then(|ticket| self.wire.take(ticket)) {
            Some(Parcel::Body(body)) => body,
            _ => RawValue::NULL.to_owned(),
        }
    }
}

impl<I: Incoming> Service<AnyRequest> for Handler<I> {
    type Response = Value;
    type Error = ResponseError;
    type Future = BoxFuture<'static, Result<Value, ResponseError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: AnyRequest) -> Self::Future {
        let body = self.body(&request.params);
        let params =
            serde_json::from_str(body.get()).map_err(|error| Refusal::InvalidParams(error.to_string()));
        let answer = match params {
            Ok(params) => self.incoming.request(&request.method, params),
            Err(refusal) => Answering::Now(Err(refusal)),
        };
        let method = request.method;
        match answer {
            Answering::Now(result) => ready(result.map_err(|refusal| error_of(&method, refusal))).boxed(),
            Answering::Later(result) => {
                result.map(move |result| result.map_err(|refusal| error_of(&method, refusal))).boxed()
            }
        }
    }
}

fn error_of(method: &str, refusal: Refusal) -> ResponseError {
    match refusal {
        Refusal::MethodNotFound => {
            ResponseError::new(ErrorCode::METHOD_NOT_FOUND, format!("{method} is not supported"))
        }
        Refusal::InvalidParams(what) => ResponseError::new(ErrorCode::INVALID_PARAMS, what),
    }
}

impl<I: Incoming> LspService for Handler<I> {
    fn notify(&mut self, notification: AnyNotification) -> ControlFlow<async_lsp::Result<()>> {
        let body = self.body(&notification.params);
        self.incoming.notification(&notification.method, &body);
        ControlFlow::Continue(())
    }

    fn emit(&mut self, event: AnyEvent) -> ControlFlow<async_lsp::Result<()>> {
        if let Ok(Passed(passed)) = event.downcast::<Passed>() {
            let _nobody = passed.send(());
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
#[path = "connection_tests.rs"]
mod tests;
