//! The choice of servers by what is installed, with stamps that show when it may be outdated.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::configuration_stamps::{InodeStamp, stamp};
use crate::config::{Config, Folders, TrustStore};
use crate::lsp::locate::ProgramSearchPlaces;
use crate::lsp::server_choice::ServerChoice;
use crate::process::ProgramPath;
use crate::workspace::{Workspace, WorkspacePath};

/// The choice as it was made, and what the file system said then of all that it depends on.
#[derive(Debug)]
pub(super) struct StampedServerChoice {
    servers: BTreeMap<String, Vec<String>>,
    watched: BTreeSet<PathBuf>,
    stamps: Vec<Option<InodeStamp>>,
}

impl StampedServerChoice {
    /// Looks at what is installed and configured now.
    pub(super) fn detect(
        config: &Config,
        workspace: &Workspace,
        folders: &Folders,
        trust: &TrustStore,
    ) -> Self {
        let trusted = config.trust.is_trusted();
        let pin = |program: &Path| {
            let pin = trusted.then(|| trust.pin(workspace.root(), program));
            pin?.ok()?.ok()
        };
        let root = WorkspacePath::root();
        let path = ProgramPath::of_user(workspace);
        let places = ProgramSearchPlaces::new(workspace, &root, &folders.data, &pin, path);
        let watched = ServerChoice::watched_paths(&config.catalogue, &places);
        // Before the look: what changes meanwhile is looked at once more.
        let stamps = watched.iter().map(stamp).collect();
        Self {
            servers: ServerChoice::new(&config.catalogue, places, trusted).chosen_servers(),
            watched,
            stamps,
        }
    }

    /// Makes the catalogue run these servers.
    pub(super) fn apply(&self, config: &mut Config) {
        let catalogue = Arc::make_mut(&mut config.catalogue);
        for (language, servers) in &self.servers {
            if let Some(language) = catalogue.languages.get_mut(language) {
                language.chosen = Some(servers.clone());
            }
        }
    }

    /// Whether nothing that it depends on has changed, which is told without looking for servers.
    pub(super) fn is_current(&self) -> bool {
        self.stamps.iter().cloned().eq(self.watched.iter().map(stamp))
    }

    /// Whether `other` chooses the same servers.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.servers == other.servers
    }
}
