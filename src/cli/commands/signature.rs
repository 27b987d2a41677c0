//! `signature`

use super::{Door, Reply, answered, place_in_file};
use crate::cli::args::At;
use crate::cli::render::signature::render;
use crate::tools::error::ToolError;

/// The signatures of the call around a place.
pub(super) async fn run(arguments: &At, door: Door<'_>) -> Result<Reply, ToolError> {
    let answer = door.runtime.signature(place_in_file(&arguments.address, door.cwd)?).await?;
    answered(door, answer, |output| render(output, &door.console.out), "no call stands around that place")
}
