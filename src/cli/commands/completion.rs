//! `completion`

use super::{Door, Reply, answered, place_in_file};
use crate::cli::args::Completion;
use crate::cli::render::completion::render;
use crate::tools::error::ToolError;

/// What could be typed at a place.
pub async fn run(arguments: &Completion, door: Door<'_>) -> Result<Reply, ToolError> {
    let target = place_in_file(&arguments.at.address, door.cwd)?;
    let answer = door.runtime.completion(target, arguments.limit).await?;
    answered(door, answer, |output| render(output, &door.console.out), "nothing could be typed there")
}
