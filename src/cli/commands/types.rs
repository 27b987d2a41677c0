//! `types`

use super::{Door, Reply, place, tree};
use crate::cli::args::Types;
use crate::lsp::hierarchy::Hierarchy;
use crate::tools::error::ToolError;

/// What something is derived from, or what is derived from it.
pub async fn run(arguments: &Types, door: Door<'_>) -> Result<Reply, ToolError> {
    let direction = if arguments.subtypes { Hierarchy::Subtypes } else { Hierarchy::Supertypes };
    let target = place(&arguments.at.address, door.cwd)?;
    let answer = door.runtime.types(target, direction, arguments.depth).await?;
    tree(door, answer, "no type stands there")
}
