//! `patch`: unified diffs and the `*** Begin Patch` form, applied to all files or none.

use std::cell::RefCell;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::editing::{EditRunOptions, EditingTurn, FileResult, must_be_whole, read_existing};
use crate::analysis::breakage::edit_judgement::EditJudgement;
use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::policy::request::{CallSubjects, Effect};
use crate::text::patch::{
    self, AppliedHunk, ApplyOptions, FileMode, FileOutcome, FilePatchOperation, Patch, PatchPath,
    PatchSequenceOutcome, SequenceError,
};
use crate::tools::api::tool::{Call, Card, Tool};
use crate::workspace::edit::{EditPlan, PathPrecondition};
use crate::workspace::{TextFile, WorkspacePath};

/// The arguments of `patch`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(crate) struct PatchArgs {
    /// Unified diff, or `*** Begin Patch` … `*** End Patch`.
    pub patch: String,
    /// Only preview.
    pub dry_run: Option<bool>,
    /// Report new diagnostics.
    pub diagnostics: Option<bool>,
}

/// The output of `patch`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct PatchOutput {
    /// Whether the files were changed (`false` for a dry run).
    pub applied: bool,
    /// The result for each file.
    pub results: Vec<PatchResult>,
    /// The id that `undo` takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo: Option<String>,
    /// Errors in the patch that were corrected because only one reading was possible.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<String>,
    /// The diagnostics added and removed.
    #[serde(flatten)]
    pub judgement: EditJudgement,
}

/// The result for one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct PatchResult {
    /// The file's result.
    #[serde(flatten)]
    pub file: FileResult,
    /// Hunks applied elsewhere than the patch says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hunks: Vec<MovedHunk>,
}

/// A hunk applied elsewhere than the patch says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct MovedHunk {
    /// 1-based number within the file.
    pub hunk: usize,
    /// The 1-based line where the hunk was applied.
    pub line: usize,
    /// The distance in lines from the stated line.
    pub offset: isize,
    /// The number of context lines that did not match.
    pub fuzz: usize,
}

/// The `patch` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PatchTool;

impl Tool for PatchTool {
    type Args = PatchArgs;
    type Output = PatchOutput;

