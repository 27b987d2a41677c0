//! Witnesses: records of all changes on disk while some work runs.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use super::{Manager, ManagerState};
use crate::workspace::ChangeBatch;

/// A recorder of the workspace's changes from [`Manager::start_recording`] until
/// [`Manager::finish_recording`].
#[derive(Debug)]
pub(crate) struct Witness(Arc<Mutex<ChangeBatch>>);

/// The active recorders.
#[derive(Debug, Default)]
pub(super) struct Witnesses(Mutex<Vec<Weak<Mutex<ChangeBatch>>>>);

impl Witnesses {
    fn add(&self) -> Witness {
        let seen = Arc::default();
        self.0.lock().push(Arc::downgrade(&seen));
        Witness(seen)
    }

    pub(super) fn notify(&self, changes: &ChangeBatch) {
        let mut all = self.0.lock();
        all.retain(|witness| match witness.upgrade() {
            Some(seen) => {
                seen.lock().absorb(changes);
                true
            }
            None => false,
        });
    }
}

impl Manager {
    /// Starts a record of changes on disk. Running servers are notified of earlier changes first.
    /// If the workspace has not been watched yet, waits for the watches, two seconds at most.
    pub(crate) async fn start_recording(&self) -> Witness {
        let _one_at_a_time = self.shared.refreshing.lock().await;
        self.shared.begin_watching();
        self.shared.distribute_changes().await;
        self.shared.witnesses.add()
    }

    /// Returns the changes since the call that returned `witness`, by any program. Running servers
    /// are notified of them first.
    pub(crate) async fn finish_recording(&self, witness: Witness) -> ChangeBatch {
        self.refresh().await;
        std::mem::take(&mut witness.0.lock())
    }
}

impl ManagerState {
    /// Notifies running servers and recorders of the changes on disk since the last call. One
    /// caller at a time.
    pub(super) async fn distribute_changes(self: &Arc<Self>) {
        self.restart_where_inputs_differ().await;
        let Some(changes) = self.drain_changes().await else { return };
        if changes.is_empty() {
            return;
        }
        self.witnesses.notify(&changes);
        self.recheck_untrusted(&changes).await;
        self.restart_unaware(&changes).await;
        for session in self.running_sessions() {
            if session.may_miss(&changes) {
                session.reload_soon();
            }
            session.files_changed(&changes).await;
            if changes.overflowed {
                session.rescan().await;
            }
        }
    }

    /// Ends the servers that never reread some of these files, and those whose objection to the
    /// configuration may be settled; the next question restarts them.
    async fn restart_unaware(&self, changes: &ChangeBatch) {
        for slot in self.slots() {
            let Some(session) = slot.running_session() else { continue };
            let rule = &session.state.spec.reload;
            let is_changed = |name: &String| {
                changes.overflowed || changes.changes.iter().any(|(path, _)| path.as_path().ends_with(name))
            };
            let misses =
                rule.restart && session.may_miss(changes) || rule.restart_files.iter().any(is_changed);
            if misses || session.may_have_settled_complaint(changes) {
                tracing::info!(server = session.server(), "stopped: it does not detect changes");
                slot.stop().await;
            }
        }
    }
}
