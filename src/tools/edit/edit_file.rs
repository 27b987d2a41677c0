//! `edit`: exact replacements in one file.

use schemars::JsonSchema;
use serde::Deserialize;

use super::editing::{EditRunOptions, EditingTurn, must_be_whole, plan_write, read_existing};
use super::write::EditOutput;
use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::policy::request::{CallSubjects, Effect};
use crate::text::replace::{ReplaceError, TextReplacement, replace};
use crate::tools::api::tool::{Call, Card, Tool};
use crate::workspace::WorkspacePath;
use crate::workspace::edit::{EditPlan, LineEnds};

/// The arguments of `edit`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(crate) struct EditArgs {
    /// The file.
    pub path: String,
    /// Applied in order; all or none.
    pub edits: Vec<OneEdit>,
    /// Only preview.
    pub dry_run: Option<bool>,
    /// Report new diagnostics.
    pub diagnostics: Option<bool>,
}

/// One replacement.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(crate) struct OneEdit {
    /// Exact, unique text.
    pub old: String,
    /// The new text.
    pub new: String,
    /// Replace every occurrence.
    pub all: Option<bool>,
}

/// The `edit` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EditTool;

impl Tool for EditTool {
    type Args = EditArgs;
    type Output = EditOutput;

    fn card(&self) -> Card {
        Card::new(
            "edit",
            "Edit a file",
            "Replaces exact text in a file, several places at once. Answers a diff and new errors, also in callers; a miss, the \
             nearest text. For a name use `lsp_rename`.",
            Effect::Edit,
        ).with_rank(9).undoable()
    }

    fn subjects(&self, context: &Context, args: &EditArgs) -> Result<CallSubjects, ToolError> {
        Ok(CallSubjects { paths: vec![context.path(args.path.as_ref())?], ..CallSubjects::default() })
    }

    async fn run(&self, call: Call<'_>, args: EditArgs) -> Result<EditOutput, ToolError> {
        let path = call.context.path(args.path.as_ref())?;
        let replacements: Vec<TextReplacement> = args.edits.into_iter().map(Into::into).collect();
        let mut turn =
            EditingTurn::acquire(&call, EditRunOptions::new(args.dry_run, args.diagnostics), [&path]).await;
        loop {
            let mut plan = EditPlan::new("edit");
            let text = plan_replacements(call.context, &mut plan, &path, &replacements)?;
            if let Some(done) = turn.run_plan(plan).await? {
                return Ok(EditOutput::new(done, &path, &text));
            }
        }
    }
}

impl From<OneEdit> for TextReplacement {
    fn from(OneEdit { old, new, all }: OneEdit) -> Self {
        Self { old, new, all: all.unwrap_or(false) }
    }
}

/// Plans replacements in one file, and returns its new text.
pub(super) fn plan_replacements(
    context: &Context,
    plan: &mut EditPlan,
    path: &WorkspacePath,
    replacements: &[TextReplacement],
) -> Result<String, ToolError> {
    let file = read_existing(context, path)?.ok_or_else(|| {
        let what = format!("there is no file `{}` to edit", path.display());
        ToolError::new(ErrorCode::NotFound, what)
            .with_hint("make it with `write`")
            .about_missing_path(&path.display())
    })?;
    let replaced =
        replace(&file.text, replacements).map_err(|error| replace_error(&path.display(), &error))?;
    must_be_whole(path, Some(&file), &replaced.text)?;
    plan_write(plan, path, Some(&file), &replaced.text, LineEnds::AsGiven);
    Ok(replaced.text)
}

fn replace_error(path: &str, error: &ReplaceError) -> ToolError {
    let code = match error {
        ReplaceError::NotFound { .. } | ReplaceError::Several { .. } => ErrorCode::PatchMismatch,
        _ => ErrorCode::InvalidArgs,
    };
    ToolError::new(code, format!("{path}: {error}; nothing was changed"))
}