    fn card(&self) -> Card {
        Card::new(
            "patch",
            "Apply a patch",
            "Applies a patch to files, all or nothing. Answers each file and new errors; a misfit, the text there. For few changes \
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

/// Every file in the patch.
fn paths(context: &Context, patch: &Patch) -> Result<Vec<WorkspacePath>, ToolError> {
    let named = patch.files.iter().flat_map(|file| file.old_path().into_iter().chain(file.new_path()));
    let mut paths: Vec<WorkspacePath> =
        named.map(|named| resolve_patch_path(context, named)).collect::<Result<_, _>>()?;
    paths.sort();
    paths.dedup();
    Ok(paths)
}

/// The file that a header means: without an apparent prefix, unless only the path with the prefix
/// exists.
fn resolve_patch_path(context: &Context, named: &PatchPath) -> Result<WorkspacePath, ToolError> {
    let clean =
        context.workspace.path(named.clean.as_ref()).map_err(crate::analysis::context::from_path_error)?;
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
    let read: RefCell<KnownFiles> = RefCell::default();
    let texts = |named: &PatchPath| -> Result<Option<String>, ToolError> {
        let path = resolve_patch_path(context, named)?;
        let file = read_existing(context, &path)?;
        let text = file.as_ref().map(marked_text);
        if text.as_ref().is_some_and(|text| patch::has_too_many_lines(text)) {
            let most = patch::MAX_PATCH_LINES;
            let what = format!("{} has more than {most} lines, the limit for patches", path.display());
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
    let moves = moves(context, patch, &outcome)?;
    plan_removals(context, &mut plan, &outcome, &moves, &read)?;
    plan_moves(context, &mut plan, &moves, &read)?;
    for file in &outcome.files {
        plan_text(context, &mut plan, file, &moves, &read)?;
    }
    Ok((plan, places))
}

type KnownFiles = BTreeMap<WorkspacePath, Option<TextFile>>;

/// The renamed files with their old names; all other state of a file is renamed with it. The keys
/// are the new names.
type Moves = BTreeMap<WorkspacePath, WorkspacePath>;

fn moves(context: &Context, patch: &Patch, outcome: &PatchSequenceOutcome) -> Result<Moves, ToolError> {
    let mut moves = Moves::new();
    for section in &patch.files {
        let FilePatchOperation::Rename { from, to } = &section.operation else { continue };
        let is_outcome = |file: &FileOutcome| {
            let has_origin = file.origin.as_ref().is_some_and(|origin| origin.clean == from.clean);
            file.path.clean == to.clean && file.text.is_some() && has_origin
        };
        let (from, to) = (resolve_patch_path(context, from)?, resolve_patch_path(context, to)?);
        if outcome.files.iter().any(is_outcome) && moves.values().all(|taken| *taken != from) {
            moves.insert(to, from);
        }
    }
    Ok(moves)
}

/// Plans the removal of files that the patch deletes or whose names other files take.
fn plan_removals(
    context: &Context,
    plan: &mut EditPlan,
    outcome: &PatchSequenceOutcome,
    moves: &Moves,
    read: &KnownFiles,
) -> Result<(), ToolError> {
    for file in &outcome.files {
        let path = resolve_patch_path(context, &file.path)?;
        let is_moved = moves.values().any(|from| *from == path);
        let goes = file.text.is_none() || moves.contains_key(&path);
        if let Some(known) = read.get(&path).and_then(Option::as_ref).filter(|_| goes && !is_moved) {
            plan.delete(&path, PathPrecondition::Hash(known.content_hash()));
        }
    }
    Ok(())
}

/// Plans the moves in an order in which each name is free when it is taken. In a cycle of names,
/// one file gets a temporary name.
fn plan_moves(
    context: &Context,
    plan: &mut EditPlan,
    moves: &Moves,
    read: &KnownFiles,
) -> Result<(), ToolError> {
    let mut waiting: Vec<(WorkspacePath, &WorkspacePath, PathPrecondition)> = Vec::new();
    for (to, from) in moves {
        let known = read.get(from).and_then(Option::as_ref);
        waiting.push((from.clone(), to, precondition(known)));
    }
    while let Some((first, _, expected)) = waiting.first().cloned() {
        let is_free = |to: &WorkspacePath| waiting.iter().all(|(from, ..)| from != to);
        if let Some(at) = waiting.iter().position(|(_, to, _)| is_free(to)) {
            let (from, to, expected) = waiting.remove(at);
            plan.rename(&from, to, expected, false);
        } else {
            let aside = unused_name(context, &first)?;
            plan.rename(&first, &aside, expected, false);
            waiting[0].0 = aside;
        }
    }
    Ok(())
}

/// An unused name beside `path`.
fn unused_name(context: &Context, path: &WorkspacePath) -> Result<WorkspacePath, ToolError> {
    let folder = path.parent().unwrap_or_else(WorkspacePath::root);
    let mut number = 0_u32;
    loop {
        let name = folder.join(&format!(".lsp-tools-aside-{number}"));
        let name = name.map_err(crate::analysis::context::from_path_error)?;
        if !context.workspace.exists(&name) {
            return Ok(name);
        }
        number += 1;
    }
}

/// Plans the text of one file, if it exists afterwards and differs from the moved one.
fn plan_text(
    context: &Context,
    plan: &mut EditPlan,
    file: &FileOutcome,
    moves: &Moves,
    read: &KnownFiles,
) -> Result<(), ToolError> {
    let Some(text) = &file.text else { return Ok(()) };
    let path = resolve_patch_path(context, &file.path)?;
    let known = |path: &WorkspacePath| read.get(path).and_then(Option::as_ref);
    must_be_whole(&path, known(&path), text)?;
    let executable = file.mode.map(|mode| mode == FileMode::Executable);
    let origin = file.origin.as_ref().map(|origin| resolve_patch_path(context, origin)).transpose()?;
    let old = known(origin.as_ref().unwrap_or(&path));
    let expected = match moves.contains_key(&path) {
        true if executable.is_none() && old.is_some_and(|old| marked_text(old) == *text) => return Ok(()),
        true => PathPrecondition::Any,
        false if moves.values().any(|from| *from == path) => PathPrecondition::Absent,
        false => precondition(known(&path)),
    };
    plan.write_with_mode(&path, text.clone().into_bytes(), expected, executable);
    Ok(())
}

/// The text of a file with its byte order mark, which a patch may contain.
fn marked_text(file: &TextFile) -> String {
    let mark = if file.bom { "\u{feff}" } else { "" };
    format!("{mark}{}", file.text)
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
