//! `lsp_rename`: a new name for a symbol, everywhere.

use std::collections::BTreeSet;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use super::editing::{EditRunOptions, EditingTurn};
use super::move_file::EditsOutput;
use super::proposals;
use crate::analysis::answer::Verdict;
use crate::analysis::ask::fallback;
use crate::analysis::ask::question::{LanguageQuestion, QuestionOutcome};
use crate::analysis::breakage::diagnostics_baseline::RenamedSymbol;
use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::analysis::items::named_places::{abbreviate_list, address_of};
use crate::analysis::target::{Target, path_of};
use crate::lsp::documents::edits::{Proposal, ProposalError, RENAME};
use crate::lsp::session::ask::{AskError, SessionAnswer};
use crate::policy::request::{CallSubjects, Effect};
use crate::syntax;
use crate::syntax::{NoName, OccurrenceSense};
use crate::text::words_in;
use crate::tools::api::address::Address;
use crate::tools::api::tool::{Call, Card, Tool};
use crate::workspace::WorkspacePath;

/// The maximum number of changed files that are parsed again for remaining uses of the old name.
const MAX_REREAD_FILES: usize = 60;
/// The most places of unchanged text that a note names.
const MAX_NAMED_TEXTS: usize = 8;

/// The arguments of `lsp_rename`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(crate) struct RenameArgs {
    /// The symbol.
    #[serde(flatten)]
    pub address: Address,
    /// Unqualified name.
    pub new_name: String,
    /// Only preview.
    pub dry_run: Option<bool>,
    /// Report new diagnostics.
    pub diagnostics: Option<bool>,
}

/// The `lsp_rename` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LspRename;

impl Tool for LspRename {
    type Args = RenameArgs;
    type Output = EditsOutput;

    fn card(&self) -> Card {
        Card::new(
            "lsp_rename",
            "Rename a symbol",
            "Renames a symbol in all files that use it, or in none. Answers diffs and new errors. Not for files (`move`).",
            Effect::Edit,
        )
        .with_rank(16)
        .undoable().in_lsp_profile()
    }

    fn subjects(&self, context: &Context, args: &RenameArgs) -> Result<CallSubjects, ToolError> {
        args.address.subjects(context)
    }

    async fn run(&self, call: Call<'_>, args: RenameArgs) -> Result<EditsOutput, ToolError> {
        let context = call.context;
        let target = args.address.target(context)?;
        must_be_name(context, &target, &args.new_name)?;
        context.install_for_target(&target).await?;
        let mut turn = EditingTurn::without_claim(&call, EditRunOptions::new(args.dry_run, args.diagnostics));
        loop {
            let proposed = propose(context, &target, &args.new_name).await;
            let plan = proposed.and_then(|proposed| {
                let plan = proposals::plan_proposal(context, "lsp_rename", &proposed.proposal)?;
                Ok((proposed, plan))
            });
            let Some((proposed, plan)) = turn.or_replan(plan)? else {
                // The next proposal is for a text that no other edit changes meanwhile.
                turn.claim_files(path_of(&target).ok().and_then(|path| context.path(path).ok())).await;
                continue;
            };
            let ProposedRename { proposal, old_name, mut notes, is_partial } = proposed;
            if let Some(old) = old_name.clone() {
                turn.note_rename(RenamedSymbol { old, new: args.new_name.clone() });
            }
            if let Some(done) = turn.run_plan(plan).await? {
                if let Some(old) = &old_name {
                    notes.extend(unrenamed_text_notes(context, &proposal, old).await);
                }
                let mut output = EditsOutput { notes, ..done.into() };
                // A use that stays unchanged breaks in files that no server checks.
                if is_partial {
                    output.judgement.lower_to_partial();
                }
                return Ok(output);
            }
        }
    }
}

/// A rename that the server proposes.
struct ProposedRename {
    proposal: Proposal,
    /// The old name.
    old_name: Option<String>,
    /// Further notes.
    notes: Vec<String>,
    /// True if it may miss uses.
    is_partial: bool,
}

