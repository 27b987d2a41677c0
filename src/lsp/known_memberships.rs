//! Memberships of files in a project, as a session has found them.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::check_scope::CheckScope;
use super::compile_commands::CompileCommands;
use crate::workspace::{FileStamp, WorkspacePath};

/// The memberships that are known to a session.
#[derive(Debug, Default)]
pub(super) struct ProjectMemberships {
    /// The reason why a file is outside, or `None`, and the disk revision to which it belongs;
    /// without one after a question about unsaved text.
    pub(super) files: Mutex<HashMap<WorkspacePath, (Option<u64>, Option<String>)>>,
    pub(super) scopes: Mutex<HashMap<WorkspacePath, Arc<CheckScope>>>,
    pub(super) databases: Mutex<HashMap<WorkspacePath, (FileStamp, Option<Arc<CompileCommands>>)>>,
}

impl ProjectMemberships {
    /// Clears what depends on files of settings.
    pub(super) fn forget_settings(&self) {
        self.scopes.lock().clear();
    }
}
