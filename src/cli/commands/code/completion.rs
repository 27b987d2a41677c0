//! The command `completion`, which lists completions at a position.

use crate::analysis::error::ToolError;
use crate::cli::args::{CliOutputFormat, CompletionCommandArgs};
use crate::cli::commands::{CliContext, Reply, answer_reply, place_in_file};
use crate::cli::render::completion::render;

const NOTHING: &str = "no completions there";

/// Lists the completions at a position.
pub(crate) async fn run(arguments: &CompletionCommandArgs, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let target = place_in_file(&arguments.at.address, cli.cwd)?;
    let answer = cli.runtime.completion(target, arguments.limit).await?;
    let (listed, all) = (answer.output.items.len(), answer.output.count);
    let mut reply = answer_reply(cli, answer, |output| render(output, &cli.console.out), NOTHING)?;
    if listed < all && cli.format != CliOutputFormat::Json && !cli.console.out.terminal {
        reply.lines.push(format!("{listed} of {all} completions shown; --limit shows more"));
    }
    Ok(reply)
}
