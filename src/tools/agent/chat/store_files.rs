//! Bounded reading of the files of chat stores.

use std::path::Path;
use std::time::{Duration, Instant};

use super::session::{ChatSession, ChatSource, Skipped};
use crate::platform::canonicalize;
use crate::workspace::{EntryKind, FileStamp, ListQuery, WorkDeadline, Workspace, WorkspacePath};

/// The timeout for listing one folder.
const CHAT_FOLDER_LIST_TIMEOUT: Duration = Duration::from_secs(5);
/// The largest file of a session that is read, in bytes.
pub(super) const MAX_CHAT_FILE_BYTES: u64 = 128 << 20;

/// The most entries of one folder of a store that are examined.
const MOST_ENTRIES: usize = 20_000;

/// The sessions found so far, across stores.
#[derive(Debug, Default)]
pub(super) struct ChatStoreFindings {
    pub sessions: Vec<ChatSession>,
    pub skipped: Vec<Skipped>,
}

impl ChatStoreFindings {
    pub(super) fn skip(&mut self, source: ChatSource, name: &str, reason: impl ToString) {
        let (name, reason) = (name.escape_debug().to_string(), reason.to_string());
        self.skipped.push(Skipped { source, name, reason });
    }
}

/// A folder of a store, as a jail for all reads; `None` if it does not exist.
pub(super) fn open_store_folder(folder: &Path) -> Option<Workspace> {
    folder.is_dir().then(|| Workspace::open(folder).ok()).flatten()
}

/// The entries of `folder`: names, and true for folders. Links are not followed.
pub(super) fn list_entries(store: &Workspace, folder: &WorkspacePath) -> Vec<(String, bool)> {
    let until = WorkDeadline::new(Instant::now() + CHAT_FOLDER_LIST_TIMEOUT);
    let query = ListQuery { under: folder.clone(), recursive: false, max: MOST_ENTRIES, deadline: until };
    let entries = store.list(&query).map(|listing| listing.entries).unwrap_or_default();
    let kept = entries.into_iter().filter_map(|entry| {
        let name = entry.path.file_name()?.to_owned();
        match entry.kind {
            EntryKind::File => Some((name, false)),
            EntryKind::Directory => Some((name, true)),
            EntryKind::Symlink(_) | EntryKind::Special(_) => None,
        }
    });
    kept.collect()
}

/// The time of the last write of a file, in milliseconds since 1970.
pub(super) fn written_at_ms(stamp: &FileStamp) -> i64 {
    stamp.mtime_ns.div_euclid(1_000_000)
}

/// Returns true if a session in `folder` belongs to the workspace at `root`: in it, or below it.
pub(super) fn belongs_to_workspace(folder: &Path, root: &Path) -> bool {
    // The links of a deleted folder cannot be resolved.
    let real = canonicalize(folder);
    real.as_deref().unwrap_or(folder).starts_with(root)
}
