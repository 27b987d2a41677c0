//! The command `doctor`.

use super::{CliContext, Reply, output_reply};
use crate::cli::exit::CliExitStatus;
use crate::cli::render::doctor::render;
use crate::tools::error::ToolError;

/// What keeps answers from being good. It is no call of a tool: it looks at the machine of whoever typed it, and must answer where a rule, or
/// a hook that fails, keeps calls from running.
pub(super) async fn run(door: CliContext<'_>) -> Result<Reply, ToolError> {
    let output = door.runtime.doctor().await;
    let status = if output.well { CliExitStatus::Answered } else { CliExitStatus::Unpleasant };
    output_reply(door, &output, status, |output| render(output, &door.console.out))
}
