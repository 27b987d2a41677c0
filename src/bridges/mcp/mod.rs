//! MCP in both directions: [`server`] offers the runtime's tools to hosts, [`client`] mounts other servers' tools in ours.

pub mod client;
pub mod server;
