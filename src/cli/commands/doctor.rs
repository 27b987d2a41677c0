//! The command `doctor`.

use super::{CliContext, Reply, output_reply};
use crate::analysis::error::ToolError;
use crate::cli::exit::CliExitStatus;
use crate::cli::render::setup::doctor::render;

/// Diagnoses the setup. This is not a tool call: it examines the user's own machine, and must work
/// even if a rule or a failing hook blocks calls.
pub(super) async fn run(cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let output = cli.runtime.doctor().await;
    let status = if output.well { CliExitStatus::Answered } else { CliExitStatus::Unpleasant };
    output_reply(cli, &output, status, |output| render(output, &cli.console.out))
}
