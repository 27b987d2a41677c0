//! The versions that roots pin, cached until the files that decide them change.

use std::collections::HashMap;

use parking_lot::Mutex;

use super::SlotKey;
use super::inspected_files::InspectedFiles;
use crate::config::spec::ServerSpec;
use crate::lsp::servers::judge;
use crate::lsp::servers::judge::PinnedVersion;
use crate::workspace::Workspace;

/// The pinned versions, by server and root.
#[derive(Debug, Default)]
pub(super) struct RootPins(Mutex<HashMap<SlotKey, KnownPin>>);

/// A pinned version and the files that decide it.
type KnownPin = (InspectedFiles, Option<PinnedVersion>);

impl RootPins {
    /// Returns the version of the judge of `server` that the root of `key` pins.
    pub(super) fn find(
        &self,
        workspace: &Workspace,
        key: &SlotKey,
        server: &ServerSpec,
    ) -> Option<PinnedVersion> {
        if let Some((files, pinned)) = self.0.lock().get_mut(key)
            && files.are_unchanged()
        {
            return pinned.clone();
        }
        let found = judge::pinned_version(workspace, &key.root, server);
        let known = (InspectedFiles::new(found.inspected_paths), found.pinned.clone());
        self.0.lock().insert(key.clone(), known);
        found.pinned
    }
}
