//! The command `hover`.

use super::{CliContext, Reply, answer_reply, parse_place};
use crate::cli::args::AddressArgs;
use crate::cli::render::hover::render;
use crate::tools::error::ToolError;

/// Shows the hover information of a symbol.
pub(super) async fn run(arguments: &AddressArgs, door: CliContext<'_>) -> Result<Reply, ToolError> {
    let answer = door.runtime.hover(parse_place(&arguments.address, door.cwd)?).await?;
    answer_reply(door, answer, |output| render(output, &door.console.out), "no hover information here")
}
