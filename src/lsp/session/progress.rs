//! Progress events of a slow start, and their watchers.

use std::sync::Arc;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::UnboundedSender;

use super::user_messages::UserMessageListeners;

/// An event that is worth showing while a caller waits for an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgressEvent {
    /// A server's process was started.
    ServerStarting {
        /// The server's key.
        server: String,
    },
    /// A server reports work in progress.
    ServerProgress {
        /// The server's key.
        server: String,
        /// The title of the work ("Indexing").
        title: String,
        /// The present message.
        message: Option<String>,
        /// 0 to 100.
        percentage: Option<u8>,
    },
    /// A server has answered `initialize`.
    ServerReady {
        /// The server's key.
        server: String,
    },
    /// A check of many files is in progress.
    FilesChecked {
        /// The number done.
        done: usize,
        /// The total number.
        total: usize,
    },
    /// A command runs.
    CommandRuns {
        /// Lines of output so far.
        lines: usize,
        /// The running time, in whole seconds.
        seconds: u64,
    },
    /// A server is being installed.
    Installing {
        /// The server's key.
        server: String,
        /// The present step.
        step: String,
    },
}

/// All watchers of a workspace's servers. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Watchers {
    senders: Arc<Mutex<Vec<UnboundedSender<ProgressEvent>>>>,
    /// The further listeners to messages for the user.
    pub(crate) people: UserMessageListeners,
}

/// Keeps its watcher subscribed while it lives. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct ProgressWatchGuard(#[allow(dead_code)] /* dropped, not read */ Arc<ProgressWatch>);

#[derive(Debug)]
struct ProgressWatch {
    watchers: Watchers,
    sender: UnboundedSender<ProgressEvent>,
}

impl Watchers {
    /// Subscribes `sender` until the returned value is dropped.
    pub(crate) fn watch(&self, sender: UnboundedSender<ProgressEvent>) -> ProgressWatchGuard {
        self.senders.lock().push(sender.clone());
        ProgressWatchGuard(Arc::new(ProgressWatch { watchers: self.clone(), sender }))
    }

    /// Notifies all watchers. Closed ones are removed.
    pub(crate) fn notify(&self, event: &ProgressEvent) {
        let mut senders = self.senders.lock();
        senders.retain(|sender| sender.send(event.clone()).is_ok());
    }
}

impl Drop for ProgressWatch {
    fn drop(&mut self) {
        let mut senders = self.watchers.senders.lock();
        if let Some(place) = senders.iter().position(|sender| sender.same_channel(&self.sender)) {
            senders.swap_remove(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::unbounded_channel;

    use super::*;

    #[test]
    fn progress_watcher_receives_events_until_dropped() {
        let event = || ProgressEvent::ServerReady { server: "pylsp".to_owned() };
        let watchers = Watchers::default();
        let ((one, mut told_one), (other, mut told_other)) = (unbounded_channel(), unbounded_channel());
        let (first, _second) = (watchers.watch(one), watchers.watch(other));
        watchers.notify(&event());
        drop(first);
        watchers.notify(&event());
        assert_eq!((told_one.len(), told_other.len()), (1, 2));
        assert_eq!(told_one.try_recv().ok(), Some(event()));
        assert_eq!(told_other.try_recv().ok(), Some(event()));
    }
}
