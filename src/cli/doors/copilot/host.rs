//! `copilot host`.

use crate::cli::args::copilot::CopilotHost;
use crate::cli::doors::Start;
use crate::cli::reply::Reply;
use crate::tools::error::{ErrorCode, ToolError};

/// `copilot host`
pub async fn run(_arguments: CopilotHost, _start: Start<'_>) -> Result<Reply, ToolError> {
    Err(ToolError::new(ErrorCode::Internal, "not there yet"))
}
