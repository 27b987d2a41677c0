//! `undo`: reversal of edits, newest first, and their list.

use std::time::{SystemTime, UNIX_EPOCH};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contents::may_take_folders;
use super::editing::{FileResult, changed_paths, finish_edit, run_blocking_edit};
use crate::analysis::breakage::diagnostics_baseline::{BreakageMode, EditJudge};
use crate::analysis::breakage::edit_judgement::EditJudgement;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::policy::request::Effect;
use crate::text::words::age::age;
use crate::tools::api::edit_scheduler::EditScope;
use crate::tools::api::timestamp;
use crate::tools::api::tool::{Call, Card, Tool};
use crate::workspace::edit::{EditId, EditPlan, FileOperation, HistoryEntry};

/// The arguments of `undo`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub(crate) struct UndoArgs {
    /// Id from an edit's answer (default: newest edit).
    pub id: Option<String>,
    /// Undo all edits of this group.
    pub group: Option<String>,
    /// Only list edits.
    pub list: Option<bool>,
}

/// The output of `undo`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct UndoOutput {
    /// The restored files.
    pub results: Vec<FileResult>,
    /// The id that reverts the undo itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo: Option<String>,
    /// The diagnostics added and removed by the undo; absent from a list.
    #[serde(flatten)]
    pub judgement: Option<EditJudgement>,
    /// The edits that can be undone, for `list`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<PastEdit>,
    /// True if there are more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_more: bool,
}

/// A past edit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct PastEdit {
    /// The id that `undo` takes.
    pub id: String,
    /// The tool.
    pub title: String,
    /// Its group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The time of the edit, like `2026-01-31T08:05:09Z`.
    pub time: String,
    /// The age of the edit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age: Option<String>,
    /// The changes, like `modified src/a.py`.
    pub files: Vec<String>,
    /// The edit that undid this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undone_by: Option<String>,
}

/// The maximum number of listed edits.
const MAX_LISTED_UNDO_EDITS: usize = 30;

/// The `undo` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UndoTool;

impl Tool for UndoTool {
    type Args = UndoArgs;
    type Output = UndoOutput;

    fn card(&self) -> Card {
        Card::new(
            "undo",
            "Undo an edit",
            "Reverts an edit by `id`, a group, or the newest. A file changed since is a `conflict` and stays. Not for changes by `bash`.",
            Effect::Edit,
        ).with_rank(17).in_lsp_profile()
    }

    async fn run(&self, call: Call<'_>, args: UndoArgs) -> Result<UndoOutput, ToolError> {
        if args.list.unwrap_or(false) {
            return list(&call).await;
        }
        check_undo_allowed(&call, &args).await?;
        // The files that it changes are known only from the journal, while it runs.
        let claim = call.state.edit_scheduler.claim(EditScope::Everything);
        claim.wait_for_turn().await;
        let group = call.group.map(str::to_owned);
        let nothing = EditPlan::new("undo");
        let committed = match (args.id, args.group) {
            (Some(_), Some(_)) => {
                let what = "undo: give `id` or `group`, not both";
                return Err(ToolError::new(ErrorCode::InvalidArgs, what));
            }
            (Some(id), None) => {
                let id: EditId = id
                    .parse()
                    .map_err(|error| ToolError::new(ErrorCode::InvalidArgs, format!("undo: {error}")))?;
                run_blocking_edit(call.context, &nothing, move |edits, _| edits.undo(id, group.as_deref()))
                    .await?
            }
            (None, Some(of)) => {
                run_blocking_edit(call.context, &nothing, move |edits, _| {
                    edits.undo_group(&of, group.as_deref())
                })
                .await?
            }
            (None, None) => {
                run_blocking_edit(call.context, &nothing, move |edits, _| edits.undo_latest(group.as_deref()))
                    .await?
            }
        };
        claim.has_changed(changed_paths(call.context, &committed));
        let done = finish_edit(call.context, committed, EditJudge::Afterwards(BreakageMode::Unsaid)).await;
        let (results, judgement) = (done.files, Some(done.judgement));
        Ok(UndoOutput { results, undo: done.undo, judgement, edits: Vec::new(), has_more: false })
    }
}

/// Fails if a rule forbids changing a file that would be restored.
async fn check_undo_allowed(call: &Call<'_>, args: &UndoArgs) -> Result<(), ToolError> {
    if call.context.limits.is_none() {
        return Ok(());
    }
    let history = run_blocking_edit(call.context, &EditPlan::new("undo"), |edits, _| edits.history()).await?;
    let is_meant = |entry: &&HistoryEntry| match (&args.id, &args.group) {
        (Some(id), _) => entry.id.to_string() == *id,
        (None, Some(group)) => entry.group.as_ref() == Some(group),
        // The newest edit that can be reverted; newer ones that cannot be reverted are checked as
        // well.
        (None, None) => true,
    };
    let most = if args.id.is_none() && args.group.is_none() {
        history
            .iter()
            .position(|entry| entry.is_in_effect() && entry.undoes.is_empty())
            .map_or(0, |at| at + 1)
    } else {
        history.len()
    };
    let files = || history.iter().take(most).filter(is_meant).flat_map(|entry| &entry.files);
    let paths = files().flat_map(|(path, operation)| match operation {
        FileOperation::Renamed { from } => vec![path, from],
        FileOperation::Created | FileOperation::Modified | FileOperation::Deleted => vec![path],
    });
    call.context.may_change(paths)?;
    let moved_back = files().filter_map(|(path, operation)| match operation {
        FileOperation::Renamed { from } => Some((path.clone(), Some(from.clone()))),
        FileOperation::Created | FileOperation::Modified | FileOperation::Deleted => None,
    });
    may_take_folders(call.context, moved_back.collect()).await
}

async fn list(call: &Call<'_>) -> Result<UndoOutput, ToolError> {
    let history = run_blocking_edit(call.context, &EditPlan::new("undo"), |edits, _| edits.history()).await?;
    let has_more = history.len() > MAX_LISTED_UNDO_EDITS;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let past = |entry: &HistoryEntry| {
        let since = age(now.saturating_sub(seconds_of(entry)));
        PastEdit { age: Some(format!("{since} ago")), ..to_past_edit(entry) }
    };
    let edits = history.iter().take(MAX_LISTED_UNDO_EDITS).map(past).collect();
    Ok(UndoOutput { results: Vec::new(), undo: None, judgement: None, edits, has_more })
}

/// The time of the edit, in seconds since 1970.
fn seconds_of(entry: &HistoryEntry) -> u64 {
    entry.time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// An edit in the form of answers.
pub(crate) fn to_past_edit(entry: &HistoryEntry) -> PastEdit {
    let file = |(path, operation): &(crate::workspace::WorkspacePath, FileOperation)| match operation {
        FileOperation::Created => format!("created {}", path.display()),
        FileOperation::Modified => format!("modified {}", path.display()),
        FileOperation::Deleted => format!("deleted {}", path.display()),
        FileOperation::Renamed { from } => format!("renamed {} to {}", from.display(), path.display()),
    };
    PastEdit {
        id: entry.id.to_string(),
        title: entry.title.clone(),
        group: entry.group.clone(),
        time: timestamp::format_seconds(seconds_of(entry)),
        age: None,
        files: entry.files.iter().map(file).collect(),
        undone_by: entry.undone_by.map(|id| id.to_string()),
    }
}
