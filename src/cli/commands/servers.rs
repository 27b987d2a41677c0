//! The command `servers`.

use super::{CliContext, Reply, output_reply};
use crate::cli::exit::CliExitStatus;
use crate::cli::render::servers::render;
use crate::tools::error::ToolError;

/// Every language of the workspace and its servers.
pub(super) async fn run(door: CliContext<'_>) -> Result<Reply, ToolError> {
    let output = door.runtime.servers().await;
    output_reply(door, &output, CliExitStatus::Answered, |output| render(output, &door.console.out))
}
