//! Work that blocks, off the threads that talk to servers.

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
}
