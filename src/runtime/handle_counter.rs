//! The count of the handles of one runtime.

use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

/// Counts the handles of one runtime.
#[derive(Debug, Clone)]
pub(super) struct RuntimeHandleCounter {
    pub(super) all: TaskTracker,
    /// Of the handle that this lies in.
    _own: TaskTrackerToken,
}

impl Default for RuntimeHandleCounter {
    fn default() -> Self {
        let all = TaskTracker::new();
        Self { _own: all.token(), all }
    }
}
