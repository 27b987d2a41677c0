//! The doors for programs: MCP hosts, editors, Copilot, and clients of the daemon.
//!
//! A bridge translates between a protocol and the runtime; it holds no tool logic and prints nothing.
//!
//! - [`mcp`]: the MCP server, and the client that mounts other MCP servers
//! - [`copilot`]: the Copilot language server and command line, with our tools
//! - [`daemon`]: one runtime per workspace and environment, shared through a socket
//! - [`editor`]: an LSP server for editors, over all servers of a file
//! - [`init`]: the configuration of hosts that start us
//!
//! May use everything below: `runtime`, `tools`, `policy`, `config`, `workspace`, `text`; only [`editor`] names LSP crates here,
//! only [`mcp`] names rmcp. Uses nothing of `cli`: what the daemon runs for the command line is handed in.

pub(crate) mod copilot;
pub(crate) mod daemon;
pub(crate) mod editor;
pub(crate) mod init;
pub(crate) mod mcp;

use crate::config::Folders;
use crate::runtime::{Runtime, RuntimeOptions};
use crate::tools::error::ToolError;

/// Opens a runtime with all that settings mount in it: what every door opens. No server is started yet.
///
/// # Errors
/// Those of [`Runtime::open`].
pub(crate) fn open(options: RuntimeOptions) -> Result<Runtime, ToolError> {
    Ok(mounted(Runtime::open(options)?))
}

/// As [`open`], with the user's folders elsewhere.
///
/// # Errors
/// Those of [`Runtime::open_with`].
pub fn open_with(options: RuntimeOptions, folders: Folders) -> Result<Runtime, ToolError> {
    Ok(mounted(Runtime::open_with(options, folders)?))
}

fn mounted(mut runtime: Runtime) -> Runtime {
    mcp::client::mount(&mut runtime);
    runtime
}
