//! The command `signature`.

use super::{CliContext, Reply, answer_reply, place_in_file};
use crate::cli::args::AddressArgs;
use crate::cli::render::signature::render;
use crate::tools::error::ToolError;

/// Shows the signatures of the call around a position.
pub(super) async fn run(arguments: &AddressArgs, door: CliContext<'_>) -> Result<Reply, ToolError> {
    let answer = door.runtime.signature(place_in_file(&arguments.address, door.cwd)?).await?;
    answer_reply(door, answer, |output| render(output, &door.console.out), "no call around that position")
}
