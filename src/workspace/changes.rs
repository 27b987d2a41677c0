//! The change feed: files that changed on disk, by any process.
//!
//! One thread sets up the watches and ends; after that nothing runs between calls.
//! [`ChangeFeed::drain`] reads the kernel's queue, which has every event before the causing write
//! returned. Events only name the places to examine; the changes are the differences between a
//! remembered snapshot and the disk. So a file that was deleted and written again counts as
//! changed, and one that was created and deleted does not count. After a lost event the tree is
//! scanned.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use parking_lot::{Condvar, Mutex};

use super::{Workspace, WorkspacePath};

mod tree;

use tree::WatchedTree;

/// The change of a file since the last drain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ChangeKind {
    /// The file was created.
    Created,
    /// The content may have changed.
    Changed,
    /// The file was deleted.
    Deleted,
}

/// The changes since the last [`ChangeFeed::drain`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ChangeBatch {
    /// One entry per file, sorted by path.
    pub changes: Vec<(WorkspacePath, ChangeKind)>,
    /// One entry per source that is hidden or ignored, sorted by path.
    pub(crate) aside: Vec<(WorkspacePath, ChangeKind)>,
    /// The folders that were created, deleted or replaced, sorted by path.
    pub(crate) folders: Vec<(WorkspacePath, ChangeKind)>,
    /// True if there may have been changes that are not listed; the caller must then compare with
    /// the disk.
    pub(crate) overflowed: bool,
}

impl ChangeBatch {
    /// Returns true if nothing has changed.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Merges the ordinary files of a later batch into this one: a file created and deleted drops
    /// out, a file deleted and created again counts as changed.
    pub(crate) fn absorb(&mut self, later: &Self) {
        self.overflowed |= later.overflowed;
        let mut all: BTreeMap<WorkspacePath, ChangeKind> =
            std::mem::take(&mut self.changes).into_iter().collect();
        merge_all(&mut all, later.changes.iter().cloned());
        self.changes = all.into_iter().collect();
    }
}

/// The limits of change detection. They are separate from the code so that tests reach them with
/// small trees.
#[derive(Debug, Clone, Copy)]
struct ChangeFeedLimits {
    /// Most directories to watch through the kernel; others are scanned in every drain.
    watches: usize,
    /// Most files to record.
    files: usize,
    /// Most directories to watch among those that are hidden or ignored.
    aside: usize,
    /// Most sources to record in them.
    aside_files: usize,
    /// The time after the start for which a drain waits for the watches.
    setup: Duration,
    /// The time limit of one drain for directories without a watch.
    polling: Duration,
}

const LIMITS: ChangeFeedLimits = ChangeFeedLimits {
    watches: usize::MAX,
    files: 500_000,
    aside: 2_000,
    aside_files: 20_000,
    setup: Duration::from_secs(2),
    polling: Duration::from_millis(500),
};

/// Tells the names of files that language servers read.
pub(crate) trait SourceNames: std::fmt::Debug + Send + Sync {
    /// Returns true for the name of a source.
    fn has(&self, name: &str) -> bool;
}

/// Reports changes of the files in a workspace. The files are those that a walk lists, hidden files
/// beside them (settings of tools, ignore files), and hidden or ignored sources, such as generated
/// code; not installed packages, links and special files. Dropping it ends the watching.
#[derive(Debug)]
pub(crate) struct ChangeFeed {
    shared: Arc<ChangeFeedState>,
    setup: Option<JoinHandle<()>>,
    started: Instant,
    limits: ChangeFeedLimits,
}

#[derive(Debug)]
struct ChangeFeedState {
    /// `None` until the watches are set up.
    tree: Mutex<Option<WatchedTree>>,
    ready: Condvar,
    stop: AtomicBool,
}

impl ChangeFeed {
    /// Starts the change feed. Returns at once; a large tree is set up on a thread that this owns.
    ///
    /// All later changes are noticed, even before the watches are in place. The only exception is a
    /// file deleted before they are, because nothing was recorded about it.
    pub(crate) fn start(workspace: &Workspace, sources: Arc<dyn SourceNames>) -> Self {
        Self::start_with(workspace, sources, LIMITS)
    }

    fn start_with(workspace: &Workspace, sources: Arc<dyn SourceNames>, limits: ChangeFeedLimits) -> Self {
        let since = SystemTime::now();
        let shared = Arc::new(ChangeFeedState {
            tree: Mutex::new(None),
            ready: Condvar::new(),
            stop: AtomicBool::new(false),
        });
        let set_up = {
            let (shared, workspace) = (Arc::clone(&shared), workspace.clone());
            move || {
                let tree = WatchedTree::new(&workspace, sources.clone(), limits, since, &shared.stop);
                *shared.tree.lock() = Some(tree);
                shared.ready.notify_all();
            }
        };
        let thread = std::thread::Builder::new().name("workspace-watch".to_owned());
        let setup = match thread.spawn(set_up.clone()) {
            Ok(handle) => Some(handle),
            // Without a thread, the caller waits for the setup.
            Err(_) => {
                set_up();
                None
            }
        };
        Self { shared, setup, started: Instant::now(), limits }
    }

    /// Returns true if the watches are in place, so that [`drain`](Self::drain) does not wait for
    /// them.
    pub(crate) fn is_ready(&self) -> bool {
        self.shared.tree.lock().is_some()
    }

    /// Returns a number that differs from earlier ones if a file has changed meanwhile, including
    /// everything done before this call; `None` if not all changes are noticed. The changes stay
    /// for the next [`drain`](Self::drain).
    pub(crate) fn revision(&self) -> Option<u64> {
        self.shared.tree.lock().as_mut()?.revision()
    }

    /// Returns the changes since the last call, or since the start, including everything done
    /// before this call.
    ///
    /// The call takes microseconds if nothing happened. In the first two seconds after the start it
    /// waits for the watches. If they are not in place by then, it returns at once with
    /// `overflowed` set, until they are.
    pub(crate) fn drain(&self) -> ChangeBatch {
        let left = (self.started + self.limits.setup).saturating_duration_since(Instant::now());
        let mut tree = self.shared.tree.lock();
        self.shared.ready.wait_while_for(&mut tree, |tree| tree.is_none(), left);
        match tree.as_mut() {
            Some(tree) => tree.drain(),
            None => ChangeBatch { overflowed: true, ..ChangeBatch::default() },
        }
    }
}

impl Drop for ChangeFeed {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(setup) = self.setup.take() {
            // The join fails only if the thread panicked, which it has then reported itself.
            let _ = setup.join();
        }
    }
}

/// Merges two successive changes of one file; `None` if they cancel out.
fn merge_kinds(first: ChangeKind, second: ChangeKind) -> Option<ChangeKind> {
    use ChangeKind::{Changed, Created, Deleted};
    match (first, second) {
        (Created, Deleted) => None,
        (Created, _) => Some(Created),
        (Deleted, Deleted) | (Changed, Deleted) => Some(Deleted),
        (Deleted, _) | (Changed, _) => Some(Changed),
    }
}

/// Merges the changes of `later` into those of `earlier`.
fn merge_all<Key: Ord>(
    earlier: &mut BTreeMap<Key, ChangeKind>,
    later: impl IntoIterator<Item = (Key, ChangeKind)>,
) {
    for (path, second) in later {
        let merged = match earlier.get(&path) {
            Some(first) => merge_kinds(*first, second),
            None => Some(second),
        };
        match merged {
            Some(kind) => earlier.insert(path, kind),
            None => earlier.remove(&path),
        };
    }
}

#[cfg(test)]
mod tests;
