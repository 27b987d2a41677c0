//! Bounded reading of the files of chat stores.

use std::path::Path;
use std::time::{Duration, Instant};

use super::session::{ChatSession, ChatSource, Skipped};
use crate::workspace::{EntryKind, FileStamp, ListQuery, WorkDeadline, Workspace, WorkspacePath};

/// How long the look into one folder may take.
const CHAT_FOLDER_LIST_TIMEOUT: Duration = Duration::from_secs(5);
/// The largest file of a session that is read, in bytes.
pub(super) const MAX_CHAT_FILE_BYTES: u64 = 128 << 20;

/// Entries of one folder of a store that are looked at.
const MOST_ENTRIES: usize = 20_000;

/// What is found, store by store.
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

/// A folder of a store, which nothing is read outside of; `None` where there is none.
pub(super) fn open_store_folder(folder: &Path) -> Option<Workspace> {
    folder.is_dir().then(|| Workspace::open(folder).ok()).flatten()
}

/// What is in `folder`: names, and whether each is a folder. Links are not followed.
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

/// When a file was written, in milliseconds since 1970.
pub(super) fn written_at_ms(stamp: &FileStamp) -> i64 {
    stamp.mtime_ns.div_euclid(1_000_000)
}

/// Whether a session held in `folder` belongs to the workspace at `root`: there, or below it.
pub(super) fn belongs_to_workspace(folder: &Path, root: &Path) -> bool {
    // A folder that is gone cannot be asked where its links led.
    let real = std::fs::canonicalize(folder);
    real.as_deref().unwrap_or(folder).starts_with(root)
}
