//! The command `install`.

use super::{CliContext, Reply, output_reply};
use crate::analysis::error::ToolError;
use crate::analysis::install_outcome::{InstallOutput, InstallState};
use crate::cli::args::InstallCommandArgs;
use crate::cli::exit::CliExitStatus;
use crate::cli::render::setup::install::render;
use crate::cli::render::setup::install_list;
use crate::lsp::servers::install::PackagePlace;

/// Installs servers, or lists them.
pub(super) async fn run(arguments: InstallCommandArgs, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    if arguments.list {
        let output = cli.runtime.install_list().await;
        return output_reply(cli, &output, CliExitStatus::Answered, |output| {
            install_list::render(output, &cli.console.out)
        });
    }
    let place = match (arguments.download, arguments.from) {
        (Some(folder), _) => PackagePlace::Download(folder),
        (None, Some(folder)) => PackagePlace::From(folder),
        (None, None) => PackagePlace::Registries,
    };
    let output = cli.runtime.install_at(arguments.names, place).await?;
    output_reply(cli, &output, status(&output), |output| render(output, &cli.console.out))
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
