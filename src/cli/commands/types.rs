//! The command `types`.

use super::{CliContext, Reply, hierarchy_reply, parse_place};
use crate::cli::args::TypesCommandArgs;
use crate::tools::error::ToolError;
use crate::tools::lsp_hierarchy::TypeDirection;

/// Lists the supertypes or subtypes of a symbol.
pub(super) async fn run(arguments: &TypesCommandArgs, door: CliContext<'_>) -> Result<Reply, ToolError> {
    let direction = if arguments.subtypes { TypeDirection::Subtypes } else { TypeDirection::Supertypes };
    let target = parse_place(&arguments.at.address, door.cwd)?;
    let answer = door.runtime.types(target, direction, arguments.depth).await?;
    hierarchy_reply(door, answer, "no type there")
}
