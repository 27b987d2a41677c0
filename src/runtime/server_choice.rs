//! The choice of servers by the installed programs, with stamps that detect outdated choices.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::{Config, Folders, TrustStore};
use crate::lsp::servers::locate::ProgramSearchPlaces;
use crate::lsp::servers::server_choice::{ChosenServers, ServerChoice};
use crate::process::ProgramPath;
use crate::workspace::{FileStamp, Workspace, WorkspacePath};

/// A choice of servers, with the stamps of all paths that it depends on.
#[derive(Debug)]
pub(super) struct StampedServerChoice {
    servers: ChosenServers,
    watched: BTreeSet<PathBuf>,
    stamps: Vec<Option<FileStamp>>,
}

impl StampedServerChoice {
    /// Chooses servers by the programs that are installed and configured now.
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
        // Taken before the detection: changes made meanwhile cause another detection.
        let stamps = watched.iter().map(|file| FileStamp::from_path(file)).collect();
        Self {
            servers: ServerChoice::new(&config.catalogue, places, trusted).chosen_servers(),
            watched,
            stamps,
        }
    }

    /// Applies the choice to the catalogue.
    pub(super) fn apply(&self, config: &mut Config) {
        self.servers.apply(Arc::make_mut(&mut config.catalogue));
    }

    /// Returns true if no path that the choice depends on has changed. Does not search for servers.
    pub(super) fn is_current(&self) -> bool {
        self.stamps.iter().cloned().eq(self.watched.iter().map(|file| FileStamp::from_path(file)))
    }

    /// Returns true if `other` chooses the same servers.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.servers == other.servers
    }
}
