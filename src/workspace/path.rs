//! Paths inside the workspace.

use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A path relative to the workspace's root: normalised, without `..`, never absolute; empty for the root itself.
///
/// It says where a file would be, not that it exists; whether symlinks on the way lead out is decided by the kernel
/// when the file is opened.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkspacePath(Arc<Path>);

impl WorkspacePath {
    pub(super) fn new(relative: PathBuf) -> Self {
        Self(Arc::from(relative))
    }

    /// The relative path.
    pub fn as_path(&self) -> &Path {
        &self.0
    }
}
