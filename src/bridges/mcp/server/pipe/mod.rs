//! The pipe of one session: a JSON-RPC message per line, in both directions.
//!
//! Contents: [`Pipe`], rmcp's transport over any pair of byte streams, with [`lines`] (lines of
//! bounded length), [`batches`] (of MCP 2025-03-26) and [`unreadable`] (answers to invalid
//! messages). Knows no tool.
//!
//! Guarantees: every request with a readable id is answered, even an invalid one. Memory is
//! bounded, even if the client sends without reading or sends lines without an end. When input
//! ends, running calls of this client are cancelled.

mod batches;
mod lines;
mod outlet;
mod unreadable;

#[cfg(test)]
mod tests;

use std::collections::{HashSet, VecDeque};
use std::io;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, JsonRpcMessage, ProtocolVersion, RequestId,
    ServerJsonRpcMessage, ServerResult,
};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use self::batches::{OpenBatches, PipeOutput};
use self::lines::{PipeInputLine, PipeLineReader};
use self::outlet::Outlet;
use self::unreadable::UnreadableMessageError;
pub(super) use self::unreadable::batch;

/// The number of concurrent requests of one client. Further ones wait.
const AT_ONCE: usize = 128;
/// The number of waiting requests above which input is not read.
const HELD: usize = 1024;
/// The total size of waiting requests above which input is not read, in bytes.
const HELD_BYTES: usize = 32 << 20;
/// The limit on open `subscriptions/listen` requests.
const LISTENING: usize = 64;

/// One client's two streams, as rmcp's transport.
pub(super) struct Pipe<R, W> {
    lines: PipeLineReader<R>,
    outlet: Arc<Outlet<W>>,
    in_flight: Arc<InFlightRequests>,
    /// Waiting requests, with their sizes.
    queued: VecDeque<(ClientJsonRpcMessage, usize)>,
    held_bytes: usize,
    /// The pipe's own answers being written. They are kept here because `receive` may be dropped at
    /// any await.
    replies: VecDeque<BoxFuture<'static, io::Result<()>>>,
    /// Messages of a batch that are ready to be passed on.
    ready: VecDeque<ClientJsonRpcMessage>,
    batches: OpenBatches,
    /// True if the session is one of MCP 2025-03-26.
    takes_batches: bool,
    /// True after a message that opens the session. Before it, rmcp fails on anything but a
    /// request.
    opened: bool,
    /// Cancelled at the end of the input.
    input_ended: CancellationToken,
}

/// The requests passed on and not answered yet.
#[derive(Debug, Default)]
struct InFlightRequests {
    ids: Mutex<HashSet<RequestId>>,
    listening: Mutex<HashSet<RequestId>>,
    completed: Notify,
}

impl InFlightRequests {
    fn count(&self) -> usize {
        self.ids.lock().len()
    }

    fn has(&self, id: &RequestId) -> bool {
        self.ids.lock().contains(id) || self.listening.lock().contains(id)
    }

    fn insert(&self, id: RequestId, listens: bool) {
        let ids = if listens { &self.listening } else { &self.ids };
        ids.lock().insert(id);
    }

    fn remove(&self, id: &RequestId) {
        self.ids.lock().remove(id);
        self.listening.lock().remove(id);
        self.completed.notify_one();
    }

    fn listening(&self) -> usize {
        self.listening.lock().len()
    }
}

