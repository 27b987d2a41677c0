//! The cache of findings in the files on disk.

use std::collections::HashMap;

use super::findings::ServerFileDiagnostics;
use crate::workspace::{FileStamp, WorkspacePath};

/// Findings in a file with the state that they are about.
#[derive(Debug, Clone)]
pub(super) struct CachedFindings {
    /// The stamp of the file.
    pub(super) stamp: FileStamp,
    /// The number of refreshes that the server had requested before.
    pub(super) refreshes: u64,
    /// The number of changes of files that may be settings before.
    pub(super) settings_changes: u64,
    /// True if an edit since may have reached the file indirectly.
    pub(super) is_assumed: bool,
    pub(super) fresh: ServerFileDiagnostics,
}

/// The findings in files as they are on disk. They hold until something on the disk changes,
/// regardless of unsaved texts shown to the server in between.
#[derive(Debug, Default)]
pub(crate) struct DiagnosticsCache {
    /// The state of the disk that they are about.
    of: u64,
    found: FoundByPath,
    /// The previous state, with its findings.
    earlier: (u64, FoundByPath),
    /// The files whose change led to the last recorded state.
    changed: (u64, Vec<WorkspacePath>),
    /// The number of changes of other files that may be settings.
    settings_changes: u64,
}

type FoundByPath = HashMap<WorkspacePath, CachedFindings>;

impl DiagnosticsCache {
    /// Returns the findings in `path`, if they are about the state `disk`.
    pub(super) fn get(&self, path: &WorkspacePath, disk: u64) -> Option<&CachedFindings> {
        self.found.get(path).filter(|_| self.of == disk)
    }

    /// Stores findings about the state `disk`; those about another are dropped.
    pub(super) fn insert(&mut self, path: WorkspacePath, found: CachedFindings, disk: u64) {
        self.advance(disk);
        self.found.insert(path, found);
    }

    fn advance(&mut self, disk: u64) {
        if self.of != disk {
            self.earlier = (self.of, std::mem::take(&mut self.found));
            self.of = disk;
        }
    }

    /// Records that a change of the files in `changed` led to the state `disk`.
    pub(crate) fn note_change(&mut self, disk: u64, changed: Vec<WorkspacePath>) {
        self.changed = (disk, changed);
    }

    /// Counts a change of files that may be settings.
    pub(crate) fn note_settings_change(&mut self) {
        self.settings_changes += 1;
    }

    /// The number of changes of files that may be settings.
    pub(super) fn settings_changes(&self) -> u64 {
        self.settings_changes
    }

    /// Carries the findings about the state before an edit over to the state `disk` after it. The
    /// edit is the only change between the two, and does not concern the files whose findings
    /// `stay` selects; `is_sure`: not even indirectly.
    pub(crate) fn carry_over(
        &mut self,
        disk: u64,
        is_edited: impl Fn(&WorkspacePath) -> bool,
        stay: impl Fn(&WorkspacePath) -> bool,
        is_sure: bool,
    ) {
        let (noted, changed) = &self.changed;
        if *noted != disk || !changed.iter().all(is_edited) {
            return;
        }
        self.advance(disk);
        let (of, found) = std::mem::take(&mut self.earlier);
        if of + 1 == disk {
            for (path, mut known) in found.into_iter().filter(|(path, _)| stay(path)) {
                known.is_assumed |= !is_sure;
                self.found.entry(path).or_insert(known);
            }
        }
    }

    /// Returns all findings, if they are about the state `disk`.
    pub(super) fn iter(&self, disk: u64) -> impl Iterator<Item = (&WorkspacePath, &ServerFileDiagnostics)> {
        let current = self.found.iter().filter(move |_| self.of == disk);
        current.map(|(path, found)| (path, &found.fresh))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lsp::diagnostics::findings::{BackgroundFindings, DiagnosticsCompleteness};
    use crate::text::Buffer;

    fn path(name: &str) -> WorkspacePath {
        WorkspacePath::root().join(name).unwrap()
    }

    fn found(stamp: FileStamp) -> CachedFindings {
        let fresh = ServerFileDiagnostics {
            items: Vec::new(),
            known: DiagnosticsCompleteness::Complete,
            text: Buffer::new(""),
            notes: Vec::new(),
            background: BackgroundFindings::None,
        };
        CachedFindings { stamp, refreshes: 0, settings_changes: 0, is_assumed: false, fresh }
    }

    #[test]
    fn findings_are_carried_over_an_edit_of_other_files_alone() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = crate::workspace::Workspace::open(folder.path()).unwrap();
        std::fs::write(folder.path().join("a"), "").unwrap();
        let stamp = workspace.stamp(&path("a")).unwrap();
        let kept_after = |changed: &[&str]| {
            let mut cache = DiagnosticsCache::default();
            ["edited", "user", "other"].iter().for_each(|name| cache.insert(path(name), found(stamp), 1));
            cache.note_change(2, changed.iter().map(|name| path(name)).collect());
            cache.insert(path("edited"), found(stamp), 2);
            cache.carry_over(2, |one| *one == path("edited"), |one| *one != path("user"), false);
            ["edited", "user", "other"].map(|name| cache.get(&path(name), 2).is_some())
        };
        assert_eq!(kept_after(&["edited"]), [true, false, true]);
        assert_eq!(kept_after(&["edited", "elsewhere"]), [true, false, false]);
    }
}
