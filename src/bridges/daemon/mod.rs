//! One runtime per workspace and environment, shared by all its clients through a Unix socket.
//!
//! - [`identity`]: the properties that two commands must have in common to share a daemon
//! - [`folder`]: the folder of sockets and locks, accessible only to its owner; the open folder
//!   itself is checked
//! - [`preamble`]: the first line of a connection, and the daemon's answer to it
//! - [`connector`]: connects to the running daemon, or starts one
//! - [`server`]: the daemon: accepts connections, passes them to their doors, shuts down
//! - [`life`]: the daemon's exit reasons
//! - [`clients`], [`status`]: the connected clients, and the daemon's status
//! - [`passthrough`]: a program's stdin and stdout as a connection, across restarts of the daemon
//! - [`backend`]: the calls of another door of ours, which keeps its protocol, across restarts of
//!   the daemon
//!
//! Data flow: [`Connector`](connector::Connector) opens a connection and writes a
//! [`Preamble`](preamble::Preamble). The daemon answers one line. The bytes after it follow the
//! door's protocol: lines of MCP, frames of LSP, or a command of the shell. The doors are passed in
//! ([`DoorHandlers`](server::DoorHandlers)), so nothing here depends on their protocols. Exceptions
//! are a reconnecting [`passthrough`], which parses MCP, and [`backend`], whose protocol is ours on
//! both sides.
//!
//! May use: `runtime` and below. Prints nothing.

pub(crate) mod backend;
pub(crate) mod clients;
pub(crate) mod connector;
pub(crate) mod folder;
pub(crate) mod identity;
pub(crate) mod life;
#[cfg(test)]
mod passing_tests;
pub(crate) mod passthrough;
pub(crate) mod preamble;
pub(crate) mod server;
pub(crate) mod status;

/// The error of a tool call whose daemon exits meanwhile.
const CALL_LOST: &str =
    "the daemon ended during the call, which may or may not have taken effect; check before you try again";
/// The error of a request after the daemon has exited and no other one can be started.
const NO_NEXT_DAEMON: &str = "the daemon of lsp-tools ended, and no other one can be started; `lsp-tools daemon start` shows the reason";
