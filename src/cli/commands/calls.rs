//! `calls`

use super::{Door, Reply, place, tree};
use crate::cli::args::Calls;
use crate::lsp::hierarchy::Hierarchy;
use crate::tools::error::ToolError;

/// Who calls something, or what it calls.
pub async fn run(arguments: &Calls, door: Door<'_>) -> Result<Reply, ToolError> {
    let direction = if arguments.outgoing { Hierarchy::Callees } else { Hierarchy::Callers };
    let target = place(&arguments.at.address, door.cwd)?;
    let answer = door.runtime.calls(target, direction, arguments.depth).await?;
    tree(door, answer, "no function stands there")
}
