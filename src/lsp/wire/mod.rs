//! Between the pipes of a language server and async-lsp's main loop.
//!
//! async-lsp ends its loop for good on one stray line, a response with `"id": null`, or a request id beyond `i32`;
//! it hands out no request ids, so nothing could be cancelled. This layer stands in between as a pair of I/O
//! adapters, polled by the loop itself (no task, no copy through a channel):
//!
//! - [`CleanReader`] finds frames in whatever the server prints, repairs or drops what is not JSON-RPC, and
//!   limits sizes;
//! - [`FrameWriter`] puts the real message where the loop wrote a stand-in, and turns cancellations into
//!   `$/cancelRequest` with the real id.
//!
//! Bodies do not pass through the loop: both sides leave them as [`Parcel`]s in the [`Wire`] under a ticket, and the loop
//! only sees the ticket. So a large answer is parsed once, by whoever knows its type, and a malformed one costs
//! its caller an error instead of the session its life.

pub(in crate::lsp) mod parts;
mod reader;
mod trace;
mod writer;

use std::collections::HashMap;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::task::AtomicWaker;
use parking_lot::Mutex;
use serde_json::value::RawValue;

pub(super) use reader::CleanReader;
pub use trace::{Direction, Trace};
pub(super) use writer::FrameWriter;

/// Largest frame accepted from a server, in bytes of its body.
pub const MAX_FRAME: usize = 64 * 1024 * 1024;
/// Largest header block accepted, in bytes.
const MAX_HEADER: usize = 8 * 1024;
/// How many undecodable messages a server may send before its session is ended.
const MAX_DROPPED: u64 = 1_000;

/// A message body on its way around the loop.
pub(super) enum Parcel {
    /// A request of ours; `token` names it for a later [`Parcel::Cancel`].
    Request { token: u64, method: String, params: Box<RawValue> },
    /// A notification of ours.
    Notification { method: String, params: Box<RawValue> },
    /// The request with this token is not wanted any more.
    Cancel { token: u64 },
    /// The params of a server's request or notification, or an answer's `result`.
    Body(Box<RawValue>),
    /// The `error` member of a server's answer.
    Error(Box<RawValue>),
}

/// What reader, writer and connection share.
#[derive(Default)]
pub(super) struct Wire {
    state: Mutex<State>,
    next_ticket: AtomicU64,
    reader: AtomicWaker,
    /// Messages that were dropped because they could not be understood.
    pub dropped: AtomicU64,
    /// Bytes outside of any frame that were skipped.
    pub skipped: AtomicU64,
    /// Bytes still missing from a frame that has begun to arrive.
    pub missing: AtomicU64,
    trace: Option<Arc<Trace>>,
    name: String,
}

#[derive(Default)]
struct State {
    parcels: HashMap<u64, Parcel>,
    /// Our requests that were sent and not answered: id on the wire → token.
    pending: HashMap<i64, u64>,
    /// The same, the other way round.
    ids: HashMap<u64, i64>,
    /// The server's requests: the id we gave to the loop → the id as the server wrote it.
    theirs: HashMap<i32, Box<RawValue>>,
    next_theirs: i32,
    /// Answers of our own making, for requests that were cancelled.
    made_up: VecDeque<i64>,
}

impl Wire {
    pub fn new(name: &str, trace: Option<Arc<Trace>>) -> Self {
        Self { trace, name: name.to_owned(), ..Self::default() }
    }

    /// Leaves `parcel` here and returns the ticket for it.
    pub fn leave(&self, parcel: Parcel) -> u64 {
        let ticket = self.next_ticket.fetch_add(1, Ordering::Relaxed) + 1;
        self.state.lock().parcels.insert(ticket, parcel);
        ticket
    }

    /// Takes the parcel left under `ticket`.
    pub fn take(&self, ticket: u64) -> Option<Parcel> {
        self.state.lock().parcels.remove(&ticket)
    }

    fn trace(&self, direction: Direction, body: &str) {
        if let Some(trace) = &self.trace {
            trace.record(&self.name, direction, body);
        }
    }
}
