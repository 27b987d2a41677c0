//! A program's stdin and stdout as a connection to the daemon.
//!
//! - [`mod@mcp`]: survives the daemon. When it ends, another one is connected to, told what it has to know of the conversation
//!   ([`conversation`]), and calls that ran are answered with an error, since nobody knows whether they were carried out.
//! - [`mod@bytes`]: ends with the daemon, for protocols whose state cannot be told again.
//! - [`stdio`]: the process's own streams, without a thread between them and us.

mod bytes;
mod conversation;
mod lines;
mod mcp;
pub(crate) mod stdio;

use std::time::Duration;

pub(crate) use bytes::pass_bytes;
pub(crate) use mcp::pass_mcp;

/// How long what is left may take to be passed on when the input has ended.
const PASSTHROUGH_DRAIN_TIMEOUT: Duration = Duration::from_millis(800);
/// Bytes that wait to be written in one direction before no more is read for it.
const MAX_PASSTHROUGH_BUFFER_BYTES: usize = 1 << 20;

/// How a pass-through came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PassthroughEnd {
    /// The program that started us has closed our input, or reads our output no more.
    ByHost,
    /// It was told to stop.
    Stopped,
    /// The daemon went away.
    ByDaemon,
}
