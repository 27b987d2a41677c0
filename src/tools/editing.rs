//! The one way in which tools change files: plan → what is there before → commit, or only a trial → what that changed.

use schemars::JsonSchema;
use serde::Serialize;

use super::breakage::{Baseline, Wish, saved, tried};
use super::context::{Context, from_read_error};
use super::delta::DiagnosticsDelta;
use super::error::{ErrorCode, ToolError};
use super::impact::EditedText;
use super::tool::Call;
use crate::text::diff::{DiffOptions, unified_diff};
use crate::workspace::edit::{
    Committed, EditError, Edits, Expected, FileChange, FileKind, FileOperation, LineEnds, Plan,
};
use crate::workspace::{ReadError, TextFile, WorkspacePath};

/// How an edit is made.
#[derive(Debug, Clone, Copy)]
pub struct Manner {
    /// Nothing is written; the answer tells what would be.
    pub dry_run: bool,
    /// Whether the answer tells what it broke.
    pub wish: Wish,
}

impl Manner {
    /// As the optional arguments of edit tools say it.
    pub fn new(dry_run: Option<bool>, diagnostics: Option<bool>) -> Self {
        Self { dry_run: dry_run.unwrap_or(false), wish: diagnostics.into() }
    }
}

/// What became of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileResult {
    /// Relative to the workspace.
    pub path: String,
    /// `created`, `modified`, `deleted`, `renamed` or `unchanged`.
    pub operation: String,
    /// Its name before, where it was renamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Its size now, in bytes.
    pub size: usize,
    /// Lines added.
    pub additions: usize,
    /// Lines removed.
    pub deletions: usize,
    /// Unified diff.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub diff: String,
}

/// What became of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// What `undo` takes it back by; `None` where nothing was changed.
    pub undo: Option<String>,
    /// Each file, by path.
    pub files: Vec<FileResult>,
    /// What it broke and mended, where that was looked at.
    pub diagnostics: Option<DiagnosticsDelta>,
}

/// Makes the edit that `plan` describes, or only tries it.
pub async fn carry_out(call: &Call<'_>, plan: Plan, manner: Manner) -> Result<Done, ToolError> {
    let context = call.context;
    context.may_change(plan.paths())?;
    context.must_be_saved(plan.paths())?;
    let plan = plan.in_group(call.group);
    let mut expected = None;
    let mut baseline = None;
    if manner.dry_run || Baseline::may_be_taken(context, plan.paths(), manner.wish) {
        let changes = blocking(context, &plan, |edits, plan| edits.preview(plan)).await?;
        let edits = edited_texts(&changes);
        baseline = Baseline::take(context, &edits, manner.wish).await;
        expected = Some((changes, edits));
    }
    if manner.dry_run
        && let Some((changes, edits)) = expected
    {
        let diagnostics = match baseline {
            Some(baseline) => Some(baseline.compare(context, &edits, &tried(&context.view, &edits)).await),
            None => None,
        };
        return Ok(Done { undo: None, files: file_results(&changes), diagnostics });
    }
    let committed = blocking(context, &plan, |edits, plan| edits.commit(plan)).await?;
    finish(context, committed, baseline).await
}

/// Tells the servers what was changed, and the caller what that changed in the diagnostics.
pub async fn finish(
    context: &Context,
    committed: Committed,
    baseline: Option<Baseline>,
) -> Result<Done, ToolError> {
    context.manager.refresh().await;
    let moves: Vec<(WorkspacePath, WorkspacePath)> = committed
        .files
        .iter()
        .filter_map(|change| match &change.operation {
            FileOperation::Renamed { from } => Some((from.clone(), change.path.clone())),
            _ => None,
        })
        .collect();
    if !moves.is_empty() {
        context.manager.files_moved(&moves);
    }
    let edits = edited_texts(&committed.files);
    let diagnostics = match baseline {
        Some(baseline) => Some(baseline.compare(context, &edits, &saved(&context.view, &edits)).await),
        None => None,
    };
    let undo = committed.id.map(|id| id.to_string());
    Ok(Done { undo, files: file_results(&committed.files), diagnostics })
}

