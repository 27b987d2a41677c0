//! What the page is made from, handed in by whoever opens the daemon.

use std::sync::Arc;

use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::runtime::live::LiveRuntime;

/// What the page is made from.
#[derive(Clone)]
pub(crate) struct PageSetup {
    /// The runtime now and in future.
    pub(crate) live: LiveRuntime,
    /// What is known of the daemon.
    pub(crate) daemon: Arc<dyn Fn() -> Value + Send + Sync>,
    /// The last lines of its log.
    pub(crate) log: Arc<dyn Fn() -> Vec<String> + Send + Sync>,
    /// Takes what serves the page; the daemon waits for its end.
    pub(crate) tasks: TaskTracker,
    /// Cancelled when the daemon ends.
    pub(crate) closing: CancellationToken,
}
