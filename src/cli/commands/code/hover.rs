//! The command `hover`.

use crate::analysis::error::ToolError;
use crate::cli::args::AddressArgs;
use crate::cli::commands::{CliContext, Reply, answer_reply, parse_place};
use crate::cli::render::hover::render;

/// Shows the hover information of a symbol.
pub(crate) async fn run(arguments: &AddressArgs, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let answer = cli.runtime.hover(parse_place(&arguments.address, cli.cwd)?).await?;
    answer_reply(cli, answer, |output| render(output, &cli.console.out), "no hover information here")
}
