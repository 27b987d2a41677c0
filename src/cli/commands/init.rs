//! `lsp-tools init HOST`: the configuration with which a host starts us.

use super::{Door, Reply};
use crate::cli::args::doors::Init;
use crate::tools::error::{ErrorCode, ToolError};

/// Answers `init`.
pub async fn run(_init: Init, _door: Door<'_>) -> Result<Reply, ToolError> {
    Err(ToolError::new(ErrorCode::Unsupported, "not built yet"))
}