async fn propose(context: &Context, target: &Target, new_name: &str) -> Result<ProposedRename, ToolError> {
    let deadline = context.deadline(context.config.settings.deadlines.edit);
    let question = LanguageQuestion { method: RENAME, of_file: false };
    let name: Arc<str> = new_name.into();
    let outcome = context
        .question_of_all(target, question, Some(OccurrenceSense::Any), deadline, |session, path, place| {
            let name = name.clone();
            Box::pin(async move {
                let before = session.sync(path).await?.1;
                let value = match session.rename(path, place, &name, deadline).await {
                    Err(ProposalError::Ask(error)) => return Err(error),
                    proposal => proposal,
                };
                let snapshot = session.sync(path).await?.1;
                // The edits are those of one text.
                if snapshot.buffer != before.buffer {
                    return Err(AskError::Unplaced(Box::new(snapshot)));
                }
                Ok(SessionAnswer { value, snapshot, unfinished_work: None, undecodable: 0, left_out: 0 })
            })
        })
        .await?;
    let (proposal, place, notes, is_partial) = match outcome {
        QuestionOutcome::Answered { value, place, mut notes, status, verdict, .. } => {
            // Uses in files unknown to the server stay unchanged.
            notes.extend(status.detail.filter(|_| verdict == Verdict::Partial));
            (value.map_err(refusal)?, place, notes, verdict == Verdict::Partial)
        }
        QuestionOutcome::Unanswered(unanswered) => return Err(fallback::refusal_error(&unanswered.status)),
    };
    // The language of a bare name is known only now.
    if let (Target::Name(_), Some(resolved)) = (target, &place.resolved) {
        must_be_name(context, &Target::File(resolved.place.path.as_str().into()), new_name)?;
    }
    if proposal.is_empty() {
        let symbol = place.resolved.map(|resolved| resolved.symbol).unwrap_or_default();
        let reason = notes.last().filter(|_| is_partial);
        let reason = reason.map(|reason| format!("; {reason}")).unwrap_or_default();
        let what = format!("renaming `{symbol}` to `{name}` changes nothing{reason}");
        return Err(ToolError::nothing_found(what));
    }
    let old_name = place.resolved.and_then(|resolved| words_in(&resolved.symbol).last().map(str::to_owned));
    Ok(ProposedRename { proposal, old_name, notes, is_partial })
}

/// The error of a rename that a server did not propose. If the server refused, the given place or
/// name was wrong.
fn refusal(error: ProposalError) -> ToolError {
    let is_refused = matches!(error, ProposalError::Refused { .. });
    let error = proposals::from_server(error);
    if is_refused { ToolError { code: ErrorCode::InvalidArgs, ..error } } else { error }
}

/// Notes on text that keeps the old name: comments and strings of the changed files, and files that
/// are not code.
async fn unrenamed_text_notes(context: &Context, proposal: &Proposal, name: &str) -> Vec<String> {
    let language_of = |path: &WorkspacePath| context.language_file_unchecked(path.clone()).ok()?.language;
    let changed: Vec<(String, WorkspacePath, String)> = proposal
        .files
        .iter()
        .filter_map(|file| Some((language_of(&file.path)?, file.path.clone(), file.after.clone()?)))
        .take(MAX_REREAD_FILES)
        .collect();
    let paths: BTreeSet<WorkspacePath> = proposal.files.iter().map(|file| file.path.clone()).collect();
    let (old, until) = (name.to_owned(), std::time::Instant::now() + syntax::DEADLINE);
    let found = fallback::run_in_background(context, move |workspace, catalogue| {
        let place = |(language, path, text): &(String, WorkspacePath, String)| {
            let first = syntax::first_quoted_place(language, path, text, &old, until)?;
            Some(address_of(path, first))
        };
        let quoted: Vec<String> = changed.iter().filter_map(place).collect();
        Ok((quoted, syntax::documents_naming(workspace, catalogue, &old, until)?))
    });
    let Ok((quoted, (documents, is_cut))) = found.await else { return Vec::new() };
    let documents = documents.iter().filter(|(path, _)| !paths.contains(path));
    let documents: Vec<String> = documents.map(|(path, first)| address_of(path, *first)).collect();
    let listed = |places: Vec<String>| {
        let count = places.len();
        abbreviate_list(places.into_iter(), count, MAX_NAMED_TEXTS)
    };
    let mut notes = Vec::new();
    if !quoted.is_empty() {
        notes.push(format!("`{name}` remains in comments or strings of: {}", listed(quoted)));
    }
    if !documents.is_empty() {
        let more = if is_cut { " and others" } else { "" };
        let files = match documents.len() {
            1 => "1 file that is".to_owned(),
            several => format!("{several} files that are"),
        };
        notes.push(format!(
            "`{name}` stands in {files} no code, and stays there: {}{more}",
            listed(documents)
        ));
    }
    notes
}

/// Rejects an invalid name in the language of the target: servers propose an edit for it
/// regardless.
fn must_be_name(context: &Context, target: &Target, name: &str) -> Result<(), ToolError> {
    let subject =
        path_of(target).ok().and_then(|path| context.language_file_unchecked(context.path(path).ok()?).ok());
    let language = subject.as_ref().and_then(|subject| subject.language.as_deref());
    let extension = subject.as_ref().and_then(|subject| subject.path.extension());
    let deadline = std::time::Instant::now() + syntax::DEADLINE;
    let refused = |reason| {
        Err(ToolError::new(ErrorCode::InvalidArgs, format!("`{name}` is not a valid name: {reason}")))
    };
    match syntax::can_be_name(language.unwrap_or_default(), extension, name, deadline) {
        Ok(()) => Ok(()),
        Err(NoName::NoIdentifier) => refused("it is not an identifier".to_owned()),
        Err(NoName::Keyword) => refused(format!("it is a keyword of {}", language.unwrap_or("the language"))),
    }
}
