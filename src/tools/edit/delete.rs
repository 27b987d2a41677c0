//! `delete`: removal of a file or folder, which `undo` reverts.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Deserialize;

use super::editing::{EditRunOptions, EditingTurn};
use super::move_file::EditsOutput;
use crate::analysis::breakage::impact::{importers_note, language_of};
use crate::analysis::context::{Context, LanguageFile};
use crate::analysis::error::ToolError;
use crate::config::spec::{ServerSpec, UncheckedAspect};
use crate::policy::request::{CallSubjects, Effect};
use crate::tools::api::tool::{Call, Card, Tool};
use crate::workspace::WorkspacePath;
use crate::workspace::edit::{EditPlan, PathPrecondition};

/// The arguments of `delete`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(crate) struct DeleteArgs {
    /// A file, a link or a folder.
    pub path: String,
    /// A folder with its contents.
    pub recursive: Option<bool>,
    /// Only preview.
    pub dry_run: Option<bool>,
    /// Report new diagnostics.
    pub diagnostics: Option<bool>,
}

/// The `delete` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DeleteTool;

impl Tool for DeleteTool {
    type Args = DeleteArgs;
    type Output = EditsOutput;

    fn card(&self) -> Card {
        Card::new("delete", "Delete a file", "Deletes a file or folder. `undo` restores it.", Effect::Edit)
            .beyond_core()
            .destructive()
            .undoable()
    }

    fn subjects(&self, context: &Context, args: &DeleteArgs) -> Result<CallSubjects, ToolError> {
        Ok(CallSubjects { paths: vec![context.path(args.path.as_ref())?], ..CallSubjects::default() })
    }

    async fn run(&self, call: Call<'_>, args: DeleteArgs) -> Result<EditsOutput, ToolError> {
        let path = call.context.path(args.path.as_ref())?;
        let notes = unchecked_importers(call.context, &path).await;
        let mut plan = EditPlan::new("delete");
        match args.recursive.unwrap_or(false) {
            true => plan.delete_tree(&path),
            false => plan.delete(&path, PathPrecondition::Any),
        };
        let mut turn =
            EditingTurn::acquire(&call, EditRunOptions::new(args.dry_run, args.diagnostics), [&path]).await;
        loop {
            if let Some(done) = turn.run_plan(plan.clone()).await? {
                return Ok(EditsOutput { notes, ..done.into() });
            }
        }
    }
}

/// A note of the files that import `path`, if no installed server checks imports.
async fn unchecked_importers(context: &Context, path: &WorkspacePath) -> Vec<String> {
    let subject = LanguageFile { path: path.clone(), language: language_of(context, path, None) };
    let checks = |(key, spec): &(&str, &ServerSpec)| {
        !spec.unchecked.contains(&UncheckedAspect::Imports) && context.manager.locate(key, path).is_ok()
    };
    if context.servers_for(&subject, |features| features.diagnostics).iter().any(checks) {
        return Vec::new();
    }
    importers_note(context, path, &BTreeSet::new()).await.into_iter().collect()
}
