//! Access of tools to small files in the user's state folder, off the async threads and with tools'
//! errors.

use super::error::{ErrorCode, ToolError};
use crate::config::StateError;

/// Runs `work` on a blocking thread, because it may wait for a lock or the disk. It runs to its end
/// even if its caller is dropped.
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => {
            tracing::error!("access to the program's own files failed: {error}");
            Err(ToolError::new(
                ErrorCode::Internal,
                "the operation failed because of an internal error; details are in the log",
            ))
        }
    }
}

/// The tool error for a state file that cannot be accessed.
pub(crate) fn from_state_error(error: StateError) -> ToolError {
    let code = match &error {
        StateError::Open { .. } => ErrorCode::Denied,
        StateError::Busy { .. } => ErrorCode::Conflict,
        StateError::TooLarge { .. } => ErrorCode::TooLarge,
        StateError::Io { .. } => ErrorCode::Internal,
    };
    ToolError::new(code, error.to_string())
}
