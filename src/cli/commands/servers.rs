//! The command `servers`.

use super::{CliContext, Reply, output_reply};
use crate::analysis::error::ToolError;
use crate::cli::exit::CliExitStatus;
use crate::cli::render::setup::servers::render;
use crate::runtime::calls::call::CallOptions;
use crate::tools::api::tool::Caller;
use crate::tools::language::lsp_servers::{LspServers, NoArgs};
use crate::tools::language::servers::ServersOutput;

/// Lists every language of the workspace and its servers.
pub(super) async fn run(cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let caller = Caller::at_shell();
    let answer = cli.runtime.call_as(LspServers, NoArgs {}, CallOptions::new(&caller)).await?;
    let mut output: ServersOutput = answer.output;
    output.notes.extend(answer.hook_notes);
    output_reply(cli, &output, CliExitStatus::Answered, |output| render(output, &cli.console.out))
}
