//! JSON-RPC 2.0 with another process: language servers, the Copilot language server, the Copilot command line.
//!
//! What lives here: messages in the bytes of a pipe, found in whatever a program prints ([`frame`]), one message as text
//! (`message`), the queue to the other side's input (`outbox`), and a conversation over all of it ([`Peer`]: ids, deadlines,
//! cancellation, what the other side asks, limits, a trace); and what doors over HTTP check before they answer ([`http_entry`]). May use:
//! `text`, `workspace` (private files for the trace and a token), `process` (who is at the other end).
//!
//! How data passes: who asks writes the request into the pipe itself and waits at a channel of its own; the one task of the
//! conversation reads, and hands each answer straight to who waits. Bodies stay text ([`RawValue`](serde_json::value::RawValue)) until the
//! caller, who knows their type, decodes them: a large answer is parsed once, and a malformed one costs its caller an error instead of the
//! conversation its life.

mod error;
pub(crate) mod frame;
#[cfg(any(feature = "mcp", feature = "view"))]
pub(crate) mod http_entry;
mod message;
mod outbox;
mod peer;
mod trace;

pub(crate) use error::RequestError;
pub(crate) use error::RequestRefusal;
pub(crate) use peer::Peer;
pub(crate) use peer::PeerHandler;
pub(crate) use peer::PeerResponse;
pub(crate) use peer::{OUTPUT_CLOSED, PendingRequest};
pub(crate) use trace::RpcTrace;
