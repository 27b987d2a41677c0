//! `servers`

use super::{Door, Reply, told};
use crate::cli::exit::Status;
use crate::cli::render::servers::render;
use crate::tools::error::ToolError;

/// Every language of the workspace and its servers.
pub(super) async fn run(door: Door<'_>) -> Result<Reply, ToolError> {
    let output = door.runtime.servers().await;
    told(door, &output, Status::Answered, |output| render(output, &door.console.out))
}
