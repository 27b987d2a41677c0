//! JSON-RPC 2.0 with another process: language servers, the Copilot language server, the Copilot
//! command line.
//!
//! Contents: frames in the bytes of a pipe, found among other output ([`frame`]); one message as
//! text (`message`); the queue to the other side's input (`outbox`); the conversation over all of
//! it ([`Peer`]: ids, deadlines, cancellation, incoming requests, limits, a trace); the checks that
//! HTTP servers make before they answer ([`http_entry`]), and what HTTP clients have in common
//! ([`http_client`]). May use: `text`, `workspace`
//! (private files for the trace and a token), `process` (the process at the other end).
//!
//! Data flow: a caller writes its request into the pipe itself and waits at a channel of its own.
//! The single task of the conversation reads, and passes each response to its caller. Bodies stay
//! text ([`RawValue`](serde_json::value::RawValue)) until the caller, who knows their type, decodes
//! them. A large response is parsed once, and a malformed one fails only its own request.

mod error;
pub(crate) mod frame;
pub(crate) mod http_client;
#[cfg(any(feature = "mcp", feature = "view"))]
pub(crate) mod http_entry;
mod message;
mod outbox;
mod peer;
mod trace;

pub(crate) use error::{RequestError, RequestRefusal};
pub(crate) use peer::{OUTPUT_CLOSED, Peer, PeerHandler, PeerResponse, PendingRequest};
pub(crate) use trace::RpcTrace;
