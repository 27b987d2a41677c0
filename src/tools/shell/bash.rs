//! `bash`: a command line, run to its end or in the background.
//!
//! The `ok` field of the answer is true if the command ended, whether or not it succeeded. Success
//! is in `exit_code`, which a caller must read anyway (`grep` without a match ends with 1). Only a
//! command that timed out has `ok: false`, with `exit_code` 124 and all its output until then.
//!
//! The call returns when the shell has ended. Processes that it left running are ended then,
//! including those in other process groups. Long-running commands are started with `background`.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::command_baseline::CommandBaseline;
use super::prepared_command::PreparedCommand;
use super::run::{CommandEnd, CommandEndCause, OutputForm, ShellOutput};
use crate::analysis::breakage::edit_judgement::EditJudgement;
use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::config::BashSettings;
use crate::policy::request::{CallSubjects, Effect};
use crate::process::sandbox::Enforced;
use crate::tools::api::tool::{Call, Card, Tool};
use crate::workspace::{ChangeBatch, ChangeKind};

/// The maximum number of changed files that an answer names.
const MAX_LISTED_CHANGED_FILES: usize = 200;

/// The arguments of `bash`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub(crate) struct BashArgs {
    /// For /bin/sh -lc.
    #[schemars(length(min = 1))]
    pub command: String,
    /// Timeout in milliseconds (120000).
    #[schemars(range(min = 1))]
    pub timeout_ms: Option<u64>,
    /// Keep it running; returns an `id` for `bash_output` and `bash_kill`.
    #[serde(default)]
    pub background: bool,
    /// Report new diagnostics.
    #[serde(default)]
    pub diagnostics: bool,
    /// Keep escape sequences.
    #[serde(default)]
    pub raw: bool,
}

/// The answer of `bash`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct BashOutput {
    /// False after a timeout.
    pub ok: bool,
    /// The command line.
    pub command: String,
    /// The result, or the id of the started command.
    #[serde(flatten)]
    pub outcome: BashOutcome,
    /// The mechanism that limits writes to the workspace and temporary folders.
    pub sandbox: Enforced,
    /// The reason why package managers could not write caches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_caches: Option<String>,
}

/// The result of a command.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum BashOutcome {
    /// The command ended.
    Ended(Box<EndedOutput>),
    /// The command runs in the background.
    Started {
        /// For `bash_output` and `bash_kill`.
        id: String,
    },
}

/// A command that has ended.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct EndedOutput {
    /// Exit status; 128 + n after signal n, 124 after a timeout.
    pub exit_code: i32,
    /// The output.
    #[serde(flatten)]
    pub written: Written,
    /// The run time in milliseconds.
    pub duration_ms: u64,
    /// Workspace files that changed during the run, except ignored ones.
    pub changed: Vec<BashFileChange>,
    /// True if more files changed, or changes may have been missed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub changed_truncated: bool,
    /// The diagnostics added and removed, if files changed or the caller requested them.
    #[serde(flatten)]
    pub judgement: Option<EditJudgement>,
    /// The reason why `ok` is false.
    #[serde(flatten)]
    pub failure: Option<BashFailure>,
}

/// The output of a command since the last request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Written {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// True if output was omitted.
    pub truncated: bool,
    /// The omitted bytes of raw output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<OmittedBytes>,
}

/// The number of omitted bytes of each stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct OmittedBytes {
    /// Bytes of standard output.
    pub stdout: u64,
    /// Bytes of standard error.
    pub stderr: u64,
}

/// A file that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct BashFileChange {
    /// Relative path.
    pub path: String,
    /// The change.
    pub operation: BashFileOperation,
}

/// The kind of change to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum BashFileOperation {
    /// The file is new.
    Created,
    /// The content may have changed.
    Modified,
    /// The file is gone.
    Deleted,
}

/// The fields of a failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct BashFailure {
    /// The error code: `timeout`.
    pub code: String,
    /// The error message.
    pub error: String,
    /// The suggested action.
    pub hint: String,
}

impl From<ShellOutput> for Written {
    fn from(output: ShellOutput) -> Self {
        let left_out = OmittedBytes { stdout: output.stdout.left_out, stderr: output.stderr.left_out };
        let truncated = left_out.stdout + left_out.stderr > 0;
        Self {
            stdout: output.stdout.text,
            stderr: output.stderr.text,
            truncated,
            left_out: truncated.then_some(left_out),
        }
    }
}

/// The `bash` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bash;

impl Tool for Bash {
    type Args = BashArgs;
    type Output = BashOutput;

    fn card(&self) -> Card {
        let description = "Runs a command in the workspace's root, without terminal or input; it may write only the workspace and temporary \
             folders. Answers exit status, output, changed files. Not for reading, searching or editing files.";
        Card::new("bash", "Run a command", description, Effect::Execute).destructive().with_rank(15).long()
    }

