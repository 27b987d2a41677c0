//! Conversion of a server's proposal to an edit plan, checked against the disk.

use super::editing::{plan_write, read_existing};
use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::lsp::documents::edits::{Proposal, ProposalError, ProposedFile, ProposedFolderChange};
use crate::lsp::session::ask::AskError;
use crate::workspace::TextFile;
use crate::workspace::edit::{EditPlan, LineEnds, PathPrecondition};

/// A plan with the title `title` for all changes of `proposal`.
///
/// # Errors
/// `conflict` if a file differs from the text for which the server computed the change.
pub(crate) fn plan_proposal(
    context: &Context,
    title: &str,
    proposal: &Proposal,
) -> Result<EditPlan, ToolError> {
    let mut plan = EditPlan::new(title);
    proposal.files.iter().try_for_each(|file| add_file(context, &mut plan, file))?;
    for change in &proposal.folders {
        match change {
            ProposedFolderChange::Rename { from, to } => plan.rename(from, to, PathPrecondition::Any, false),
            ProposedFolderChange::Delete { path, recursive: true } => plan.delete_tree(path),
            ProposedFolderChange::Delete { path, recursive: false } => {
                plan.delete(path, PathPrecondition::Any)
            }
        };
    }
    Ok(plan)
}

fn add_file(context: &Context, plan: &mut EditPlan, file: &ProposedFile) -> Result<(), ToolError> {
    let old = file.renamed_from.as_ref().unwrap_or(&file.path);
    let there = read_existing(context, old)?;
    if there.as_ref().map(|there| &there.text) != file.before.as_ref() {
        let what = format!("{} changed while the edit was computed; nothing was changed", old.display());
        return Err(ToolError::new(ErrorCode::Conflict, what).with_hint("ask again"));
    }
    if let (Some(from), Some(there)) = (&file.renamed_from, &there) {
        plan.rename(from, &file.path, PathPrecondition::Hash(there.content_hash()), false);
        if let Some(after) = file.after.as_ref().filter(|after| **after != there.text) {
            plan.write(&file.path, there.with_text(after, LineEnds::AsGiven), PathPrecondition::Any);
        }
        return Ok(());
    }
    match (&file.after, &there) {
        (Some(after), there) => plan_write(plan, &file.path, there.as_ref(), after, LineEnds::AsGiven),
        (None, Some(there)) => delete(plan, file, there),
        (None, None) => {}
    }
    Ok(())
}

fn delete(plan: &mut EditPlan, file: &ProposedFile, there: &TextFile) {
    plan.delete(&file.path, PathPrecondition::Hash(there.content_hash()));
}

/// The tool error for an edit that a server did not propose.
pub(crate) fn from_server(error: ProposalError) -> ToolError {
    let code = match &error {
        ProposalError::Stale { .. } | ProposalError::Ask(AskError::Moving { .. }) => ErrorCode::Conflict,
        ProposalError::Outside { .. } => ErrorCode::OutsideWorkspace,
        ProposalError::Busy { .. } => ErrorCode::Timeout,
        ProposalError::Ask(_) | ProposalError::Refused { .. } | ProposalError::Unusable { .. } => {
            ErrorCode::ServerFailed
        }
        ProposalError::Read(_) => ErrorCode::NotText,
    };
    ToolError::new(code, error.to_string())
}
