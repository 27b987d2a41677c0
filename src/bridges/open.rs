//! Opening a runtime with the MCP servers that its settings mount.

use crate::analysis::error::ToolError;
use crate::bridges::mcp::client;
use crate::config::Folders;
use crate::runtime::{Runtime, RuntimeOptions};

/// Opens a runtime with all mounts of its settings, as every door does. Starts no server.
///
/// # Errors
/// Those of [`Runtime::open`].
pub(crate) fn open(options: RuntimeOptions) -> Result<Runtime, ToolError> {
    Ok(with_mounts(Runtime::open(options)?))
}

/// Like [`open`], with other folders for the user's settings, data and caches.
///
/// # Errors
/// Those of [`Runtime::open_with`].
pub fn open_with(options: RuntimeOptions, folders: Folders) -> Result<Runtime, ToolError> {
    Ok(with_mounts(Runtime::open_with(options, folders)?))
}

/// Adds all mounts of its settings to `runtime`.
pub(crate) fn with_mounts(mut runtime: Runtime) -> Runtime {
    client::mount(&mut runtime);
    runtime
}
