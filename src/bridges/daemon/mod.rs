//! One runtime per workspace and environment, shared by all its clients through a Unix socket.
//!
//! - [`identity`]: what two commands must have in common to share a daemon
//! - [`folder`]: where its socket and locks lie: a folder that nobody else can enter, checked on the open folder itself
//! - [`preamble`]: the first line of a connection, and the daemon's answer to it
//! - [`connector`]: to a daemon: the one that runs, or one that is started
//! - [`server`]: the daemon: accepting, handing connections to their doors, ending
//! - [`life`]: why and when it ends
//! - [`clients`], [`status`]: who is connected, and what is told of all this
//! - [`passthrough`]: a program's stdin and stdout as a connection, across restarts of the daemon
//! - [`backend`]: the calls of another door of ours, which keeps its protocol, across restarts of the daemon
//!
//! How data passes: [`Connector`](connector::Connector) opens a connection and writes a [`Preamble`](preamble::Preamble); the
//! daemon answers one line, and from then on the bytes are the door's own: lines of MCP, frames of LSP, or a command of the
//! shell. The doors are handed in ([`DoorHandlers`](server::DoorHandlers)), so nothing here knows their protocols, but for what a
//! reconnecting [`passthrough`] has to know of MCP, and for [`backend`], which is ours on both sides.
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

/// What the caller of a tool is told when its daemon ends meanwhile.
const CALL_LOST: &str =
    "the daemon ended while this ran, and whether it was carried out is not known; look before you try again";
/// The same where the daemon has ended before, and there is no next one.
const NO_NEXT_DAEMON: &str =
    "the daemon of lsp-tools ended, and no other one can be started; `lsp-tools daemon start` says why";
