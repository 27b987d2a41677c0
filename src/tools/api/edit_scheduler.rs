//! The scheduler of edits: those of the same files run one after the other, in order of arrival.
//!
//! An edit holds a [`Claim`] from before it reads its files until its answer is complete. A waiting
//! edit holds no file that an earlier one needs, so edits cannot deadlock. An edit that needs a
//! further file, and cannot get it at once, releases everything and queues again.
//!
//! Other processes are outside this order: their changes are detected by comparing the files'
//! contents with those of the plan.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::workspace::WorkspacePath;

/// The queue of edits of one runtime.
#[derive(Debug, Default)]
pub(crate) struct EditScheduler {
    state: Mutex<EditSchedulerState>,
    moved: Notify,
}

#[derive(Debug, Default)]
struct EditSchedulerState {
    /// Numbers claims, arrivals and changes in the order in which they happen.
    clock: u64,
    claims: BTreeMap<u64, EditScope>,
    /// The arrival times of the calls in progress.
    arrivals: BTreeSet<u64>,
    /// The time of the last change of each file by an edit, back to the first of `arrivals`.
    changes: BTreeMap<WorkspacePath, u64>,
}

/// The files that an edit needs exclusively.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EditScope {
    /// The whole workspace.
    Everything,
    /// Some files.
    Files {
        /// Files and folders that it changes, under their real names.
        changed: BTreeSet<WorkspacePath>,
        /// Files that must not change while the edit runs, or its answer would be wrong.
        seen: BTreeSet<WorkspacePath>,
    },
}

/// A position in the queue. Dropping it leaves the queue.
#[derive(Debug)]
pub(crate) struct Claim {
    scheduler: Arc<EditScheduler>,
    number: u64,
}

/// The arrival time of a call. Dropping it marks the end of the call.
#[derive(Debug)]
pub(crate) struct CallArrival {
    scheduler: Arc<EditScheduler>,
    number: u64,
}

impl CallArrival {
    /// A name that is unique in this runtime.
    pub(crate) fn name(&self) -> String {
        format!("call-{}", self.number)
    }
}

impl EditScheduler {
    /// Records the arrival of a call that may become an edit.
    pub(crate) fn arrive(self: &Arc<Self>) -> CallArrival {
        let mut line = self.state.lock();
        let number = line.next_number();
        line.arrivals.insert(number);
        CallArrival { scheduler: Arc::clone(self), number }
    }

    /// A position at the end of the queue. The files of `scope` may be used once
    /// [`Claim::wait_for_turn`] has returned.
    pub(crate) fn claim(self: &Arc<Self>, scope: EditScope) -> Claim {
        let mut line = self.state.lock();
        let number = line.next_number();
        line.claims.insert(number, scope);
        Claim { scheduler: Arc::clone(self), number }
    }
}

impl EditSchedulerState {
    fn next_number(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    /// Returns true if no earlier claim conflicts with claim `number`.
    fn is_turn(&self, number: u64) -> bool {
        let Some(scope) = self.claims.get(&number) else { return true };
        self.claims.range(..number).all(|(_, earlier)| !earlier.conflicts_with(scope))
    }
}

impl EditScope {
    /// The scope of some files. Those in `changed` get their real names.
    pub(crate) fn files(
        changed: impl IntoIterator<Item = WorkspacePath>,
        seen: impl IntoIterator<Item = WorkspacePath>,
    ) -> Self {
        Self::Files { changed: changed.into_iter().collect(), seen: seen.into_iter().collect() }
    }

    /// Both scopes together.
    fn union(&self, more: &Self) -> Self {
        let (Self::Files { changed, seen }, Self::Files { changed: also_changed, seen: also_seen }) =
            (self, more)
        else {
            return Self::Everything;
        };
        Self::Files { changed: changed | also_changed, seen: seen | also_seen }
    }