/// Edits wait for locks and for the disk, which the threads that talk to servers must not.
pub async fn blocking<T: Send + 'static>(
    context: &Context,
    plan: &Plan,
    work: impl FnOnce(&Edits, &Plan) -> Result<T, EditError> + Send + 'static,
) -> Result<T, ToolError> {
    let (edits, plan) = (context.edits.clone(), plan.clone());
    match tokio::task::spawn_blocking(move || work(&edits, &plan)).await {
        Ok(done) => done.map_err(from_edit_error),
        Err(error) => Err(ToolError::new(ErrorCode::Internal, format!("the edit failed: {error}"))),
    }
}

/// The file at `path`, if there is one.
pub fn existing(context: &Context, path: &WorkspacePath) -> Result<Option<TextFile>, ToolError> {
    let limit = context.config.settings.limits.max_file_bytes;
    match context.workspace.read_text_up_to(path, limit) {
        Ok(file) => Ok(Some(file)),
        Err(ReadError::NotFound { .. }) => Ok(None),
        Err(error) => Err(from_read_error(error)),
    }
}

/// Plans `text` for `path`, of which `file` was read.
pub fn put(plan: &mut Plan, path: &WorkspacePath, file: Option<&TextFile>, text: &str, line_ends: LineEnds) {
    match file {
        Some(file) => {
            plan.write(path, file.with_text(text, line_ends), Expected::Hash(file.content_hash()));
        }
        None => {
            plan.write(path, text.as_bytes(), Expected::Absent);
        }
    }
}

/// The text files among `changes`.
pub fn edited_texts(changes: &[FileChange]) -> Vec<EditedText> {
    let is_text = |change: &&FileChange| {
        change.kind == FileKind::File && (change.before.is_some() || change.after.is_some())
    };
    let edited = |change: &FileChange| EditedText {
        path: change.path.clone(),
        renamed_from: match &change.operation {
            FileOperation::Renamed { from } => Some(from.clone()),
            _ => None,
        },
        before: change.before.clone(),
        after: change.after.clone(),
    };
    changes.iter().filter(is_text).map(edited).collect()
}

/// Changes as answers give them.
pub fn file_results(changes: &[FileChange]) -> Vec<FileResult> {
    changes.iter().map(file_result).collect()
}

fn file_result(change: &FileChange) -> FileResult {
    let path = change.path.display();
    let (operation, from) = match &change.operation {
        FileOperation::Created => ("created", None),
        FileOperation::Modified => ("modified", None),
        FileOperation::Deleted => ("deleted", None),
        FileOperation::Renamed { from } => ("renamed", Some(from.display())),
    };
    let old_path = from.as_deref().unwrap_or(&path);
    let old = change.before.as_ref().map(|_| old_path);
    let new = change.after.as_ref().map(|_| path.as_str());
    let (before, after) =
        (change.before.as_deref().unwrap_or_default(), change.after.as_deref().unwrap_or_default());
    let diff = unified_diff(old, before, new, after, DiffOptions::default());
    FileResult {
        operation: operation.to_owned(),
        from,
        size: after.len(),
        additions: diff.additions,
        deletions: diff.deletions,
        diff: diff.text,
        path,
    }
}

/// An edit that was not made, in a tool's words.
pub fn from_edit_error(error: EditError) -> ToolError {
    let code = match &error {
        EditError::Conflict(_)
        | EditError::Leased { .. }
        | EditError::Exists { .. }
        | EditError::NotEmpty { .. } => ErrorCode::Conflict,
        EditError::NotFound { .. }
        | EditError::UnknownEdit { .. }
        | EditError::AlreadyUndone { .. }
        | EditError::NothingToUndo { .. } => ErrorCode::NotFound,
        EditError::Control { .. } | EditError::Denied { .. } | EditError::HardLinked { .. } => {
            ErrorCode::Denied
        }
        EditError::Outside { .. } => ErrorCode::OutsideWorkspace,
        EditError::LinkLoop { .. }
        | EditError::NotADirectory { .. }
        | EditError::Directory { .. }
        | EditError::Contradiction { .. } => ErrorCode::InvalidArgs,
        EditError::Special { .. } => ErrorCode::NotText,
        EditError::TooLarge { .. } => ErrorCode::TooLarge,
        EditError::Busy { .. } => ErrorCode::Timeout,
        EditError::NoSpace { .. }
        | EditError::Io { .. }
        | EditError::Journal { .. }
        | EditError::Lease { .. }
        | EditError::Unfinished { .. } => ErrorCode::Internal,
    };
    let nothing = matches!(error, EditError::NothingToUndo { .. });
    ToolError { nothing, ..ToolError::new(code, error.to_string()) }
}
