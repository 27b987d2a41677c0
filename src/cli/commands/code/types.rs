//! The command `types`.

use crate::analysis::error::ToolError;
use crate::cli::args::TypesCommandArgs;
use crate::cli::commands::{CliContext, Reply, hierarchy_reply, parse_place};
use crate::tools::language::lsp_hierarchy::TypeDirection;

/// Lists the supertypes or subtypes of a symbol.
pub(crate) async fn run(arguments: &TypesCommandArgs, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let direction = if arguments.subtypes { TypeDirection::Subtypes } else { TypeDirection::Supertypes };
    let target = parse_place(&arguments.at.address, cli.cwd)?;
    let answer = cli.runtime.types(target, direction, arguments.depth).await?;
    hierarchy_reply(cli, answer, "no type there")
}
