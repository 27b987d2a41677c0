//! The page's parameters, passed in by the caller that opens the daemon.

use std::sync::Arc;

use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::runtime::live::LiveRuntime;

/// The parameters of the page.
#[derive(Clone)]
pub(crate) struct PageSetup {
    /// The current and future runtimes.
    pub(crate) live: LiveRuntime,
    /// Returns the status of the daemon.
    pub(crate) daemon: Arc<dyn Fn() -> Value + Send + Sync>,
    /// Returns the last lines of the daemon's log.
    pub(crate) log: Arc<dyn Fn() -> Vec<String> + Send + Sync>,
    /// Tracks the tasks of the page; the daemon waits for their end.
    pub(crate) tasks: TaskTracker,
    /// Cancelled when the daemon ends.
    pub(crate) closing: CancellationToken,
}
