//! The command `calls`.

use crate::analysis::error::ToolError;
use crate::cli::args::CallsCommandArgs;
use crate::cli::commands::{CliContext, Reply, hierarchy_reply, parse_place};
use crate::tools::language::lsp_hierarchy::CallDirection;

/// Lists the callers or callees of a symbol.
pub(crate) async fn run(arguments: &CallsCommandArgs, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let direction = if arguments.outgoing { CallDirection::Outgoing } else { CallDirection::Incoming };
    let target = parse_place(&arguments.at.address, cli.cwd)?;
    let answer = cli.runtime.calls(target, direction, arguments.depth).await?;
    hierarchy_reply(cli, answer, "no function there")
}
