//! The client of the Copilot language server: start, registration of our tools, answers to requests, and turns.
//!
//! What lives here: [`client`] (one server at a time, started anew after a crash), [`link`] (a running one), its [`start`]
//! and [`handshake`], [`offer`] and [`register`] (our tools in its list), [`handler`] (what it asks and tells), [`invoke`] and
//! [`confirm`] (calls and questions), [`format`](mod@format) (how results travel), [`documents`] (what it has open), [`turn`] and [`turn_registry`]
//! (one turn; what is heard of it), [`models`], [`status`], [`sign_in`], [`events`] (for whoever looks on), and [`context`] (what
//! all of it works with).
//!
//! May use what every bridge may, and of `lsp` the connection, the processes and the installer: the server speaks LSP's
//! frames, but no question about code is ever put to it.
//!
//! How data passes: a turn is one request of ours, open until the turn is over. While it runs the server asks for tools;
//! each call goes to `Runtime::call` with the turn as its group, so that its edits are undone together, and what it changed is
//! told to the server before its answer.

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
// What tests drive the door by.
pub use self::{
    client::CopilotClient,
    context::CopilotOptions,
    error::CopilotError,
    events::{CallState, CopilotEvent, CopilotEventSink},
    format::ResultFormat,
    turn::{TurnOutcome, TurnRequest},
};