    /// Returns true if the scopes exclude each other. Two readers do not conflict.
    fn conflicts_with(&self, other: &Self) -> bool {
        let (Self::Files { changed, seen }, Self::Files { changed: theirs, seen: they_see }) = (self, other)
        else {
            return true;
        };
        overlap(changed, theirs) || overlap(changed, they_see) || overlap(seen, theirs)
    }

    /// Returns true if the scope changes `path`, or a folder that contains it.
    fn changes(&self, path: &WorkspacePath) -> bool {
        match self {
            Self::Everything => true,
            Self::Files { changed, .. } => changed.iter().any(|changed| are_nested(changed, path)),
        }
    }
}

fn overlap(some: &BTreeSet<WorkspacePath>, others: &BTreeSet<WorkspacePath>) -> bool {
    some.iter().any(|one| others.iter().any(|other| are_nested(one, other)))
}

/// Returns true if the paths are equal or one contains the other.
fn are_nested(one: &WorkspacePath, other: &WorkspacePath) -> bool {
    one.as_path().starts_with(other.as_path()) || other.as_path().starts_with(one.as_path())
}

impl Claim {
    /// Waits until no earlier claim conflicts.
    pub(crate) async fn wait_for_turn(&self) {
        let moved = self.scheduler.moved.notified();
        tokio::pin!(moved);
        loop {
            moved.as_mut().enable();
            if self.scheduler.state.lock().is_turn(self.number) {
                return;
            }
            moved.as_mut().await;
            moved.set(self.scheduler.moved.notified());
        }
    }

    /// Adds `more` to the scope without waiting; must be called only in its turn. If another claim
    /// conflicts, the position is lost: the claim moves to the end of the queue with the union, or
    /// with the whole workspace if `last_time`. Returns true on success.
    pub(crate) fn widen(&mut self, more: &EditScope, last_time: bool) -> bool {
        let mut line = self.scheduler.state.lock();
        let mine = line.claims.get(&self.number).map_or_else(|| more.clone(), |scope| scope.union(more));
        let in_the_way = |(number, other): (&u64, &EditScope)| {
            *number != self.number
                && other.conflicts_with(&mine)
                && (*number < self.number || line.is_turn(*number))
        };
        if !line.claims.iter().any(in_the_way) {
            line.claims.insert(self.number, mine);
            return true;
        }
        line.claims.remove(&self.number);
        self.number = line.next_number();
        line.claims.insert(self.number, if last_time { EditScope::Everything } else { mine });
        drop(line);
        self.scheduler.moved.notify_waiters();
        false
    }

    /// Records that its edit has changed `paths`.
    pub(crate) fn has_changed(&self, paths: impl IntoIterator<Item = WorkspacePath>) {
        let mut line = self.scheduler.state.lock();
        let now = line.next_number();
        if !line.arrivals.is_empty() {
            line.changes.extend(paths.into_iter().map(|path| (path, now)));
        }
    }

