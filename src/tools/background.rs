//! Work that blocks, off the threads that talk to servers.

use super::context::Context;
use super::error::{ToolError, join_error};
use crate::workspace::Workspace;

impl Context {
    /// What `work` makes of the workspace, on a thread of its own. It is not ended when the future is dropped: let it look
    /// at a [`WorkDeadline`](crate::workspace::WorkDeadline).
    ///
    /// # Errors
    /// Only where `work` panics.
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
