//! Quick fixes of all findings of one rule in a file, made one after another in unsaved text until
//! none is left.

use tokio::time::Instant;

use crate::analysis::answer::{DiagnosticItem, Verdict};
use crate::analysis::check::file_check::{FileCheckOptions, FindingsReuse, check_file};
use crate::analysis::context::{Context, LanguageFile};
use crate::analysis::error::{ErrorCode, ToolError};
use crate::lsp::documents::edits::{Proposal, ProposedFile};
use crate::lsp::documents::view::View;
use crate::text::{Buffer, LineColumn, TextChange, quoted_list};
use crate::tools::edit::lsp_code_actions::{
    CodeActionsArgs, ServerCodeAction, collect_code_actions, left_out_note,
};

/// The most rounds. Fixes that overlap are made in further rounds.
const MAX_FIX_ROUNDS: usize = 20;
/// The most findings of one file that are fixed in one round.
const MAX_FIXES_PER_ROUND: usize = 200;

/// The quick fixes to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RuleFix {
    /// The code of the findings.
    pub(super) rule: String,
    /// The beginning of the quick fix's title; empty for the one that the server prefers.
    pub(super) title: String,
}

/// The changes of one round in a file.
#[derive(Default)]
struct FixRound {
    /// The changes, in the order of the text; they do not overlap.
    changes: Vec<TextChange>,
    /// True if fixes that overlap others or exceed the limit are left for another round.
    has_rest: bool,
    notes: Vec<String>,
}

/// The edit that fixes all findings of a rule in `file`, and notes.
///
/// # Errors
/// If no server checked the file, and if the requested fix is ambiguous.
pub(super) async fn propose_rule_fixes(
    context: &Context,
    wanted: &RuleFix,
    file: &LanguageFile,
) -> Result<(Proposal, Vec<String>), ToolError> {
    let deadline = context.deadline(context.config.settings.deadlines.edit);
    context.check_saved(std::iter::once(&file.path))?;
    let before = context.saved_text(&file.path)?.to_string();
    let (mut text, mut notes) = (before.clone(), Vec::new());
    for round in 0..MAX_FIX_ROUNDS {
        let view = match round {
            0 => context.view.clone(),
            _ => context.view.with_texts([(file.path.clone(), text.as_str().into())]),
        };
        let found = Box::pin(fix_round(context, wanted, file, view, deadline)).await?;
        notes = found.notes;
        let mut buffer = Buffer::new(&text);
        found.changes.iter().rev().for_each(|change| buffer.apply(change));
        text = buffer.to_string();
        if found.changes.is_empty() || !found.has_rest {
            break;
        }
    }
    if text == before {
        return Ok((Proposal::default(), notes));
    }
    let changed =
        ProposedFile { path: file.path.clone(), renamed_from: None, before: Some(before), after: Some(text) };
    Ok((Proposal { files: vec![changed], ..Proposal::default() }, notes))
}

async fn fix_round(
    context: &Context,
    wanted: &RuleFix,
    file: &LanguageFile,
    view: View,
    deadline: Instant,
) -> Result<FixRound, ToolError> {
    let context = &Context { view: view.clone(), ..context.clone() };
    let options = FileCheckOptions {
        view,
        until: Some(deadline),
        reuse: FindingsReuse::Recent,
        ..FileCheckOptions::default()
    };
    let report = check_file(context, file.clone(), &options).await?;
    if report.verdict == Verdict::NoData {
        let reason = report.detail.unwrap_or_else(|| "no server checked it".to_owned());
        return Err(ToolError::new(ErrorCode::ServerFailed, format!("{}: {reason}", file.path.display())));
    }
    let mut round = FixRound { notes: report.notes, ..FixRound::default() };
    let findings: Vec<&DiagnosticItem> =
        report.items.iter().filter(|item| item.code.as_deref() == Some(wanted.rule.as_str())).collect();
    round.has_rest = findings.len() > MAX_FIXES_PER_ROUND;
    for finding in findings.into_iter().take(MAX_FIXES_PER_ROUND) {
        add_fix(context, wanted, file, finding, &mut round, deadline).await?;
    }
    round.changes.sort_by_key(|change| change.range.start);
    Ok(round)
}

/// Adds the fix of `finding` to `round`, if it does not overlap the existing ones.
async fn add_fix(
    context: &Context,
    wanted: &RuleFix,
    file: &LanguageFile,
    finding: &DiagnosticItem,
    round: &mut FixRound,
    deadline: Instant,
) -> Result<(), ToolError> {
    let start = finding.range.start;
    let args = CodeActionsArgs {
        kind: Some("quickfix".to_owned()),
        line: Some(start.line),
        character: Some(start.character),
        ..CodeActionsArgs::default()
    };
    let offers = collect_code_actions(context, file, &args, deadline).await?;
    let Some(chosen) = chosen_fix(offers.found, wanted, finding)? else {
        round.notes.push(format!(
            "{}:{}: no quick fix: {}",
            finding.path,
            LineColumn::from(start),
            finding.message
        ));
        return Ok(());
    };
    let proposal = chosen.proposal(context, deadline).await?;
    round.notes.extend(left_out_note(&proposal));
    let change = match proposal.files.as_slice() {
        [only] if only.path == file.path && only.renamed_from.is_none() && proposal.folders.is_empty() => {
            match (&only.before, &only.after) {
                (Some(before), Some(after)) => TextChange::to_text(&Buffer::new(before), after),
                _ => None,
            }
        }
        [] if proposal.folders.is_empty() => None,
        _ => {
            let what = format!("`{}` changes other files too, and was skipped", chosen.action.title);
            round.notes.push(format!("{}:{}: {what}", finding.path, LineColumn::from(start)));
            return Ok(());
        }
    };
    let Some(change) = change else { return Ok(()) };
    let is_apart =
        |other: &TextChange| change.range.end < other.range.start || other.range.end < change.range.start;
    match round.changes.iter().all(is_apart) {
        true => round.changes.push(change),
        false => round.has_rest = true,
    }
    Ok(())
}

/// The requested fix: the one with the given title, else the one that the server prefers. If the
/// server prefers none, the remaining fix is usually a comment that suppresses the finding, which
/// is made only on request.
fn chosen_fix(
    offers: Vec<ServerCodeAction>,
    wanted: &RuleFix,
    finding: &DiagnosticItem,
) -> Result<Option<ServerCodeAction>, ToolError> {
    let cures = |offer: &ServerCodeAction| {
        offer.action.disabled.is_none() && offer.action.fixes.contains(&finding.message)
    };
    let mut fitting: Vec<ServerCodeAction> = offers.into_iter().filter(cures).collect();
    let titles: Vec<String> = fitting.iter().map(|offer| offer.action.title.clone()).collect();
    let is_meant = |offer: &ServerCodeAction| match wanted.title.as_str() {
        "" => offer.action.preferred,
        title => offer.action.title.starts_with(title),
    };
    if let Some(meant) = fitting.iter().position(is_meant) {
        return Ok(Some(fitting.swap_remove(meant)));
    }
    if titles.is_empty() || !wanted.title.is_empty() {
        return Ok(None);
    }
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    let at = format!("{}:{}", finding.path, LineColumn::from(finding.range.start));
    let what = format!(
        "{at}: the server prefers no quick fix of {}; it offers {}",
        wanted.rule,
        quoted_list(&titles)
    );
    Err(ToolError::new(ErrorCode::InvalidArgs, what).with_hint("give the start of its title in `title`"))
}
