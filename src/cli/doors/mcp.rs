//! `lsp-tools mcp`.

use super::Start;
use crate::cli::args::doors::McpServe;
use crate::cli::exit::Status;
use crate::tools::error::{ErrorCode, ToolError};

/// Serves MCP until the host goes away.
pub async fn serve(_serve: McpServe, _start: Start<'_>) -> Result<Status, ToolError> {
    Err(ToolError::new(ErrorCode::Unsupported, "not built yet"))
}
