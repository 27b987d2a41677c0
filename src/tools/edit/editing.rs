//! The one way in which tools change files: plan, baseline, commit or trial, comparison.
//!
//! Each tool that changes files makes an [`EditPlan`] and passes it to [`EditingTurn::run_plan`]:
//!
//! 1. Turn: the edit waits for earlier edits of the same files (`edit_scheduler`), and reads its
//!    files after that.
//! 2. Check: `PathLimits` and the rules for the contents of folders, and a conflict if the caller
//!    sees unsaved text of a file.
//! 3. Preview and baseline: `TransactionManager::preview` checks the plan. `diagnostics_baseline`
//!    starts the servers of the files and takes the diagnostics of the edited files and of the
//!    files that use a changed definition (`declaration_changes`, `impact`).
//! 4. Commit (`workspace::edit::transaction`): all steps or none, with a journal entry. A trial
//!    leaves this step out.
//! 5. Servers: the change feed sees the new files, and `Manager::refresh` forwards the changes.
//! 6. Judgement (`edit_judgement`): the same files are checked again (`delta`), and with them the
//!    files that the change reaches indirectly (`transitive_impact`), or the answer has the reason
//!    that there is nothing to compare. A trial asks about a `View` in which the new texts are
//!    unsaved texts.
//!
//! If a file changes between steps 1 and 4, the edit is planned again, a limited number of times.
//! An edit of a whole text ([`EditingTurn::for_whole_file`]) is a conflict instead. `bash` changes
//! files without any of this. Undo is a plan like any other, made from the journal.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contents::check_folder_contents;
use crate::analysis::breakage::diagnostics_baseline::{
    BreakageMode, BreakageWatch, EditJudge, RenamedSymbol, edits_for_trial, view_after_edits, view_after_save,
};
use crate::analysis::breakage::edit_judgement::EditJudgement;
use crate::analysis::breakage::edited_text::EditedText;
use crate::analysis::context::{Context, from_read_error};
use crate::analysis::error::{ErrorCode, ToolError, join_error};
use crate::text::diff::{DiffOptions, unified_diff};
use crate::text::words::elision::new_marker;
use crate::tools::api::edit_scheduler::{Claim, EditScope};
use crate::tools::api::tool::Call;
use crate::workspace::edit::{
    ChangedEntryKind, CommittedTransaction, EditError, EditPlan, FileChange, FileOperation, LineEnds,
    PathPrecondition, TransactionManager,
};
use crate::workspace::{ReadError, TextFile, WorkspacePath};

/// Options of an edit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EditRunOptions {
    /// True if nothing is written and the answer describes the possible result.
    pub dry_run: bool,
    /// Selects whether the answer reports new errors.
    pub breakage_mode: BreakageMode,
}

impl EditRunOptions {
    /// The options from the optional arguments of edit tools.
    pub(crate) fn new(dry_run: Option<bool>, diagnostics: Option<bool>) -> Self {
        Self { dry_run: dry_run.unwrap_or(false), breakage_mode: diagnostics.into() }
    }
}

/// The result for one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FileResult {
    /// Relative to the workspace.
    pub path: String,
    /// `created`, `modified`, `deleted`, `renamed` or `unchanged`.
    pub operation: String,
    /// The former path of a renamed file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The new size in bytes.
    pub size: usize,
    /// Lines added.
    pub additions: usize,
    /// Lines removed.
    pub deletions: usize,
    /// Unified diff; empty if nothing changed.
    pub diff: String,
}

/// The result of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolEditResult {
    /// The id for `undo`; `None` if nothing was changed.
    pub undo: Option<String>,
    /// The results of each file, by path.
    pub files: Vec<FileResult>,
    /// The new and resolved diagnostics.
    pub judgement: EditJudgement,
}

/// An edit from its turn to its end. Until it is dropped, edits that touch the same files wait.
///
/// A tool that reads files to plan its edit waits for its turn first ([`EditingTurn::acquire`]). It
/// plans again as often as [`run_plan`](Self::run_plan) requires, because other processes are
/// outside the order. A tool whose server plans the edit asks the server first
/// ([`EditingTurn::without_claim`]), so that no other edit waits for a starting server.
#[derive(Debug)]
pub(crate) struct EditingTurn<'c> {
    call: &'c Call<'c>,
    options: EditRunOptions,
    claim: Option<Claim>,
    /// The symbol that the edit renames.
    renamed: Option<RenamedSymbol>,
    /// The number of times that the plan may still turn out to be stale.
    stale: usize,
    /// The number of times that the edit lost its position in the queue.
    lost: usize,
}

