//! `patch`: unified diffs and the `*** Begin Patch` form, applied to all files or none.

use std::cell::RefCell;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::context::Context;
use super::edit_judgement::EditJudgement;
use super::editing::{EditRunOptions, EditingTurn, FileResult, must_be_whole, read_existing};
use super::error::{ErrorCode, ToolError};
use super::tool::{Call, Card, Tool};
use crate::policy::request::{CallSubjects, Effect};
use crate::text::patch::{
    self, AppliedHunk, ApplyOptions, FileMode, FileOutcome, Patch, PatchPath, PatchSequenceOutcome,
    SequenceError,
};
use crate::workspace::edit::{EditPlan, LineEnds, PathPrecondition};
use crate::workspace::{TextFile, WorkspacePath};

/// The arguments of `patch`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(crate) struct PatchArgs {
    /// Unified diff, or `*** Begin Patch` … `*** End Patch`.
    pub patch: String,
    /// Only show it.
    pub dry_run: Option<bool>,
    /// Report what breaks.
    pub diagnostics: Option<bool>,
}

/// What `patch` answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct PatchOutput {
    /// Whether the files were changed (`false` for a dry run).
    pub applied: bool,
    /// Each file.
    pub results: Vec<PatchResult>,
    /// What `undo` takes it back by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo: Option<String>,
    /// What was wrong in the patch and could be read in one way only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<String>,
    /// What it broke and mended.
    #[serde(flatten)]
    pub judgement: EditJudgement,
}

/// What became of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct PatchResult {
    /// The file.
    #[serde(flatten)]
    pub file: FileResult,
    /// Where its hunks went that were not where the patch says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hunks: Vec<MovedHunk>,
}

/// A hunk that was found elsewhere than the patch says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct MovedHunk {
    /// 1-based number within the file.
    pub hunk: usize,
    /// The 1-based line where it was found.
    pub line: usize,
    /// Lines between the stated place and that.
    pub offset: isize,
    /// Lines of context that did not fit.
    pub fuzz: usize,
}

/// The tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PatchTool;

impl Tool for PatchTool {
    type Args = PatchArgs;
    type Output = PatchOutput;

    fn card(&self) -> Card {
        Card::new(
            "patch",
            "Apply a patch",
            "Applies a patch to files, all or nothing. Answers each file and what broke; a misfit, the text there. For few changes \
             use `edit`.",
            Effect::Edit,
        )
        .destructive().with_rank(13).undoable()
    }

    fn subjects(&self, context: &Context, args: &PatchArgs) -> Result<CallSubjects, ToolError> {
        let paths = paths(context, &parse(&args.patch)?)?;
        Ok(CallSubjects { paths, ..CallSubjects::default() })
    }

    async fn run(&self, call: Call<'_>, args: PatchArgs) -> Result<PatchOutput, ToolError> {
        let patch = parse(&args.patch)?;
        let options = EditRunOptions::new(args.dry_run, args.diagnostics);
        let mut turn = EditingTurn::acquire(&call, options, &paths(call.context, &patch)?).await;
        let (done, hunks) = loop {
            let (plan, hunks) = plan_patch(call.context, &patch)?;
            if let Some(done) = turn.run_plan(plan).await? {
                break (done, hunks);
            }
        };
        let results = done.files.into_iter().map(|file| {
            let hunks = hunks.get(&file.path).cloned().unwrap_or_default();
            PatchResult { file, hunks }
        });
        Ok(PatchOutput {
            applied: !options.dry_run,
            results: results.collect(),
            undo: done.undo,
            repairs: repairs(&patch),
            judgement: done.judgement,
        })
    }
}

fn parse(text: &str) -> Result<Patch, ToolError> {
    patch::parse(text).map_err(|error| ToolError::new(ErrorCode::InvalidArgs, format!("patch: {error}")))
}

/// Every file that the patch names.
fn paths(context: &Context, patch: &Patch) -> Result<Vec<WorkspacePath>, ToolError> {
    let named = patch.files.iter().flat_map(|file| file.old_path().into_iter().chain(file.new_path()));
    let mut paths: Vec<WorkspacePath> =
        named.map(|named| resolve_patch_path(context, named)).collect::<Result<_, _>>()?;
    paths.sort();
    paths.dedup();
    Ok(paths)
}

/// The file that a header means: without what looks like a prefix, unless only the whole name is there.
fn resolve_patch_path(context: &Context, named: &PatchPath) -> Result<WorkspacePath, ToolError> {
    let clean = context.workspace.path(named.clean.as_ref()).map_err(super::context::from_path_error)?;
    if named.raw != named.clean
        && !context.workspace.exists(&clean)
        && let Ok(raw) = context.workspace.path(named.raw.as_ref())
        && context.workspace.exists(&raw)
    {
        return Ok(raw);
    }
    Ok(clean)
}

type MovedHunkIndex = BTreeMap<String, Vec<MovedHunk>>;

