//! The command `signature`.

use crate::analysis::error::ToolError;
use crate::cli::args::AddressArgs;
use crate::cli::commands::{CliContext, Reply, answer_reply, place_in_file};
use crate::cli::render::signature::render;

/// Shows the signatures of the call around a position.
pub(crate) async fn run(arguments: &AddressArgs, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let answer = cli.runtime.signature(place_in_file(&arguments.address, cli.cwd)?).await?;
    answer_reply(cli, answer, |output| render(output, &cli.console.out), "no call around that position")
}
