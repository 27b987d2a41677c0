//! `hover`

use super::{Door, Reply, answered, place};
use crate::cli::args::At;
use crate::cli::render::hover::render;
use crate::tools::error::ToolError;

/// What something is.
pub(super) async fn run(arguments: &At, door: Door<'_>) -> Result<Reply, ToolError> {
    let answer = door.runtime.hover(place(&arguments.address, door.cwd)?).await?;
    answered(door, answer, |output| render(output, &door.console.out), "no hover information here")
}