/// The most attempts to plan an edit of a text. Each failed attempt means that another program
/// edited the file.
const MAX_EDIT_REPLAN_ATTEMPTS: usize = 32;
/// The maximum number of repeated requests to a server for a plan.
const MAX_SERVER_REASK_ATTEMPTS: usize = 3;
/// The number of lost positions after which an edit claims the whole workspace.
const MAX_LOST_EDIT_TURNS: usize = 2;

/// The reason that an edit was not made.
enum EditInterruption {
    /// A file has changed since the edit was planned.
    Stale(ToolError),
    /// Another edit comes first.
    Lost,
    Error(ToolError),
}

impl From<ToolError> for EditInterruption {
    fn from(error: ToolError) -> Self {
        Self::Error(error)
    }
}

impl From<EditError> for EditInterruption {
    fn from(error: EditError) -> Self {
        match error {
            EditError::Conflict(_) => Self::Stale(from_edit_error(error)),
            error => Self::Error(from_edit_error(error)),
        }
    }
}

impl<'c> EditingTurn<'c> {
    /// Waits until no earlier edit touches `paths`.
    pub(crate) async fn acquire<'p>(
        call: &'c Call<'c>,
        options: EditRunOptions,
        paths: impl IntoIterator<Item = &'p WorkspacePath>,
    ) -> Self {
        let mut turn = Self { stale: MAX_EDIT_REPLAN_ATTEMPTS, ..Self::without_claim(call, options) };
        turn.claim_turn(turn.scope(paths.into_iter().cloned(), [])).await;
        turn
    }

    /// An edit whose files are not known yet.
    pub(crate) fn without_claim(call: &'c Call<'c>, options: EditRunOptions) -> Self {
        Self { call, options, claim: None, renamed: None, stale: MAX_SERVER_REASK_ATTEMPTS, lost: 0 }
    }

    /// Waits for the turn of an edit whose first plan was stale; `paths` are the files that it is
    /// known to change.
    pub(crate) async fn claim_files(&mut self, paths: impl IntoIterator<Item = WorkspacePath>) {
        if self.claim.is_none() {
            self.claim_turn(self.scope(paths, [])).await;
        }
    }

    /// Records that the edit renames a symbol: findings whose messages differ only by its name
    /// count as unchanged.
    pub(crate) fn note_rename(&mut self, renamed: RenamedSymbol) {
        self.renamed = Some(renamed);
    }

    /// Like [`acquire`](Self::acquire), for a new text of the whole of `path` that ignores the old
    /// one. It would overwrite another edit of the file that is in progress or was made since the
    /// call arrived.
    ///
    /// # Errors
    /// `conflict` if there is such an edit.
    pub(crate) async fn for_whole_file(
        call: &'c Call<'c>,
        options: EditRunOptions,
        path: &WorkspacePath,
    ) -> Result<Self, ToolError> {
        let mut turn = Self { stale: 0, ..Self::without_claim(call, options) };
        let scope = turn.scope([path.clone()], []);
        let claim = turn.claim.insert(call.state.edit_scheduler.claim(scope));
        let real = call.context.workspace.resolve_links(path);
        if claim.has_concurrent_edit(real.as_ref().unwrap_or(path), call.arrival) {
            let error = format!(
                "{} was changed by another call at the same time, which this text would overwrite; nothing was changed",
                path.display()
            );
            return Err(ToolError::new(ErrorCode::Conflict, error)
                .with_hint("read it again and write the new text, or change a part of it with `edit`"));
        }
        claim.wait_for_turn().await;
        Ok(turn)
    }

    /// Makes the edit of `plan`, or only tries it. Returns `None` if it must be planned again,
    /// because its files have or may have changed since.
    pub(crate) async fn run_plan(&mut self, plan: EditPlan) -> Result<Option<ToolEditResult>, ToolError> {
        match self.attempt(plan).await {
            Ok(done) => Ok(Some(done)),
            Err(EditInterruption::Lost) => Ok(None),
            Err(EditInterruption::Stale(error)) => self.count_conflict(error).map(|()| None),
            Err(EditInterruption::Error(error)) => Err(error),
        }
    }

    /// The value of `planned`; `None` if the edit must be planned again because a file has changed.
    pub(crate) fn or_replan<T>(&mut self, planned: Result<T, ToolError>) -> Result<Option<T>, ToolError> {
        match planned {
            Err(error) if error.code == ErrorCode::Conflict => self.count_conflict(error).map(|()| None),
            planned => planned.map(Some),
        }
    }

    /// Counts a conflict. Returns it as an error if there have been too many.
    fn count_conflict(&mut self, conflict: ToolError) -> Result<(), ToolError> {
        self.stale = self.stale.checked_sub(1).ok_or(conflict)?;
        Ok(())
    }

    async fn attempt(&mut self, plan: EditPlan) -> Result<ToolEditResult, EditInterruption> {
        let Call { context, group, .. } = self.call;
        context.may_change(plan.paths())?;
        check_folder_contents(context, &plan).await?;
        context.check_saved(plan.paths())?;
        let plan = plan.in_group(*group);
        self.ensure_claim(self.scope(plan.paths().cloned(), [])).await?;
        let EditRunOptions { dry_run, breakage_mode } = self.options;
        let changes = run_blocking(context, &plan, |edits, plan| edits.preview(plan)).await??;
        let edits = edited_texts(&changes);
        let judge = match BreakageWatch::for_edits(context, &edits, breakage_mode).await {
            Ok(watch) => {
                self.ensure_claim(self.scope([], watch.paths().cloned())).await?;
                let watch = watch.with_rename(self.renamed.clone());
                EditJudge::Baseline(Box::new(watch.take_baseline(context, &edits).await))
            }
            Err(statement) => EditJudge::Statement(statement),
        };
        if dry_run {
            let shown = edits_for_trial(&edits);
            let view = view_after_edits(&context.view, &shown);
            let judgement = judge.judge(context, &shown, &view).await;
            return Ok(ToolEditResult { undo: None, files: file_results(&changes), judgement });
        }
        let committed = run_blocking(context, &plan, |edits, plan| edits.commit(plan)).await??;
        if let Some(claim) = &self.claim {
            claim.has_changed(changed_paths(context, &committed));
        }
        Ok(finish_edit(context, committed, judge).await)
    }

    /// Waits for the first claim of an edit whose files are known now, or adds `scope` to its
    /// claim. Fails if another edit comes first.
    async fn ensure_claim(&mut self, scope: EditScope) -> Result<(), EditInterruption> {
        let Some(claim) = &mut self.claim else {
            self.claim_turn(scope).await;
            return Ok(());
        };
        if claim.widen(&scope, self.lost >= MAX_LOST_EDIT_TURNS) {
            return Ok(());
        }
        claim.wait_for_turn().await;
        self.lost += 1;
        Err(EditInterruption::Lost)
    }

    async fn claim_turn(&mut self, scope: EditScope) {
        self.claim.insert(self.call.state.edit_scheduler.claim(scope)).wait_for_turn().await;
    }

    /// The scope of an edit that changes `changed` and reads `seen`. A trial changes nothing.
    fn scope(
        &self,
        changed: impl IntoIterator<Item = WorkspacePath>,
        seen: impl IntoIterator<Item = WorkspacePath>,
    ) -> EditScope {
        let real = |path: WorkspacePath| self.call.context.workspace.resolve_links(&path).unwrap_or(path);
        let (changed, seen) = (changed.into_iter().map(real), seen.into_iter().map(real));
        match self.options.dry_run {
            true => EditScope::files([], changed.chain(seen)),
            false => EditScope::files(changed, seen),
        }
    }
}

