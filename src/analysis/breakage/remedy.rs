//! Remedies for a new error: the signature that is called, related places, quick fixes.

use std::path::Path;
use std::time::Duration;

use tokio::time::Instant;

use super::delta_item::DeltaItem;
use super::impact::language_of;
use crate::analysis::answer::DiagnosticItem;
use crate::analysis::context::{Context, LanguageFile};
use crate::lsp::documents::edits::CODE_ACTION;
use crate::lsp::documents::view::View;
use crate::lsp::model::Severity;
use crate::text::{Buffer, LineColumn, Position, truncate_chars};

/// The most errors of one answer that get remedies.
const MAX_REMEDIED_ERRORS: usize = 5;
/// The most places or fixes listed for each error.
const MAX_REMEDIES_PER_ERROR: usize = 2;
/// The timeout of all remedies.
const REMEDY_TIMEOUT: Duration = Duration::from_millis(300);
/// The longest line of a remedy, in characters.
const MAX_REMEDY_LINE_CHARS: usize = 160;

/// The related places of a finding, one per line.
pub(crate) fn related_places(item: &DiagnosticItem) -> Vec<String> {
    let line = |related: &crate::analysis::answer::RelatedItem| {
        let place = &related.place;
        shorten_line(&format!("{}:{}: {}", place.path, LineColumn::from(place.range.start), related.message))
    };
    item.related.iter().take(MAX_REMEDIES_PER_ERROR).map(line).collect()
}

/// Adds remedies from the running servers, in `view`, to the first errors of `added`.
pub(crate) async fn add_remedies(context: &Context, added: &mut [DeltaItem], view: &View) {
    let deadline = Instant::now() + REMEDY_TIMEOUT;
    let mut reported: Vec<String> = Vec::new();
    for item in added.iter_mut().filter(|item| item.severity == Severity::Error).take(MAX_REMEDIED_ERRORS) {
        let Ok(path) = context.workspace.path(Path::new(&item.path)) else { continue };
        let text = match view.unsaved(&path) {
            Some(unsaved) => Ok(unsaved.text().to_string()),
            None => context.saved_text(&path),
        };
        let Ok(text) = text else { continue };
        let subject = LanguageFile { language: language_of(context, &path, Some(&text)), path };
        let mut lines = Vec::new();
        // The signature may belong to a function in a hidden file.
        if !context.limits.may_hide()
            && let Some(position) = in_call(&Buffer::new(&text), item)
        {
            let signature = signature(context, &subject, position, view, deadline).await;
            // A repeated signature adds nothing.
            lines.extend(signature.filter(|signature| !reported.contains(signature)));
        }
        reported.extend(lines.iter().cloned());
        lines.extend(fix_titles(context, &subject, item, view, deadline).await);
        item.help.extend(lines);
    }
}

/// Copies the help of `remedied` to the same findings in `added`.
pub(crate) fn copy_remedies(remedied: &[DeltaItem], added: &mut [DeltaItem]) {
    let is_same = |one: &DeltaItem, other: &DeltaItem| {
        (&one.path, one.range, &one.code, &one.message)
            == (&other.path, other.range, &other.code, &other.message)
    };
    for item in added {
        if let Some(known) = remedied.iter().find(|known| is_same(known, item)) {
            item.help.clone_from(&known.help);
        }
    }
}

/// The position for a signature request about the call that contains the error.
fn in_call(text: &Buffer, item: &DeltaItem) -> Option<Position> {
    let before = text.slice(item.range);
    if before.ends_with(')') {
        let mut depth = 0_usize;
        for (at, character) in before.char_indices().rev() {
            match character {
                ')' | ']' | '}' => depth += 1,
                '(' | '[' | '{' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return Some(text.position_of_byte(text.byte_offset(item.range.start) + at + 1));
            }
        }
    }
    let words = ["argument", "parameter"];
    words.iter().any(|word| item.message.to_lowercase().contains(word)).then_some(item.range.start)
}

async fn signature(
    context: &Context,
    subject: &LanguageFile,
    position: Position,
    view: &View,
    deadline: Instant,
) -> Option<String> {
    for (server, _) in context.servers_for(subject, |features| features.navigation) {
        let Some(session) = context.manager.running_session(server, &subject.path) else { continue };
        let _view_guard = session.enter_view(view, deadline).await.ok()?;
        let answer = session.signatures(&subject.path, &position, deadline).await.ok()?;
        let mut found = answer.value.into_iter();
        let chosen = found.find(|one| one.active)?;
        return Some(shorten_line(&format!("called: {}", chosen.label)));
    }
    None
}

async fn fix_titles(
    context: &Context,
    subject: &LanguageFile,
    item: &DeltaItem,
    view: &View,
    deadline: Instant,
) -> Vec<String> {
    let mut titles = Vec::new();
    for (server, _) in context.servers_for(subject, |features| features.actions) {
        let Some(session) = context.manager.running_session(server, &subject.path) else { continue };
        let Ok(_view_guard) = session.enter_view(view, deadline).await else { continue };
        let Ok((synced, snapshot)) = session.sync(&subject.path).await else { continue };
        drop(synced);
        if !session.offers(CODE_ACTION, &subject.path, &snapshot.language_id) {
            continue;
        }
        match session.code_actions(&subject.path, item.range, Some("quickfix"), deadline).await {
            Ok(found) => {
                let fit = found.list.into_iter().filter(|action| {
                    action.disabled.is_none()
                        && (action.fixes.is_empty() || action.fixes.contains(&item.message))
                });
                titles.extend(fit.map(|action| shorten_line(&format!("fix: {}", action.title))));
            }
            Err(error) => tracing::debug!(server, "no quick fixes: {error}"),
        }
    }
    titles.truncate(MAX_REMEDIES_PER_ERROR);
    titles
}

fn shorten_line(line: &str) -> String {
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    truncate_chars(&line, MAX_REMEDY_LINE_CHARS).into_owned()
}
