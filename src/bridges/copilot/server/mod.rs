//! The client of the Copilot language server: start, registration of our tools, answers to
//! requests, and turns.
//!
//! - [`client`]: one server at a time, restarted after a crash; [`link`]: a running one, with its
//!   [`start`] and [`handshake`]
//! - [`offer`], [`register`]: our tools in its list
//! - [`handler`]: its requests and notifications; [`invoke`], [`confirm`]: calls and confirmations
//! - [`format`](mod@format): the formats of results
//! - [`documents`]: its open documents
//! - [`turn`], [`turn_registry`]: one turn, and its transcript
//! - [`models`], [`status`], [`sign_in`], [`events`] (for observers), and [`context`] (the shared
//!   state)
//!
//! May use the same as every bridge, and of `lsp` the connection, the processes and the installer.
//! The server uses LSP's frames, but it receives no questions about code.
//!
//! Data flow: a turn is one request of ours, open until the turn ends. While it runs, the server
//! calls tools. Each call goes to `Runtime::call` with the turn as its group, so that its edits are
//! undone together. Its changes are reported to the server before the response.

pub(crate) mod client;
mod confirm;
pub(crate) mod context;
mod documents;
pub(crate) mod error;
pub(crate) mod events;
pub(crate) mod format;
mod handler;
mod handshake;
mod invoke;
mod link;
pub(crate) mod models;
pub(crate) mod offer;
pub(crate) mod register;
pub(crate) mod sign_in;
mod start;
pub(crate) mod status;
pub(crate) mod turn;
pub(crate) mod turn_registry;

pub(crate) use client::CopilotStatusReport;
pub(crate) use models::CopilotMode;
pub(crate) use offer::WantedNames;
// The interface for tests.
pub use self::{
    client::CopilotClient,
    context::CopilotOptions,
    error::CopilotError,
    events::{CallState, CopilotEvent, CopilotEventSink},
    format::ResultFormat,
    turn::{TurnOutcome, TurnRequest},
};