/// The real names of the files that an edit has changed, including their former names.
pub(crate) fn changed_paths(context: &Context, committed: &CommittedTransaction) -> Vec<WorkspacePath> {
    let names = committed.files.iter().flat_map(|change| match &change.operation {
        FileOperation::Renamed { from } => vec![from, &change.path],
        _ => vec![&change.path],
    });
    names.map(|path| context.workspace.resolve_links(path).unwrap_or_else(|| path.clone())).collect()
}

/// Notifies the servers of the changes, and returns the changes of the diagnostics.
pub(crate) async fn finish_edit(
    context: &Context,
    committed: CommittedTransaction,
    judge: EditJudge,
) -> ToolEditResult {
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
    let judgement = judge.judge(context, &edits, &view_after_save(&context.view, &edits)).await;
    let undo = committed.id.map(|id| id.to_string());
    ToolEditResult { undo, files: file_results(&committed.files), judgement }
}

/// Runs an edit on a blocking thread: it waits for locks and the disk, and must not hold up the
/// threads that talk to servers.
pub(crate) async fn run_blocking_edit<T: Send + 'static>(
    context: &Context,
    plan: &EditPlan,
    work: impl FnOnce(&TransactionManager, &EditPlan) -> Result<T, EditError> + Send + 'static,
) -> Result<T, ToolError> {
    run_blocking(context, plan, work).await?.map_err(from_edit_error)
}

