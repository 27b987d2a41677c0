//! What goes through the Copilot language server.

use crate::cli::args::copilot::CopilotStatus;
use crate::cli::doors::Start;
use crate::cli::reply::Reply;
use crate::tools::error::{ErrorCode, ToolError};

/// `copilot status`
pub async fn status(_arguments: CopilotStatus, _start: Start<'_>) -> Result<Reply, ToolError> {
    Err(ToolError::new(ErrorCode::Internal, "not there yet"))
}
