//! `doctor`

use super::{Door, Reply, told};
use crate::cli::exit::Status;
use crate::cli::render::doctor::render;
use crate::tools::error::ToolError;

/// What keeps answers from being good.
pub(super) async fn run(door: Door<'_>) -> Result<Reply, ToolError> {
    let output = door.runtime.doctor().await;
    let status = if output.well { Status::Answered } else { Status::Unpleasant };
    told(door, &output, status, |output| render(output, &door.console.out))
}
