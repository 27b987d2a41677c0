//! The doors for programs: MCP hosts, editors, Copilot, and clients of the daemon.
//!
//! A bridge translates between a protocol and the runtime; it holds no tool logic and prints
//! nothing.
//!
//! - [`mcp`]: the MCP server, and the client that mounts other MCP servers
//! - [`copilot`]: the Copilot language server and command line, with our tools
//! - [`daemon`]: one runtime per workspace and environment, shared through a socket
//! - [`editor`]: an LSP server for editors, over all servers of a file
//! - [`host_hook`]: the events that hosts' hooks report on edits and searches, and the answers to
//!   them
//! - [`page`]: the page that shows a user the daemon's activity
//! - [`init`]: the configuration of hosts that start us
//!
//! May use everything below: `runtime`, `tools`, `policy`, `analysis`, `config` and others; only
//! [`editor`] names LSP crates here, only [`mcp`] names rmcp. Uses nothing of `cli`: the daemon
//! receives the handler of command lines as a parameter.

#[cfg(feature = "copilot")]
pub(crate) mod copilot;
#[cfg(feature = "daemon")]
pub(crate) mod daemon;
#[cfg(feature = "editor")]
pub(crate) mod editor;
#[cfg(feature = "cli")]
pub(crate) mod host_hook;
#[cfg(feature = "cli")]
pub(crate) mod init;
#[cfg(feature = "mcp")]
pub(crate) mod mcp;
#[cfg(feature = "view")]
pub(crate) mod page;

#[cfg(feature = "cli")]
mod open;

#[cfg(feature = "cli")]
pub use open::open_with;
#[cfg(feature = "cli")]
pub(crate) use open::{open, with_mounts};
