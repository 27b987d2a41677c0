//! The count of changes on disk, and of those that a server has looked at.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::{Mutex, MutexGuard};

/// What a server may still have to take in.
#[derive(Debug, Default)]
pub(super) struct UnseenChanges {
    /// How often files that it has not open came, went or changed.
    changes: AtomicU64,
    /// How many of these changes it has looked at; held while it looks, so that whoever asks meanwhile waits.
    seen: Mutex<u64>,
}

impl UnseenChanges {
    /// Counts one more change.
    pub(super) fn add(&self) {
        self.changes.fetch_add(1, Ordering::Relaxed);
    }

    /// How many changes there were.
    pub(super) fn count(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    /// How many of them the server has looked at, to be held while it looks.
    pub(super) async fn lock_seen(&self) -> MutexGuard<'_, u64> {
        self.seen.lock().await
    }
}
