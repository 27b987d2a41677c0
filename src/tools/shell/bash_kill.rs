//! `bash_kill`: ends a background command with all its descendants.

use schemars::JsonSchema;
use serde::Deserialize;

use super::bash_output::RunReport;
use crate::analysis::error::ToolError;
use crate::tools::api::tool::{Call, Card, Tool};

/// The arguments of `bash_kill`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub(crate) struct BashKillArgs {
    /// From `bash`.
    pub id: String,
}

/// The `bash_kill` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BashKill;

impl Tool for BashKill {
    type Args = BashKillArgs;
    type Output = RunReport;

    /// Ending the caller's own command needs no approval, unlike starting it; the effect reflects
    /// that.
    fn card(&self) -> Card {
        let description = "Ends a background command of `bash` and all it started; gives its last output.";
        Card::reading("bash_kill", "End a background command", description).beyond_core()
    }

    async fn run(&self, call: Call<'_>, args: BashKillArgs) -> Result<RunReport, ToolError> {
        let run = call.state.shells.get(&call.caller.session, &args.id)?;
        run.kill().await;
        Ok(RunReport::from_run(args.id, &run))
    }
}
