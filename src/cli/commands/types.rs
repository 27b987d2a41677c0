//! The command `types`.

use super::{CliContext, Reply, place, tree};
use crate::cli::args::TypesCommandArgs;
use crate::tools::error::ToolError;
use crate::tools::lsp_hierarchy::TypeDirection;

/// What something is derived from, or what is derived from it.
pub(super) async fn run(arguments: &TypesCommandArgs, door: CliContext<'_>) -> Result<Reply, ToolError> {
    let direction = if arguments.subtypes { TypeDirection::Subtypes } else { TypeDirection::Supertypes };
    let target = place(&arguments.at.address, door.cwd)?;
    let answer = door.runtime.types(target, direction, arguments.depth).await?;
    tree(door, answer, "no type stands there")
}
