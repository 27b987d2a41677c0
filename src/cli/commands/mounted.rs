//! `lsp-tools mcp list|show|call|doctor`: the MCP servers mounted in ours.

use super::{Door, Reply};
use crate::cli::args::doors::Mounted;
use crate::tools::error::{ErrorCode, ToolError};

/// Answers `mcp list` and its kin.
pub async fn run(_mounted: Mounted, _door: Door<'_>) -> Result<Reply, ToolError> {
    Err(ToolError::new(ErrorCode::Unsupported, "not built yet"))
}