async fn run_blocking<T: Send + 'static>(
    context: &Context,
    plan: &EditPlan,
    work: impl FnOnce(&TransactionManager, &EditPlan) -> Result<T, EditError> + Send + 'static,
) -> Result<Result<T, EditError>, ToolError> {
    let (edits, plan) = (context.edits.clone(), plan.clone());
    let done = tokio::task::spawn_blocking(move || work(&edits, &plan)).await;
    done.map_err(|error| join_error("the edit failed", error))
}

/// The file at `path`, if it exists.
pub(crate) fn read_existing(context: &Context, path: &WorkspacePath) -> Result<Option<TextFile>, ToolError> {
    let limit = context.config.settings.limits.max_file_bytes;
    match context.workspace.read_text_up_to(path, limit) {
        Ok(file) => Ok(Some(file)),
        Err(ReadError::NotFound { .. }) => Ok(None),
        Err(error) => Err(from_read_error(error)),
    }
}

/// Rejects a new text that contains a marker for omitted code, such as `// ...existing code...`.
pub(crate) fn must_be_whole(
    path: &WorkspacePath,
    file: Option<&TextFile>,
    text: &str,
) -> Result<(), ToolError> {
    // A document may contain such a marker as an example.
    let Some(file) = file.filter(|_| !path.is_prose()) else {
        return Ok(());
    };
    let Some(line) = new_marker(&file.text, text) else { return Ok(()) };
    let marker = text.lines().nth(line - 1).unwrap_or_default().trim();
    let what = format!(
        "{} would contain the placeholder `{marker}` in line {line} instead of code; nothing was changed",
        path.display()
    );
    Err(ToolError::new(ErrorCode::InvalidArgs, what)
        .with_hint("give the actual lines, or change only the other lines with `edit`"))
}

/// Adds to `plan` that `text` replaces the content `file` of `path`.
pub(crate) fn plan_write(
    plan: &mut EditPlan,
    path: &WorkspacePath,
    file: Option<&TextFile>,
    text: &str,
    line_ends: LineEnds,
) {
    match file {
        Some(file) => {
            plan.write(path, file.with_text(text, line_ends), PathPrecondition::Hash(file.content_hash()));
        }
        None => {
            plan.write(path, text.as_bytes(), PathPrecondition::Absent);
        }
    }
}

/// The text files among `changes`.
pub(crate) fn edited_texts(changes: &[FileChange]) -> Vec<EditedText> {
    let is_text = |change: &&FileChange| {
        change.kind == ChangedEntryKind::File && (change.before.is_some() || change.after.is_some())
    };
    let edited = |change: &FileChange| EditedText {
        path: change.path.clone(),
        renamed_from: change.operation.renamed_from().cloned(),
        before: change.before.clone(),
        after: change.after.clone(),
    };
    changes.iter().filter(is_text).map(edited).collect()
}

/// The changes in the form of answers.
pub(crate) fn file_results(changes: &[FileChange]) -> Vec<FileResult> {
    changes.iter().map(file_result).collect()
}

fn file_result(change: &FileChange) -> FileResult {
    let path = change.path.display();
    let from = change.operation.renamed_from().map(WorkspacePath::display);
    let old_path = from.as_deref().unwrap_or(&path);
    let old = change.before.as_ref().map(|_| old_path);
    let new = change.after.as_ref().map(|_| path.as_str());
    let (before, after) =
        (change.before.as_deref().unwrap_or_default(), change.after.as_deref().unwrap_or_default());
    let diff = unified_diff(old, before, new, after, DiffOptions::default());
    FileResult {
        operation: change.operation.name().to_owned(),
        from,
        size: after.len(),
        additions: diff.additions,
        deletions: diff.deletions,
        diff: diff.text,
        path,
    }
}

/// The tool error for an edit that was not made.
pub(crate) fn from_edit_error(error: EditError) -> ToolError {
    let code = match &error {
        EditError::Conflict(_)
        | EditError::UndoConflict(_)
        | EditError::Moved { .. }
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
        | EditError::Unfinished { .. } => ErrorCode::Internal,
    };
    let is_answer = matches!(error, EditError::NothingToUndo { .. });
    let tool_error = ToolError { is_answer, ..ToolError::new(code, error.to_string()) };
    match &error {
        EditError::NotFound { path } => tool_error.about_missing_path(path),
        _ => tool_error,
    }
}