    /// Returns true if an earlier edit in the queue changes `path`, or has changed it since
    /// `arrival`.
    pub(crate) fn has_concurrent_edit(&self, path: &WorkspacePath, arrival: &CallArrival) -> bool {
        let line = self.scheduler.state.lock();
        let before = line.claims.range(..self.number).any(|(_, earlier)| earlier.changes(path));
        let since =
            line.changes.iter().any(|(changed, time)| *time > arrival.number && are_nested(changed, path));
        before || since
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.scheduler.state.lock().claims.remove(&self.number);
        self.scheduler.moved.notify_waiters();
    }
}

impl Drop for CallArrival {
    fn drop(&mut self) {
        let mut line = self.scheduler.state.lock();
        line.arrivals.remove(&self.number);
        match line.arrivals.first().copied() {
            Some(first) => line.changes.retain(|_, time| *time > first),
            None => line.changes.clear(),
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    fn paths(names: &[&str]) -> Vec<WorkspacePath> {
        names.iter().map(|name| WorkspacePath::root().join(name).unwrap()).collect()
    }

    fn scope(changed: &[&str], seen: &[&str]) -> EditScope {
        EditScope::files(paths(changed), paths(seen))
    }

    fn is_up(claim: &Claim) -> bool {
        claim.wait_for_turn().now_or_never().is_some()
    }

    #[test]
    fn overlapping_edit_claims_wait_in_order_and_others_do_not() {
        let turns = Arc::new(EditScheduler::default());
        let first = turns.claim(scope(&["a/x"], &["s"]));
        let other = turns.claim(scope(&["b"], &["s"]));
        let folder = turns.claim(scope(&["a"], &[]));
        let third = turns.claim(scope(&["a/x"], &[]));
        let beside = turns.claim(scope(&["a-b"], &[]));
        let looks = turns.claim(scope(&[], &["b"]));
        let of_seen = turns.claim(scope(&["s"], &[]));
        let whole = turns.claim(EditScope::Everything);
        let up = |claims: &[&Claim]| claims.iter().map(|claim| is_up(claim)).collect::<Vec<_>>();
        assert_eq!(
            up(&[&first, &other, &folder, &third, &beside, &looks, &of_seen, &whole]),
            [true, true, false, false, true, false, false, false]
        );
        drop(first);
        assert_eq!(up(&[&folder, &third, &of_seen]), [true, false, false]);
        drop((folder, other));
        assert_eq!(up(&[&third, &looks, &of_seen, &whole]), [true, true, true, false]);
        drop((third, looks, of_seen, beside));
        assert!(is_up(&whole));
    }

    #[test]
    fn edit_claims_that_want_each_others_scope_do_not_deadlock() {
        let turns = Arc::new(EditScheduler::default());
        let mut first = turns.claim(scope(&["a"], &[]));
        let mut second = turns.claim(scope(&["b"], &[]));
        assert!(!second.widen(&scope(&[], &["a"]), false), "the first is at it");
        assert!(!is_up(&second));
        assert!(first.widen(&scope(&[], &["b"]), false), "the second has given up what it had");
        drop(first);
        assert!(is_up(&second));
        let third = turns.claim(scope(&["c"], &[]));
        let waits = turns.claim(scope(&["b", "d"], &[]));
        assert!(second.widen(&scope(&[], &["d"]), false), "who comes later and waits is not in the way");
        assert!(!second.widen(&scope(&[], &["c"]), true));
        assert!(is_up(&third) && is_up(&waits) && !is_up(&second));
        drop((third, waits));
        assert!(is_up(&second) && second.widen(&scope(&["x"], &["y"]), true), "it has everything");
    }

    #[tokio::test]
    async fn waiting_edit_claim_is_woken_when_predecessor_is_dropped() {
        let turns = Arc::new(EditScheduler::default());
        let first = turns.claim(scope(&["a"], &[]));
        let second = turns.claim(scope(&["a"], &[]));
        let waiting = tokio::spawn(async move { second.wait_for_turn().await });
        tokio::task::yield_now().await;
        drop(first);
        waiting.await.unwrap();
    }

    #[test]
    fn concurrent_edit_of_same_path_is_known_while_relevant() {
        let turns = Arc::new(EditScheduler::default());
        let [path] = <[_; 1]>::try_from(paths(&["a/x"])).unwrap();
        let (early, edit) = (turns.arrive(), turns.claim(scope(&["a/x"], &[])));
        let write = turns.claim(scope(&["a/x"], &[]));
        assert!(write.has_concurrent_edit(&path, &early));
        assert!(!edit.has_concurrent_edit(&path, &early), "who comes later does not count");
        edit.has_changed(paths(&["a/x"]));
        drop(edit);
        let late = turns.arrive();
        assert!(write.has_concurrent_edit(&path, &early) && !write.has_concurrent_edit(&path, &late));
        drop(early);
        assert!(turns.state.lock().changes.is_empty());
    }
}
