//! A runtime with the servers that settings mount in it.

use crate::bridges::mcp::client;
use crate::config::Folders;
use crate::runtime::{Runtime, RuntimeOptions};
use crate::tools::error::ToolError;

/// Opens a runtime with all that settings mount in it: what every door opens. No server is started yet.
///
/// # Errors
/// Those of [`Runtime::open`].
pub(crate) fn open(options: RuntimeOptions) -> Result<Runtime, ToolError> {
    Ok(with_mounts(Runtime::open(options)?))
}

/// As [`open`], with the user's folders elsewhere.
///
/// # Errors
/// Those of [`Runtime::open_with`].
pub fn open_with(options: RuntimeOptions, folders: Folders) -> Result<Runtime, ToolError> {
    Ok(with_mounts(Runtime::open_with(options, folders)?))
}

/// `runtime` with all that its settings mount.
pub(crate) fn with_mounts(mut runtime: Runtime) -> Runtime {
    client::mount(&mut runtime);
    runtime
}
