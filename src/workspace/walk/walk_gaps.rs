//! The gaps of a walk: parts that it left out, with the reasons.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use crate::workspace::path::{MAX_PATH_DEPTH, escape_unprintable};
use crate::workspace::{ReadError, Workspace};

/// The maximum number of unread ignore files that are reported for one walk.
const MAX_REPORTED_IGNORE_FILES: usize = 3;

/// The gaps of a walk, collected during it. Shared by its threads.
#[derive(Debug, Default)]
pub(crate) struct WalkGaps {
    too_deep: AtomicBool,
    /// Ignore files that were not read, by name, with the reason.
    unread_ignore_files: Mutex<BTreeMap<String, String>>,
}

impl WalkGaps {
    /// Records a folder that was left out because it is too deep.
    pub(super) fn record_too_deep(&self) {
        self.too_deep.store(true, Ordering::Relaxed);
    }

    /// Records that the ignore file at the absolute `file` was not applied.
    pub(super) fn record_unread(&self, workspace: &Workspace, file: &Path, error: &ReadError) {
        let shown = file.strip_prefix(workspace.root()).unwrap_or(file);
        let shown = escape_unprintable(shown.as_os_str());
        workspace
            .log_once(&shown, || tracing::warn!("the ignore file {shown} is not read: {}", error.reason()));
        self.unread_ignore_files.lock().insert(shown, error.reason());
    }

    /// Returns true if something was not searched.
    pub(crate) fn is_cut(&self) -> bool {
        self.too_deep.load(Ordering::Relaxed)
    }

    /// Returns the gaps in sentences; empty if nothing was left out.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.is_cut() {
            notes.push(format!("folders at a depth of {MAX_PATH_DEPTH} were not searched"));
        }
        let unread = self.unread_ignore_files.lock();
        notes.extend(unread.iter().take(MAX_REPORTED_IGNORE_FILES).map(|(file, reason)| {
            format!("`{file}` was not read, so files that it ignores are included: {reason}")
        }));
        if unread.len() > MAX_REPORTED_IGNORE_FILES {
            notes.push(format!(
                "{} other ignore files were not read either",
                unread.len() - MAX_REPORTED_IGNORE_FILES
            ));
        }
        notes
    }
}
