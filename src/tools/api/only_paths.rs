//! The files and folders that an argument `only` restricts an answer to.

use std::path::PathBuf;

use crate::analysis::context::Context;
use crate::analysis::error::ToolError;
use crate::workspace::WorkspacePath;

/// The paths in `only`. If it is not given, every path in and outside the workspace is included.
#[derive(Debug, Clone, Default)]
pub(crate) struct OnlyPaths(Option<Vec<WorkspacePath>>);

impl OnlyPaths {
    /// Resolves the argument as the caller gave it.
    pub(crate) fn new(context: &Context, given: Option<&[PathBuf]>) -> Result<Self, ToolError> {
        let paths = given.map(|paths| paths.iter().map(|path| context.path(path)).collect());
        paths.transpose().map(Self)
    }

    /// Like [`Self::has`], for a path in the form of answers. A path outside the workspace is below
    /// none.
    pub(crate) fn has_answered(&self, context: &Context, path: &str) -> bool {
        self.0.is_none() || context.workspace.path(path.as_ref()).is_ok_and(|path| self.has(&path))
    }

    /// Returns true if the answer is restricted.
    pub(crate) fn is_given(&self) -> bool {
        self.0.is_some()
    }

    /// The paths of the argument.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &WorkspacePath> {
        self.0.iter().flatten()
    }

    /// Returns true if `path` is one of the paths or below one.
    pub(crate) fn has(&self, path: &WorkspacePath) -> bool {
        let is_above = |above: &WorkspacePath| above.is_root() || path.as_path().starts_with(above.as_path());
        self.0.as_ref().is_none_or(|paths| paths.iter().any(is_above))
    }
}
