//! The command `completion`, which lists completions at a position.

use super::{CliContext, Reply, answer_reply, place_in_file};
use crate::cli::args::{CliOutputFormat, CompletionCommandArgs};
use crate::cli::render::completion::render;
use crate::tools::error::ToolError;

const NOTHING: &str = "nothing could be typed there";

/// What could be typed at a place.
pub(super) async fn run(arguments: &CompletionCommandArgs, door: CliContext<'_>) -> Result<Reply, ToolError> {
    let target = place_in_file(&arguments.at.address, door.cwd)?;
    let answer = door.runtime.completion(target, arguments.limit).await?;
    let Some(more) = answer.output.count.checked_sub(answer.output.items.len()).filter(|more| *more > 0)
    else {
        return answer_reply(door, answer, |output| render(output, &door.console.out), NOTHING);
    };
    let mut reply = answer_reply(door, answer, |output| render(output, &door.console.out), NOTHING)?;
    if door.format != CliOutputFormat::Json && !door.console.out.terminal {
        reply.lines.push(format!("{more} more: --limit"));
    }
    Ok(reply)
}
