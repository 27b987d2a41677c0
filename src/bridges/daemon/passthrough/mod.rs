//! A program's stdin and stdout as a connection to the daemon.
//!
//! - [`mod@mcp`]: survives the daemon. After its end, another one receives the state of the session
//!   ([`conversation`]). Running calls get an error response, since they may have been carried out.
//! - [`mod@bytes`]: ends with the daemon, for protocols whose state cannot be restored.
//! - `platform::stdio`: the process's own streams, without a thread in between.

mod bytes;
mod conversation;
mod lines;
mod mcp;

use std::time::Duration;

pub(crate) use bytes::pass_bytes;
pub(crate) use mcp::pass_mcp;

/// The time for passing on remaining bytes after the end of the input.
const PASSTHROUGH_DRAIN_TIMEOUT: Duration = Duration::from_millis(800);
/// The number of bytes waiting in one direction at which reading pauses.
const MAX_PASSTHROUGH_BUFFER_BYTES: usize = 1 << 20;

/// The reason for the end of a pass-through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PassthroughEnd {
    /// The host has closed our input, or no longer reads our output.
    ByHost,
    /// The pass-through was stopped.
    Stopped,
    /// The daemon closed the connection.
    ByDaemon,
}
