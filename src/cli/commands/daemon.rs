//! `lsp-tools daemon`: what runs, stopping it, its log.

use super::{Door, Reply};
use crate::cli::args::doors::Daemon;
use crate::tools::error::{ErrorCode, ToolError};

/// Answers `daemon`.
pub async fn run(_daemon: Daemon, _door: Door<'_>) -> Result<Reply, ToolError> {
    Err(ToolError::new(ErrorCode::Unsupported, "not built yet"))
}
