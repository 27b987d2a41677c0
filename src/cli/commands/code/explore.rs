//! The command `explore`.

use crate::analysis::error::ToolError;
use crate::cli::args::ExploreCommandArgs;
use crate::cli::commands::{CliContext, Reply, answer_reply, parse_place};
use crate::cli::render::explore::render;

/// Shows a symbol with its context.
pub(crate) async fn run(arguments: &ExploreCommandArgs, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let target = parse_place(&arguments.at.address, cli.cwd)?;
    let only = Some(arguments.only.clone()).filter(|only| !only.is_empty());
    let answer = cli.runtime.explore(target, Some(arguments.budget), only).await?;
    answer_reply(cli, answer, |output| render(output, &cli.console.out), "nothing to explore here")
}
