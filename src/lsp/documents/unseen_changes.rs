//! The count of changes on disk, and of those that a server has examined.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::{Mutex, MutexGuard};

/// The changes that a server may still have to take in.
#[derive(Debug, Default)]
pub(crate) struct UnseenChanges {
    /// The number of created, deleted or changed files that it does not have open.
    changes: AtomicU64,
    /// The number of these changes that it has looked at; locked while it looks, so that concurrent
    /// questions wait.
    seen: Mutex<u64>,
}

impl UnseenChanges {
    /// Counts one more change.
    pub(crate) fn add(&self) {
        self.changes.fetch_add(1, Ordering::Relaxed);
    }

    /// The number of changes.
    pub(crate) fn count(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    /// Locks the number of changes that the server has looked at, for the time of a further look.
    pub(crate) async fn lock_seen(&self) -> MutexGuard<'_, u64> {
        self.seen.lock().await
    }
}
