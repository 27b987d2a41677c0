//! `bash_output`: new output of a command in the background.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::bash::{Written, milliseconds};
use super::run::{CommandEndCause, CommandRun};
use crate::analysis::error::ToolError;
use crate::tools::api::tool::{Call, Card, Tool};

/// The longest wait of a call for output, in milliseconds.
const MAX_OUTPUT_WAIT_MS: u64 = 60_000;

/// The arguments of `bash_output`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub(crate) struct BashOutputArgs {
    /// From `bash`.
    pub id: String,
    /// Milliseconds to wait for output or the end (0).
    #[schemars(range(max = MAX_OUTPUT_WAIT_MS))]
    pub wait_ms: Option<u64>,
}

/// The state of a background command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BashRunState {
    /// Running.
    Running,
    /// Ended by itself.
    Exited,
    /// Ended by the timeout.
    TimedOut,
    /// Killed.
    Killed,
}

/// The report on a background command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct RunReport {
    /// Its id.
    pub id: String,
    /// The state.
    pub state: BashRunState,
    /// Exit status, once ended; 128 + n after signal n, 124 after a timeout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The output since the last request.
    #[serde(flatten)]
    pub written: Written,
    /// The run time so far, in milliseconds.
    pub duration_ms: u64,
}

impl RunReport {
    /// The present state of `run` and its new output, which is consumed.
    pub(crate) fn from_run(id: String, run: &CommandRun) -> Self {
        let ended = run.end();
        let state = match ended.map(|ended| ended.how) {
            None => BashRunState::Running,
            Some(CommandEndCause::Exited) => BashRunState::Exited,
            Some(CommandEndCause::TimedOut) => BashRunState::TimedOut,
            Some(CommandEndCause::Killed) => BashRunState::Killed,
        };
        Self {
            id,
            state,
            exit_code: ended.map(|ended| ended.exit_code),
            written: run.take_output().into(),
            duration_ms: milliseconds(run.elapsed()),
        }
    }
}

/// The `bash_output` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BashOutputTool;

impl Tool for BashOutputTool {
    type Args = BashOutputArgs;
    type Output = RunReport;

    fn card(&self) -> Card {
        let description = "State of a background command of `bash`, and its output since the last call.";
        let mut card = Card::reading("bash_output", "Output of a background command", description);
        // Each part of the output is returned only once.
        card.idempotent = false;
        card.beyond_core()
    }

    async fn run(&self, call: Call<'_>, args: BashOutputArgs) -> Result<RunReport, ToolError> {
        let run = call.state.shells.get(&call.caller.session, &args.id)?;
        run.wait_for_output(Instant::now() + Duration::from_millis(args.wait_ms.unwrap_or(0))).await;
        Ok(RunReport::from_run(args.id, &run))
    }
}
