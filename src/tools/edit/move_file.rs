//! `move`: a new name for a file or folder, with updates of its imports.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::editing::{EditRunOptions, EditingTurn, FileResult};
use super::proposals;
use crate::analysis::ask::retry_advice::RetryAdvice;
use crate::analysis::breakage::edit_judgement::EditJudgement;
use crate::analysis::breakage::impact::{importers_note, language_of};
use crate::analysis::context::{Context, LanguageFile};
use crate::analysis::error::ToolError;
use crate::lsp::documents::edits::{Proposal, WILL_RENAME_FILES};
use crate::lsp::documents::view::View;
use crate::policy::request::{CallSubjects, Effect};
use crate::tools::api::tool::{Call, Card, Tool};
use crate::workspace::WorkspacePath;
use crate::workspace::edit::PathPrecondition;

/// The arguments of `move`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(crate) struct MoveArgs {
    /// A file or folder.
    pub from: String,
    /// The new path, not its parent folder.
    pub to: String,
    /// Replace an existing file.
    pub overwrite: Option<bool>,
    /// Update imports (true).
    pub update_imports: Option<bool>,
    /// Only preview.
    pub dry_run: Option<bool>,
    /// Report new diagnostics.
    pub diagnostics: Option<bool>,
}

/// The output of an edit of several files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct EditsOutput {
    /// The result for each file.
    pub results: Vec<FileResult>,
    /// The id that `undo` takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo: Option<String>,
    /// The diagnostics added and removed.
    #[serde(flatten)]
    pub judgement: EditJudgement,
    /// Further notes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl From<super::editing::ToolEditResult> for EditsOutput {
    fn from(done: super::editing::ToolEditResult) -> Self {
        Self { results: done.files, undo: done.undo, judgement: done.judgement, notes: Vec::new() }
    }
}

/// The `move` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MoveTool;

impl Tool for MoveTool {
    type Args = MoveArgs;
    type Output = EditsOutput;

    fn card(&self) -> Card {
        Card::new(
            "move",
            "Move or rename a file",
            "Moves a file or folder and lets language servers update its imports. For one function or class use \
             `move_symbol`. Example: {\"from\": \"shop/cart.py\", \"to\": \"shop/basket.py\"}.",
            Effect::Edit,
        )
        .destructive()
        .undoable().beyond_core()
    }

    fn subjects(&self, context: &Context, args: &MoveArgs) -> Result<CallSubjects, ToolError> {
        let paths = vec![context.path(args.from.as_ref())?, context.path(args.to.as_ref())?];
        Ok(CallSubjects { paths, ..CallSubjects::default() })
    }

    async fn run(&self, call: Call<'_>, args: MoveArgs) -> Result<EditsOutput, ToolError> {
        let context = call.context;
        let (from, to) = (context.path(args.from.as_ref())?, context.path(args.to.as_ref())?);
        let mut turn = EditingTurn::without_claim(&call, EditRunOptions::new(args.dry_run, args.diagnostics));
        loop {
            let mut notes = Vec::new();
            let proposed = match args.update_imports.unwrap_or(true) {
                true => import_updates(context, &from, &to, &mut notes).await,
                false => Ok(Proposal::default()),
            };
            let Some(proposal) = turn.or_replan(proposed)? else { continue };
            let planned = proposals::plan_proposal(context, "move", &proposal);
            let Some(mut plan) = turn.or_replan(planned)? else { continue };
            plan.rename(&from, &to, PathPrecondition::Any, args.overwrite.unwrap_or(false));
            if let Some(done) = turn.run_plan(plan).await? {
                return Ok(EditsOutput { notes, ..done.into() });
            }
        }
    }
}

/// The changes of imports in other files that the servers of the file's language propose. Without a
/// server, the answer has a note. If a server fails, the move fails, because it would leave imports
/// broken.
async fn import_updates(
    context: &Context,
    from: &WorkspacePath,
    to: &WorkspacePath,
    notes: &mut Vec<String>,
) -> Result<Proposal, ToolError> {
    let subject = LanguageFile { path: from.clone(), language: language_of(context, from, None) };
    let deadline = context.deadline(context.config.settings.deadlines.edit);
    context.manager.refresh().await;
    let mut all = Proposal::default();
    let servers = context.servers_for(&subject, |features| features.navigation);
    for (server, _) in servers {
        let session = match context.session(server, &subject, deadline).await {
            Ok(session) => session,
            Err(status) => {
                let reason = status.detail.unwrap_or_default();
                notes.push(format!("imports were not updated: {server}: {reason}"));
                continue;
            }
        };
        if !session.wants_will_rename(from) {
            notes.push(context.unsupported_sentence(server, &subject, WILL_RENAME_FILES));
            continue;
        }
        let moves = [(from.clone(), to.clone())];
        let updates = match session.enter_view(&View::disk(), deadline).await {
            Ok(_view_guard) => {
                // Many servers load a project only once one of its files is open.
                session.sync_if_readable(from).await;
                session.will_rename(&moves, deadline).await
            }
            Err(error) => Err(error.into()),
        };
        match updates {
            Ok(proposal) => all.extend(proposal),
            Err(error) => {
                let option = match context.patience {
                    RetryAdvice::Tool => "set `update_imports: false`",
                    RetryAdvice::Command | RetryAdvice::LoneCommand => "skip imports with --no-imports",
                };
                let hint = format!("nothing was moved; try again, or {option}");
                return Err(proposals::from_server(error).with_hint(hint));
            }
        }
    }
    // An importing file that no server changed may break.
    let updated = all.files.iter().map(|file| &file.path).collect();
    notes.extend(importers_note(context, from, &updated).await);
    Ok(all)
}
