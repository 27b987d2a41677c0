//! `lsp-tools lsp`.

use super::Start;
use crate::cli::args::doors::Lsp;
use crate::cli::exit::Status;
use crate::tools::error::{ErrorCode, ToolError};

/// Serves an editor until it goes away.
pub async fn serve(_lsp: Lsp, _start: Start<'_>) -> Result<Status, ToolError> {
    Err(ToolError::new(ErrorCode::Unsupported, "not built yet"))
}
