//! `write`: a whole file, new or replaced.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::editing::{
    EditRunOptions, EditingTurn, FileResult, ToolEditResult, must_be_whole, plan_write, read_existing,
};
use crate::analysis::breakage::edit_judgement::EditJudgement;
use crate::analysis::context::Context;
use crate::analysis::error::ToolError;
use crate::policy::request::{CallSubjects, Effect};
use crate::tools::api::tool::{Call, Card, Tool};
use crate::workspace::WorkspacePath;
use crate::workspace::edit::{EditPlan, LineEnds};

/// The arguments of `write`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(crate) struct WriteArgs {
    /// The file; missing folders are created.
    pub path: String,
    /// The whole new text.
    pub content: String,
    /// Only preview.
    pub dry_run: Option<bool>,
    /// Report new diagnostics.
    pub diagnostics: Option<bool>,
}

/// The output of an edit of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct EditOutput {
    /// The file's result.
    #[serde(flatten)]
    pub file: FileResult,
    /// The id that `undo` takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo: Option<String>,
    /// The diagnostics added and removed.
    #[serde(flatten)]
    pub judgement: EditJudgement,
}

impl EditOutput {
    /// The output for an edit of the one file `path`, whose text is `text` now.
    pub(crate) fn new(done: ToolEditResult, path: &WorkspacePath, text: &str) -> Self {
        let unchanged = || FileResult {
            path: path.display(),
            operation: "unchanged".to_owned(),
            from: None,
            size: text.len(),
            additions: 0,
            deletions: 0,
            diff: String::new(),
        };
        let file = done.files.into_iter().next().unwrap_or_else(unchanged);
        Self { file, undo: done.undo, judgement: done.judgement }
    }
}

/// The `write` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WriteTool;

impl Tool for WriteTool {
    type Args = WriteArgs;
    type Output = EditOutput;

    fn card(&self) -> Card {
        Card::new(
            "write",
            "Write a file",
            "Writes a whole file. Answers a diff and new errors, also in callers. For a part of a file use `edit`.",
            Effect::Edit,
        )
        .destructive()
        .idempotent().with_rank(14).undoable()
    }

    fn subjects(&self, context: &Context, args: &WriteArgs) -> Result<CallSubjects, ToolError> {
        Ok(CallSubjects { paths: vec![context.path(args.path.as_ref())?], ..CallSubjects::default() })
    }

    async fn run(&self, call: Call<'_>, args: WriteArgs) -> Result<EditOutput, ToolError> {
        let path = call.context.path(args.path.as_ref())?;
        let file = read_existing(call.context, &path)?;
        must_be_whole(&path, file.as_ref(), &args.content)?;
        let mut plan = EditPlan::new("write");
        plan_write(&mut plan, &path, file.as_ref(), &args.content, LineEnds::OfTheFile);
        let options = EditRunOptions::new(args.dry_run, args.diagnostics);
        let mut turn = EditingTurn::for_whole_file(&call, options, &path).await?;
        loop {
            // A whole text is planned only once: it replaces the content at the call's arrival.
            if let Some(done) = turn.run_plan(plan.clone()).await? {
                return Ok(EditOutput::new(done, &path, &args.content));
            }
        }
    }
}
