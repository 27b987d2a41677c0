//! `lsp_servers`: the languages of the workspace and their servers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::servers::{self, ServersOutput};
use crate::analysis::error::ToolError;
use crate::tools::api::tool::{Call, Card, Tool};

/// The arguments of `lsp_servers`: none.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct NoArgs {}

/// The `lsp_servers` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LspServers;

impl Tool for LspServers {
    type Args = NoArgs;
    type Output = ServersOutput;

    fn card(&self) -> Card {
        Card::reading(
            "lsp_servers",
            "Language servers",
            "Languages of the workspace, their servers, and the command that installs a missing one. For when an answer is not \
             complete; not needed before one. Example: {}.",
        )
        .with_rank(26).beyond_core()
    }

    async fn run(&self, call: Call<'_>, _args: NoArgs) -> Result<ServersOutput, ToolError> {
        Ok(servers::run(call.context).await)
    }
}
