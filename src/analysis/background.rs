//! Work that blocks, off the threads that talk to servers; readings of the whole tree, kept until
//! it changes.

use super::context::Context;
use super::error::{ToolError, join_error};
use crate::workspace::Workspace;

impl Context {
    /// Runs `work` on the workspace on a blocking thread. Dropping the future does not end it, so
    /// `work` should check a [`WorkDeadline`](crate::workspace::WorkDeadline).
    ///
    /// # Errors
    /// Only if `work` panics.
    pub(crate) async fn run_in_background<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Workspace) -> T + Send + 'static,
    ) -> Result<T, ToolError> {
        let workspace = self.workspace.clone();
        tokio::task::spawn_blocking(move || work(&workspace))
            .await
            .map_err(|error| join_error("the work was not finished", error))
    }

    /// The revision of the tree on disk; `None` if it is not watched, or the caller sees another
    /// tree.
    pub(crate) fn tree_revision(&self) -> Option<u64> {
        let sees_disk = self.view.is_disk() && !self.limits.may_hide();
        sees_disk.then(|| self.manager.tree_revision()).flatten()
    }

    /// Returns the result of `work` on the whole tree, or the kept result for `key` if no file has
    /// changed since. `work` also returns the number of items of a result that may be kept.
    pub(super) fn while_tree_is_unchanged<T: Clone + Send + Sync + 'static, E>(
        &self,
        key: String,
        work: impl FnOnce() -> Result<(T, Option<usize>), E>,
    ) -> Result<T, E> {
        let revision = self.tree_revision();
        if let Some(known) = self.manager.kept_result(revision, &key) {
            return Ok(known);
        }
        let (found, items) = work()?;
        self.manager.keep_result(revision, key, &found, items);
        Ok(found)
    }
}
