//! MCP in both directions: a server of the runtime's tools, and a client that mounts other servers'
//! tools.
//!
//! The server is in [`server`], the client in [`client`].

pub(crate) mod client;
pub(crate) mod server;
