//! Limits on paths for a running call, for paths that are unknown before it runs.

use std::fmt::Debug;
use std::sync::Arc;

use crate::workspace::WorkspacePath;

/// Decides on paths while a call runs.
pub(crate) trait PathRules: Debug + Send + Sync {
    /// Returns true if some paths may be hidden from the call.
    fn may_hide(&self) -> bool;

    /// Returns true if `path` is hidden from the call.
    fn is_hidden(&self, path: &WorkspacePath) -> bool;

    /// The reason that the call may not change `paths`, in one sentence; `None` if it may.
    fn denial_reason(&self, paths: Vec<WorkspacePath>) -> Option<String>;

    /// Like [`Self::denial_reason`] for files below a folder that was already approved: only rules
    /// are checked.
    fn forbids_by_rule(&self, paths: Vec<WorkspacePath>) -> Option<String>;
}

/// The rules about paths that hold for one call; by default none.
#[derive(Debug, Clone, Default)]
pub(crate) struct PathLimits(Option<Arc<dyn PathRules>>);

impl PathLimits {
    /// Limits by `rules`.
    pub(crate) fn new(rules: Arc<dyn PathRules>) -> Self {
        Self(Some(rules))
    }

    /// Returns true if the call may access every path.
    pub(crate) fn is_none(&self) -> bool {
        self.0.is_none()
    }

    /// Like [`PathRules::may_hide`].
    pub(crate) fn may_hide(&self) -> bool {
        self.0.as_ref().is_some_and(|rules| rules.may_hide())
    }

    /// Like [`PathRules::is_hidden`].
    pub(crate) fn is_hidden(&self, path: &WorkspacePath) -> bool {
        self.0.as_ref().is_some_and(|rules| rules.is_hidden(path))
    }

    /// Like [`PathRules::denial_reason`].
    pub(crate) fn denial_reason(&self, paths: Vec<WorkspacePath>) -> Option<String> {
        self.0.as_ref()?.denial_reason(paths)
    }

    /// Like [`PathRules::forbids_by_rule`].
    pub(crate) fn forbids_by_rule(&self, paths: Vec<WorkspacePath>) -> Option<String> {
        self.0.as_ref()?.forbids_by_rule(paths)
    }
}
