//! `mkdir`: a folder with its parents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::editing::run_blocking_edit;
use crate::analysis::context::Context;
use crate::analysis::error::ToolError;
use crate::policy::request::{CallSubjects, Effect};
use crate::tools::api::tool::{Call, Card, Tool};
use crate::workspace::edit::EditPlan;

/// The arguments of `mkdir`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(crate) struct MkdirArgs {
    /// The folder; parents are created too.
    pub path: String,
}

/// The output of `mkdir`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct MkdirOutput {
    /// The folder.
    pub path: String,
    /// The folders that are new, outermost first.
    pub created: Vec<String>,
    /// The id that `undo` takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo: Option<String>,
}

/// The `mkdir` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mkdir;

impl Tool for Mkdir {
    type Args = MkdirArgs;
    type Output = MkdirOutput;

    fn card(&self) -> Card {
        Card::new(
            "mkdir",
            "Make a folder",
            "Creates a folder. `write` creates missing folders itself.",
            Effect::Edit,
        )
        .idempotent()
        .beyond_core()
        .undoable()
    }

    fn subjects(&self, context: &Context, args: &MkdirArgs) -> Result<CallSubjects, ToolError> {
        Ok(CallSubjects { paths: vec![context.path(args.path.as_ref())?], ..CallSubjects::default() })
    }

    async fn run(&self, call: Call<'_>, args: MkdirArgs) -> Result<MkdirOutput, ToolError> {
        let path = call.context.path(args.path.as_ref())?;
        let mut plan = EditPlan::new("mkdir").in_group(call.group);
        plan.create_dir(&path);
        let committed = run_blocking_edit(call.context, &plan, |edits, plan| edits.commit(plan)).await?;
        Ok(MkdirOutput {
            path: path.display(),
            created: committed.created_dirs.iter().map(|path| path.display()).collect(),
            undo: committed.id.map(|id| id.to_string()),
        })
    }
}