impl<R, W> Pipe<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// Creates a pipe that reads `read` and writes `write`. Cancels `gone` when input ends; stops
    /// writing when `closed` is cancelled.
    pub(super) fn new(read: R, write: W, input_ended: CancellationToken, closed: CancellationToken) -> Self {
        Self {
            lines: PipeLineReader::new(read),
            outlet: Arc::new(Outlet::new(write, closed)),
            in_flight: Arc::default(),
            queued: VecDeque::new(),
            held_bytes: 0,
            replies: VecDeque::new(),
            ready: VecDeque::new(),
            batches: OpenBatches::default(),
            takes_batches: false,
            opened: false,
            input_ended,
        }
    }

    /// Queues an answer of the pipe itself, which is written before further input is read.
    fn reply(&mut self, output: PipeOutput) {
        let outlet = Arc::clone(&self.outlet);
        self.replies.push_back(Box::pin(async move { outlet.write(&output).await }));
    }

    fn reply_with_error(&mut self, refused: UnreadableMessageError) {
        tracing::debug!(%refused.error.message, "refused input of an MCP client");
        self.reply(PipeOutput::One(Box::new(refused.into_message())));
    }

    /// Returns the next waiting request, if the limit on concurrent ones permits it.
    fn next_held(&mut self) -> Option<ClientJsonRpcMessage> {
        if self.in_flight.count() >= AT_ONCE {
            return None;
        }
        let (message, size) = self.queued.pop_front()?;
        self.held_bytes -= size;
        if let JsonRpcMessage::Request(request) = &message {
            self.in_flight.insert(request.id.clone(), false);
        }
        Some(message)
    }

    /// Handles one line. Returns a message to pass on, or `None` if it waits, was answered, or
    /// needs no answer.
    fn handle_line(&mut self, line: PipeInputLine) -> Option<ClientJsonRpcMessage> {
        let bytes = match line {
            PipeInputLine::Whole(bytes) => bytes,
            PipeInputLine::TooLong { head, tail } => {
                let refused = unreadable::too_long(&head, &tail);
                self.reply_with_error(*refused);
                return None;
            }
        };
        if self.takes_batches && bytes.trim_ascii_start().starts_with(b"[") {
            self.handle_batch(&bytes);
            return self.ready.pop_front();
        }
        let handled = unreadable::message(&bytes).and_then(|message| match message {
            Some(message) => self.handle_message(message, bytes.len()),
            None => Ok(None),
        });
        handled.unwrap_or_else(|refused| {
            self.reply_with_error(*refused);
            None
        })
    }

    /// Handles the messages of a batch, and answers invalid ones at once.
    fn handle_batch(&mut self, bytes: &[u8]) {
        let items: Vec<Value> = match batch(bytes, HELD) {
            Ok(items) => items,
            Err(refused) => return self.reply_with_error(*refused),
        };
        let (mut waiting, mut answers) = (HashSet::new(), Vec::new());
        for item in items {
            let bytes = item.to_string().into_bytes();
            let handled = unreadable::message(&bytes).and_then(|message| {
                let Some(message) = message else { return Ok(None) };
                let id = match &message {
                    JsonRpcMessage::Request(request) => Some(request.id.clone()),
                    _ => None,
                };
                unreadable::check_batched(&message)?;
                let handled = self.handle_message(message, bytes.len())?;
                waiting.extend(id);
                Ok(handled)
            });
            match handled {
                Ok(message) => self.ready.extend(message),
                Err(refused) => answers.push(refused.into_message()),
            }
        }
        if let Some(output) = self.batches.open(waiting, answers) {
            self.reply(output);
        }
    }

    /// Returns the message if it is to be passed on, and `None` if it waits or needs no answer.
    fn handle_message(
        &mut self,
        message: ClientJsonRpcMessage,
        size: usize,
    ) -> Result<Option<ClientJsonRpcMessage>, Box<UnreadableMessageError>> {
        match &message {
            JsonRpcMessage::Request(request) => {
                let id = request.id.clone();
                let waits = |(held, _): &(ClientJsonRpcMessage, usize)| matches!(held, JsonRpcMessage::Request(held) if held.id == id);
                if self.in_flight.has(&id) || self.queued.iter().any(waits) {
                    let what = format!("a request with the id {id} has not been answered yet");
                    return Err(unreadable::refused_request(what, id));
                }
                self.opened |= opens_conversation(&request.request);
                let listens = matches!(request.request, ClientRequest::SubscriptionsListenRequest(_));
                if listens && self.in_flight.listening() >= LISTENING {
                    let what = format!("{LISTENING} subscriptions are open already; end one first");
                    return Err(unreadable::refused_request(what, id));
                }
                if !listens && (self.in_flight.count() >= AT_ONCE || !self.queued.is_empty()) {
                    self.held_bytes += size;
                    self.queued.push_back((message, size));
                    return Ok(None);
                }
                self.in_flight.insert(id, listens);
                Ok(Some(message))
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.cancel(id);
                }
                Ok(self.opened.then_some(message))
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => Ok(self.opened.then_some(message)),
        }
    }

    /// Cancels a request.
    fn cancel(&mut self, id: &RequestId) {
        let waits = |(held, _): &(ClientJsonRpcMessage, usize)| matches!(held, JsonRpcMessage::Request(held) if held.id == *id);
        if let Some(place) = self.queued.iter().position(waits)
            && let Some((_, size)) = self.queued.remove(place)
        {
            self.held_bytes -= size;
        }
        self.in_flight.remove(id);
        if let Some(output) = self.batches.cancel(id) {
            self.reply(output);
        }
    }
}

/// Returns true if a request determines the protocol version: `initialize`, or a request with its
/// own version.
fn opens_conversation(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        other => rmcp::model::GetMeta::get_meta(other).protocol_version().is_some(),
    }
}

impl<R, W> Transport<RoleServer> for Pipe<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        match &item {
            JsonRpcMessage::Response(response) => {
                if let ServerResult::InitializeResult(greeting) = &response.result {
                    self.takes_batches = greeting.protocol_version == ProtocolVersion::V_2025_03_26;
                }
                self.in_flight.remove(&response.id);
            }
            JsonRpcMessage::Error(error) => {
                if let Some(id) = &error.id {
                    self.in_flight.remove(id);
                }
            }
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => {}
        }
        let output = self.batches.output_for(item);
        let outlet = Arc::clone(&self.outlet);
        let waiting = outlet.count_waiting();
        let mut written = Box::pin(async move {
            let written = match output {
                Some(output) => outlet.write(&output).await,
                None => Ok(()),
            };
            drop(waiting);
            written
        });
        // rmcp awaits this in a task of its own. If the client can take the message at once, it is
        // written without waiting for that task.
        let at_once = (&mut written).now_or_never();
        async move {
            match at_once {
                Some(written) => written,
                None => written.await,
            }
        }
    }

    /// Cancel safe: read data is kept in `self`.
    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(reply) = self.replies.front_mut() {
                let written = reply.await;
                self.replies.pop_front();
                if written.is_err() {
                    self.input_ended.cancel();
                    return None;
                }
                continue;
            }
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            if let Some(message) = self.next_held() {
                return Some(message);
            }
            self.outlet.wait_for_room().await;
            let full = self.queued.len() >= HELD || self.held_bytes >= HELD_BYTES;
            let flight = Arc::clone(&self.in_flight);
            let line = tokio::select! {
                line = self.lines.next(), if !full => line,
                () = flight.completed.notified(), if !self.queued.is_empty() => continue,
            };
            match line {
                Ok(Some(line)) => {
                    if let Some(message) = self.handle_line(line) {
                        return Some(message);
                    }
                }
                Ok(None) => {
                    self.input_ended.cancel();
                    return None;
                }
                Err(error) => {
                    tracing::debug!("an MCP client can no longer be read: {error}");
                    self.input_ended.cancel();
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.input_ended.cancel();
        self.outlet.close().await
    }
}