    fn subjects(&self, _context: &Context, args: &BashArgs) -> Result<CallSubjects, ToolError> {
        Ok(CallSubjects { commands: vec![args.command.clone()], ..CallSubjects::default() })
    }

    async fn run(&self, call: Call<'_>, args: BashArgs) -> Result<BashOutput, ToolError> {
        let context = call.context;
        let prepared = PreparedCommand::new(context, &args.command).await?;
        let (sandbox, no_caches) = (prepared.enforced, prepared.no_caches.clone());
        let (ok, outcome) = if args.background {
            (true, BashOutcome::Started { id: run_in_background(call, &args, prepared).await? })
        } else {
            let ended = run_to_end(&call, &args, prepared).await?;
            (ended.failure.is_none(), BashOutcome::Ended(Box::new(ended)))
        };
        Ok(BashOutput { ok, command: args.command, outcome, sandbox, no_caches })
    }
}

fn form(settings: &BashSettings, args: &BashArgs) -> OutputForm {
    OutputForm { limit: settings.output_bytes, raw: args.raw }
}

async fn run_in_background(
    call: Call<'_>,
    args: &BashArgs,
    prepared: PreparedCommand,
) -> Result<String, ToolError> {
    let (context, settings) = (call.context, &call.context.config.settings.bash);
    let limit = args.timeout_ms.map(Duration::from_millis);
    let start = call.state.shells.start(context.manager.spawner(), prepared, form(settings, args), limit);
    call.state.shells.start_background(&call.caller.session, settings.background, start).await
}

async fn run_to_end(
    call: &Call<'_>,
    args: &BashArgs,
    prepared: PreparedCommand,
) -> Result<EndedOutput, ToolError> {
    let context = call.context;
    let settings = &context.config.settings.bash;
    let wanted = args.timeout_ms.map(Duration::from_millis).or(context.timeout).unwrap_or(settings.timeout);
    let limit = wanted.min(settings.max_timeout);
    let before = match args.diagnostics {
        true => CommandBaseline::capture(context).await,
        false => CommandBaseline::remember(context).await,
    };
    let witness = context.manager.start_recording().await;
    let run = call
        .state
        .shells
        .start(context.manager.spawner(), prepared, form(settings, args), Some(limit))
        .await?;
    let ended = match context.progress.is_some() {
        true => run.wait_and_tell(|event| context.send_progress(event)).await,
        false => run.wait().await,
    };
    let Some(ended) = ended else {
        return Err(ToolError::new(ErrorCode::Cancelled, "the runtime was shut down while the command ran"));
    };
    if ended.how == CommandEndCause::Killed {
        return Err(ToolError::new(
            ErrorCode::Cancelled,
            "the command was ended: the runtime is shutting down",
        ));
    }
    let changes = context.manager.finish_recording(witness).await;
    let judgement = match args.diagnostics || !changes.changes.is_empty() {
        true => Some(before.judge(context, &changes).await),
        false => None,
    };
    Ok(EndedOutput {
        judgement,
        exit_code: ended.exit_code,
        written: run.take_output().into(),
        duration_ms: milliseconds(ended.after),
        changed: file_changes(&changes),
        changed_truncated: changes.overflowed || changes.changes.len() > MAX_LISTED_CHANGED_FILES,
        failure: failure(ended, wanted, limit),
    })
}

fn file_changes(changes: &ChangeBatch) -> Vec<BashFileChange> {
    let file = |(path, kind): &(crate::workspace::WorkspacePath, ChangeKind)| BashFileChange {
        path: path.display(),
        operation: match kind {
            ChangeKind::Created => BashFileOperation::Created,
            ChangeKind::Changed => BashFileOperation::Modified,
            ChangeKind::Deleted => BashFileOperation::Deleted,
        },
    };
    changes.changes.iter().take(MAX_LISTED_CHANGED_FILES).map(file).collect()
}

fn failure(ended: CommandEnd, wanted: Duration, limit: Duration) -> Option<BashFailure> {
    (ended.how == CommandEndCause::TimedOut).then(|| {
        let most = if limit < wanted { ", the most that `bash.max-timeout-ms` allows" } else { "" };
        let left = match ended.left {
            0 => String::new(),
            left => {
                format!("; {left} of its processes have not ended yet")
            }
        };
        BashFailure {
            code: "timeout".to_owned(),
            error: format!("the command was ended after {} ms{most}{left}", limit.as_millis()),
            hint: "give a larger timeout_ms, or run it with `background`".to_owned(),
        }
    })
}

/// A duration in milliseconds, for answers.
pub(crate) fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
