//! `edit`: exact replacements in one file.

use schemars::JsonSchema;
use serde::Deserialize;

use super::context::Context;
use super::editing::{EditRunOptions, EditingTurn, must_be_whole, plan_write, read_existing};
use super::error::{ErrorCode, ToolError};
use super::tool::{Call, Card, Tool};
use super::write::EditOutput;
use crate::policy::request::{CallSubjects, Effect};
use crate::text::replace::{ReplaceError, TextReplacement, replace};
use crate::workspace::edit::{EditPlan, LineEnds};

/// The arguments of `edit`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(crate) struct EditArgs {
    /// The file.
    pub path: String,
    /// Made in order; all or none.
    pub edits: Vec<OneEdit>,
    /// Change nothing, tell what would.
    pub dry_run: Option<bool>,
    /// Tell what it breaks.
    pub diagnostics: Option<bool>,
}

/// One replacement.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(crate) struct OneEdit {
    /// Exact text, with enough around it to be there once.
    pub old: String,
    /// What takes its place.
    pub new: String,
    /// Replace every occurrence.
    pub all: Option<bool>,
}

/// The tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EditTool;

impl Tool for EditTool {
    type Args = EditArgs;
    type Output = EditOutput;

    fn card(&self) -> Card {
        Card::new(
            "edit",
            "Edit a file",
            "Replaces exact text in a file, in several places at once if need be. A miss answers the nearest text. Answers a diff, and the \
             diagnostics it added, in callers too. For a whole function use `edit_symbol`, for a name `lsp_rename`. Example: {\"path\": \
             \"shop/cart.py\", \"edits\": [{\"old\": \"tax = 1\", \"new\": \"tax = 2\"}]}.",
            Effect::Edit,
        ).with_rank(9).undoable()
    }

    fn subjects(&self, context: &Context, args: &EditArgs) -> Result<CallSubjects, ToolError> {
        Ok(CallSubjects { paths: vec![context.path(args.path.as_ref())?], ..CallSubjects::default() })
    }

    async fn run(&self, call: Call<'_>, args: EditArgs) -> Result<EditOutput, ToolError> {
        let path = call.context.path(args.path.as_ref())?;
        let replacements: Vec<TextReplacement> = args
            .edits
            .into_iter()
            .map(|edit| TextReplacement { old: edit.old, new: edit.new, all: edit.all.unwrap_or(false) })
            .collect();
        let mut turn =
            EditingTurn::acquire(&call, EditRunOptions::new(args.dry_run, args.diagnostics), [&path]).await;
        loop {
            let file = read_existing(call.context, &path)?.ok_or_else(|| {
                let what = format!("there is no file `{}` to edit", path.display());
                ToolError::new(ErrorCode::NotFound, what)
                    .with_hint("make it with `write`")
                    .about_missing_path(&path.display())
            })?;
            let replaced =
                replace(&file.text, &replacements).map_err(|error| replace_error(&path.display(), &error))?;
            must_be_whole(&path, Some(&file), &replaced.text)?;
            let mut plan = EditPlan::new("edit");
            plan_write(&mut plan, &path, Some(&file), &replaced.text, LineEnds::AsGiven);
            if let Some(done) = turn.run_plan(plan).await? {
                return Ok(EditOutput::new(done, &path, &replaced.text));
            }
        }
    }
}

fn replace_error(path: &str, error: &ReplaceError) -> ToolError {
    let code = match error {
        ReplaceError::NotFound { .. } | ReplaceError::Several { .. } => ErrorCode::PatchMismatch,
        _ => ErrorCode::InvalidArgs,
    };
    ToolError::new(code, format!("{path}: {error}; nothing was changed"))
}
