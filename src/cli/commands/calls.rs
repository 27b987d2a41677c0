//! The command `calls`.

use super::{CliContext, Reply, hierarchy_reply, parse_place};
use crate::cli::args::CallsCommandArgs;
use crate::tools::error::ToolError;
use crate::tools::lsp_hierarchy::CallDirection;

/// Lists the callers or callees of a symbol.
pub(super) async fn run(arguments: &CallsCommandArgs, door: CliContext<'_>) -> Result<Reply, ToolError> {
    let direction = if arguments.outgoing { CallDirection::Outgoing } else { CallDirection::Incoming };
    let target = parse_place(&arguments.at.address, door.cwd)?;
    let answer = door.runtime.calls(target, direction, arguments.depth).await?;
    hierarchy_reply(door, answer, "no function there")
}
