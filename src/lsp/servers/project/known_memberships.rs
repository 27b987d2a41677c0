//! Memberships of files in a project, as a session has found them.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::check_scope::CheckScope;
use super::compile_commands::CompileCommands;
use crate::workspace::{FileStamp, WorkspacePath};

/// The membership of a file.
#[derive(Debug)]
pub(super) struct FoundMembership {
    /// The disk revision to which it belongs; `None` after a question about unsaved text.
    pub(super) revision: Option<u64>,
    /// The reason why the file is outside the project, if it is.
    pub(super) exclusion: Option<String>,
    /// True if the file is outside because it has no project at all, so only findings may differ.
    pub(super) lacks_project: bool,
}

/// A compilation database in one state.
#[derive(Debug)]
pub(super) struct KnownDatabase {
    /// The state.
    pub(super) stamp: FileStamp,
    /// Its files; `None` if it cannot be read.
    pub(super) commands: Option<Arc<CompileCommands>>,
}

/// The memberships that are known to a session.
#[derive(Debug, Default)]
pub(crate) struct ProjectMemberships {
    /// Those of files.
    pub(super) files: Mutex<HashMap<WorkspacePath, FoundMembership>>,
    /// The files that settings let the server check, by root.
    pub(super) scopes: Mutex<HashMap<WorkspacePath, Arc<CheckScope>>>,
    /// The compilation databases, by path.
    pub(super) databases: Mutex<HashMap<WorkspacePath, KnownDatabase>>,
}

impl ProjectMemberships {
    /// Clears the entries that a changed settings file may affect.
    pub(super) fn forget(&self) {
        self.files.lock().clear();
        self.scopes.lock().clear();
    }
}
