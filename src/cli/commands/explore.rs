//! The command `explore`.

use super::{CliContext, Reply, answer_reply, parse_place};
use crate::cli::args::ExploreCommandArgs;
use crate::cli::render::explore::render;
use crate::tools::error::ToolError;

/// Shows a symbol with its context.
pub(super) async fn run(arguments: &ExploreCommandArgs, door: CliContext<'_>) -> Result<Reply, ToolError> {
    let target = parse_place(&arguments.at.address, door.cwd)?;
    let only = Some(arguments.only.clone()).filter(|only| !only.is_empty());
    let answer = door.runtime.explore(target, Some(arguments.budget), only).await?;
    answer_reply(door, answer, |output| render(output, &door.console.out), "nothing to explore here")
}
