//! The cache of findings in files as they are on disk.

use std::collections::HashMap;

use super::findings::ServerFileDiagnostics;
use crate::workspace::{FileStamp, WorkspacePath};

/// Findings in files as they are on disk: they hold until something there is different, whatever the server was shown meanwhile.
#[derive(Debug, Default)]
pub(in crate::lsp) struct DiagnosticsCache {
    /// The state of the disk that they are about.
    of: u64,
    found: HashMap<WorkspacePath, (FileStamp, ServerFileDiagnostics)>,
}

impl DiagnosticsCache {
    /// The findings in `path`, where they are about the state `disk`, and how the file looked.
    pub(super) fn get(&self, path: &WorkspacePath, disk: u64) -> Option<&(FileStamp, ServerFileDiagnostics)> {
        self.found.get(path).filter(|_| self.of == disk)
    }

    /// Keeps findings about the state `disk`; those about another are forgotten.
    pub(super) fn insert(
        &mut self,
        path: WorkspacePath,
        stamp: FileStamp,
        fresh: ServerFileDiagnostics,
        disk: u64,
    ) {
        if self.of != disk {
            *self = Self { of: disk, found: HashMap::new() };
        }
        self.found.insert(path, (stamp, fresh));
    }

    /// All findings, where they are about the state `disk`.
    pub(super) fn iter(&self, disk: u64) -> impl Iterator<Item = (&WorkspacePath, &ServerFileDiagnostics)> {
        let current = self.found.iter().filter(move |_| self.of == disk);
        current.map(|(path, (_, fresh))| (path, fresh))
    }
}