fn plan_patch(context: &Context, patch: &Patch) -> Result<(EditPlan, MovedHunkIndex), ToolError> {
    let read: RefCell<BTreeMap<WorkspacePath, Option<TextFile>>> = RefCell::default();
    let texts = |named: &PatchPath| -> Result<Option<String>, ToolError> {
        let path = resolve_patch_path(context, named)?;
        let file = read_existing(context, &path)?;
        let text = file.as_ref().map(|file| file.text.clone());
        if text.as_ref().is_some_and(|text| patch::has_too_many_lines(text)) {
            let most = patch::MAX_PATCH_LINES;
            let what =
                format!("{} has more than {most} lines, the most that a patch is applied to", path.display());
            return Err(ToolError::new(ErrorCode::TooLarge, what).with_hint("replace exact text with `edit`"));
        }
        read.borrow_mut().insert(path, file);
        Ok(text)
    };
    let outcome = patch::apply_all(patch, ApplyOptions::default(), texts).map_err(|error| match error {
        SequenceError::Read(error) => error,
        sections @ SequenceError::Sections(_) => {
            ToolError::new(ErrorCode::PatchMismatch, format!("{sections}; nothing was changed"))
        }
    })?;
    let places = hunk_places(context, patch, &outcome)?;
    let mut plan = EditPlan::new("patch");
    let read = read.into_inner();
    for file in &outcome.files {
        plan_file(context, &mut plan, file, &outcome, &read)?;
    }
    Ok((plan, places))
}

/// Plans what becomes of one file. A file that goes because another takes its text is renamed, so that its mode and the rest of
/// its identity go with it.
fn plan_file(
    context: &Context,
    plan: &mut EditPlan,
    file: &FileOutcome,
    outcome: &PatchSequenceOutcome,
    read: &BTreeMap<WorkspacePath, Option<TextFile>>,
) -> Result<(), ToolError> {
    let path = resolve_patch_path(context, &file.path)?;
    let known = read.get(&path).and_then(Option::as_ref);
    let executable = file.mode.map(|mode| mode == FileMode::Executable);
    let Some(text) = &file.text else {
        let renamed = outcome.files.iter().any(|other| {
            other.text.is_some()
                && other.origin.as_ref().is_some_and(|origin| origin.clean == file.path.clean)
        });
        if let Some(known) = known.filter(|_| !renamed) {
            plan.delete(&path, PathPrecondition::Hash(known.content_hash()));
        }
        return Ok(());
    };
    must_be_whole(&path, known, text)?;
    if let Some(origin) = &file.origin {
        let from = resolve_patch_path(context, origin)?;
        let old = read.get(&from).and_then(Option::as_ref);
        let gone = outcome.files.iter().any(|other| other.path.clean == origin.clean && other.text.is_none());
        if let (Some(old), true) = (old, gone) {
            plan.rename(&from, &path, PathPrecondition::Hash(old.content_hash()), false);
            if *text != old.text || executable.is_some() {
                let bytes = old.with_text(text, LineEnds::AsGiven);
                plan.write_with_mode(&path, bytes, PathPrecondition::Any, executable);
            }
            return Ok(());
        }
        let bytes =
            old.map_or_else(|| text.clone().into_bytes(), |old| old.with_text(text, LineEnds::AsGiven));
        plan.write_with_mode(&path, bytes, precondition(known), executable);
        return Ok(());
    }
    let bytes = known.map_or_else(|| text.clone().into_bytes(), |old| old.with_text(text, LineEnds::AsGiven));
    plan.write_with_mode(&path, bytes, precondition(known), executable);
    Ok(())
}

fn precondition(known: Option<&TextFile>) -> PathPrecondition {
    known.map_or(PathPrecondition::Absent, |file| PathPrecondition::Hash(file.content_hash()))
}

fn hunk_places(
    context: &Context,
    patch: &Patch,
    outcome: &PatchSequenceOutcome,
) -> Result<MovedHunkIndex, ToolError> {
    let mut places = MovedHunkIndex::new();
    for (file, hunks) in patch.files.iter().zip(&outcome.hunks) {
        let Some(named) = file.new_path().or(file.old_path()) else { continue };
        let moved = hunks.iter().filter(|hunk| hunk.offset != 0 || hunk.fuzz != 0);
        let moved: Vec<MovedHunk> = moved.map(hunk_place).collect();
        places.entry(resolve_patch_path(context, named)?.display()).or_default().extend(moved);
    }
    Ok(places)
}

fn hunk_place(hunk: &AppliedHunk) -> MovedHunk {
    MovedHunk { hunk: hunk.index + 1, line: hunk.applied_at, offset: hunk.offset, fuzz: hunk.fuzz }
}

fn repairs(patch: &Patch) -> Vec<String> {
    let repairs = patch.files.iter().flat_map(|file| &file.repairs);
    repairs.map(|repair| repair.to_string()).collect()
}
