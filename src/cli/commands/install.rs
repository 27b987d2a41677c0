//! `install`

use super::{Door, Reply, told};
use crate::cli::args::Install;
use crate::cli::exit::Status;
use crate::cli::render::install::render;
use crate::tools::error::ToolError;
use crate::tools::install::{InstallOutput, InstallState};

/// Installs servers.
pub(super) async fn run(arguments: Install, door: Door<'_>) -> Result<Reply, ToolError> {
    let output = door.runtime.install(arguments.names).await?;
    told(door, &output, status(&output), |output| render(output, &door.console.out))
}

fn status(output: &InstallOutput) -> Status {
    let has = |state| output.items.iter().any(|item| item.state == state);
    if has(InstallState::Failed) {
        Status::Failed
    } else if has(InstallState::Manual) {
        Status::Unpleasant
    } else {
        Status::Answered
    }
}
