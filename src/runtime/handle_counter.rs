//! The count of the handles of one runtime.

use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

/// Counts the handles of one runtime.
#[derive(Debug, Clone)]
pub(super) struct RuntimeHandleCounter {
    pub(super) all: TaskTracker,
    /// The token of the handle that contains this counter.
    _own: TaskTrackerToken,
}

impl Default for RuntimeHandleCounter {
    fn default() -> Self {
        let all = TaskTracker::new();
        Self { _own: all.token(), all }
    }
}
