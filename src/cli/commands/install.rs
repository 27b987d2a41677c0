//! The command `install`.

use super::{CliContext, Reply, output_reply};
use crate::cli::args::InstallCommandArgs;
use crate::cli::exit::CliExitStatus;
use crate::cli::render::install::render;
use crate::tools::error::ToolError;
use crate::tools::install_outcome::{InstallOutput, InstallState};

/// Installs servers.
pub(super) async fn run(arguments: InstallCommandArgs, door: CliContext<'_>) -> Result<Reply, ToolError> {
    let output = door.runtime.install(arguments.names).await?;
    output_reply(door, &output, status(&output), |output| render(output, &door.console.out))
}

fn status(output: &InstallOutput) -> CliExitStatus {
    let has = |state| output.items.iter().any(|item| item.state == state);
    if has(InstallState::Failed) {
        CliExitStatus::Failed
    } else if has(InstallState::Manual) {
        CliExitStatus::Unpleasant
    } else {
        CliExitStatus::Answered
    }
}
