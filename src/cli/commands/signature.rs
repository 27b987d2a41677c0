//! The command `signature`.

use super::{CliContext, Reply, answer_reply, place_in_file};
use crate::analysis::error::ToolError;
use crate::cli::args::AddressArgs;
use crate::cli::render::signature::render;

/// Shows the signatures of the call around a position.
pub(super) async fn run(arguments: &AddressArgs, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let answer = cli.runtime.signature(place_in_file(&arguments.address, cli.cwd)?).await?;
    answer_reply(cli, answer, |output| render(output, &cli.console.out), "no call around that position")
}
