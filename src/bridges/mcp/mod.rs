//! MCP in both directions: [`server`] offers the runtime's tools to hosts, [`client`] mounts other servers' tools in ours.

pub(crate) mod client;
pub(crate) mod server;
