//! `multi_replace_string`: exact replacements in several files, all or none.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::edit_file::plan_replacements;
use super::editing::{EditRunOptions, EditingTurn};
use super::move_file::EditsOutput;
use crate::analysis::context::Context;
use crate::analysis::error::ToolError;
use crate::policy::request::{CallSubjects, Effect};
use crate::text::replace::TextReplacement;
use crate::tools::api::tool::{Call, Card, Tool};
use crate::workspace::WorkspacePath;
use crate::workspace::edit::EditPlan;

/// The arguments of `multi_replace_string`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(crate) struct MultiReplacementArgs {
    /// Applied in order within each file.
    #[schemars(length(min = 1))]
    pub replacements: Vec<FileReplacement>,
    /// Only preview.
    pub dry_run: Option<bool>,
    /// Report new diagnostics.
    pub diagnostics: Option<bool>,
}

/// One replacement.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(crate) struct FileReplacement {
    /// The file.
    pub path: String,
    /// Exact text with enough context to be unique.
    pub old: String,
    /// The new text.
    pub new: String,
    /// Replace every occurrence.
    pub all: Option<bool>,
}

/// The `multi_replace_string` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MultiReplaceTool;

impl Tool for MultiReplaceTool {
    type Args = MultiReplacementArgs;
    type Output = EditsOutput;

    fn card(&self) -> Card {
        Card::new(
            "multi_replace_string",
            "Replace texts in files",
            "Replaces exact text in several files: all of it or nothing, one undo. For one file use `edit`.",
            Effect::Edit,
        )
        .beyond_core()
        .undoable()
    }

    fn subjects(&self, context: &Context, args: &MultiReplacementArgs) -> Result<CallSubjects, ToolError> {
        let paths = args.replacements.iter().map(|one| context.path(one.path.as_ref()));
        Ok(CallSubjects { paths: paths.collect::<Result<_, _>>()?, ..CallSubjects::default() })
    }

    async fn run(&self, call: Call<'_>, args: MultiReplacementArgs) -> Result<EditsOutput, ToolError> {
        let mut files: BTreeMap<WorkspacePath, Vec<TextReplacement>> = BTreeMap::new();
        for FileReplacement { path, old, new, all } in args.replacements {
            let one = TextReplacement { old, new, all: all.unwrap_or(false) };
            files.entry(call.context.path(path.as_ref())?).or_default().push(one);
        }
        let options = EditRunOptions::new(args.dry_run, args.diagnostics);
        let mut turn = EditingTurn::acquire(&call, options, files.keys()).await;
        loop {
            let mut plan = EditPlan::new("multi_replace_string");
            for (path, replacements) in &files {
                plan_replacements(call.context, &mut plan, path, replacements)?;
            }
            if let Some(done) = turn.run_plan(plan).await? {
                return Ok(done.into());
            }
        }
    }
}
