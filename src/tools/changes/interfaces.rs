//! Declarations that a difference removes, renames or changes, and the places that use them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tokio::time::Instant;

use super::output::{InterfaceChange, InterfaceChangeKind};
use crate::hints;
use crate::hints::test_conventions::is_test;
use crate::lsp::model::{FileRef, Location, Symbol};
use crate::lsp::operations::Navigation;
use crate::lsp::view::View;
use crate::text::{LineMap, Position, truncate_chars};
use crate::tools::context::{Context, LanguageFile};
use crate::tools::declaration_changes::{SymbolWithOwner, module_name, visible_symbols};
use crate::tools::impact::{EditedText, language_of, navigating_session, occurrences};
use crate::workspace::WorkspacePath;

/// The most changes that are told.
const MAX_INTERFACE_CHANGES: usize = 200;
/// The most of them whose users are asked for.
const MAX_USER_QUERIES: usize = 60;
/// The most users that one of them names.
const MAX_NAMED_USERS: usize = 10;
/// The longest head that is shown, in characters.
const MAX_HEAD_CHARS: usize = 200;
/// The time limit for parsing one text.
const INTERFACE_PARSE_TIMEOUT: Duration = Duration::from_secs(2);
/// How long the search for users may take in all.
const USERS_TIMEOUT: Duration = Duration::from_secs(30);
/// How much of two bodies must be the same for one to be the other by a new name: so many in ten lines.
const RENAMED_LINES_IN_TEN: usize = 6;

/// A change, and where its users are asked for.
struct FoundChange {
    change: InterfaceChange,
    /// Its name alone, as it was.
    name: String,
    path: WorkspacePath,
    language: String,
    /// Where its name stands before.
    before: Position,
    /// The same now; `None` where it is gone.
    after: Option<Position>,
}

/// The changes of `edits`, which are on disk, in the order of their files. Tests are nobody's interface.
pub(super) async fn changed_interfaces(context: &Context, edits: &[EditedText]) -> Vec<InterfaceChange> {
    let mut found: Vec<FoundChange> = edits
        .iter()
        .filter(|edit| !is_test(&edit.path.display().split('/').collect::<Vec<_>>()))
        .flat_map(|edit| changes_of(context, edit))
        .collect();
    found.sort_by(|a, b| (&a.change.path, a.change.line).cmp(&(&b.change.path, b.change.line)));
    found.truncate(MAX_INTERFACE_CHANGES);
    let deadline = Instant::now() + USERS_TIMEOUT;
    // Those that are still there are asked about as they are; the others as they were, all in one go, since a server has one text at
    // a time.
    let old_texts = edits.iter().filter(|edit| edit.after.is_some() && edit.renamed_from.is_none());
    let old_texts = old_texts.filter_map(|edit| Some((edit.path.clone(), edit.before.as_deref()?.into())));
    let old = View::disk().with_texts(old_texts);
    for (is_gone, view) in [(false, View::disk()), (true, old)] {
        let asked = found.iter_mut().filter(|one| one.after.is_none() == is_gone).take(MAX_USER_QUERIES);
        for one in asked {
            let is_there = edits.iter().any(|edit| edit.path == one.path && edit.after.is_some());
            let at = one.after.unwrap_or(one.before);
            let places = match is_there {
                true => users(context, one, at, &view, deadline).await,
                // No server can be shown a file that is gone; the text shows who names what was in it, and names the file.
                false => users_by_text(context, one).await,
            };
            if let Some(places) = places {
                let places = match is_gone && is_there {
                    true => still_there(context, edits, &one.name, places),
                    false => places,
                };
                one.change.user_count = Some(places.len());
                one.change.users = places
                    .iter()
                    .take(MAX_NAMED_USERS)
                    .map(|(path, line)| format!("{}:{}", path.display(), line + 1))
                    .collect();
            }
        }
    }
    found.into_iter().map(|one| one.change).collect()
}

/// The places that refer to the name at `at` in `view`, but for the definition itself; `None` where the server does not know all.
async fn users(
    context: &Context,
    one: &FoundChange,
    at: Position,
    view: &View,
    deadline: Instant,
) -> Option<BTreeSet<(WorkspacePath, u32)>> {
    let subject = LanguageFile { path: one.path.clone(), language: Some(one.language.clone()) };
    let session = navigating_session(context, &subject, false, deadline).await?;
    let _viewing = session.enter_view(view, deadline).await.ok()?;
    let asked = session.navigate(Navigation::References, &one.path, at, deadline).await.ok()?;
    if asked.unfinished_work.is_some() {
        return None;
    }
    let place = |location: Location| match location.file {
        FileRef::Inside(path) => Some((path, location.range.start.line)),
        FileRef::Outside(_) | FileRef::Virtual(_) => None,
    };
    let places: BTreeSet<_> = asked.value.into_iter().filter_map(place).collect();
    Some(places.into_iter().filter(|(path, line)| !(*path == one.path && *line == at.line)).collect())
}

/// The places that name what was in a file that is gone, in files that name the file as well; `None` where the search was cut short.
async fn users_by_text(context: &Context, one: &FoundChange) -> Option<BTreeSet<(WorkspacePath, u32)>> {
    let module = module_name(&one.path)?;
    let names = BTreeSet::from([one.name.clone(), module.clone()]);
    let (found, cut) = occurrences(context, &one.language, names, &BTreeSet::new()).await;
    let near = found.into_iter().filter(|(_, hits)| hits.iter().any(|hit| hit.name == module));
    let places = near.flat_map(|(path, hits)| {
        let meant = hits.into_iter().filter(|hit| hit.name == one.name);
        meant.map(|hit| (path.clone(), hit.line_number)).collect::<Vec<_>>()
    });
    (!cut).then(|| places.collect())
}

/// Where `places`, which are of the earlier texts, stand now, as far as their lines still have the name.
fn still_there(
    context: &Context,
    edits: &[EditedText],
    name: &str,
    places: BTreeSet<(WorkspacePath, u32)>,
) -> BTreeSet<(WorkspacePath, u32)> {
    let mut maps: BTreeMap<&WorkspacePath, LineMap> = BTreeMap::new();
    for edit in edits {
        if let (Some(before), Some(after)) = (&edit.before, &edit.after) {
            maps.insert(&edit.path, LineMap::between(before, after));
        }
    }
    let now = |(path, line): (WorkspacePath, u32)| {
        let line = match maps.get(&path) {
            Some(lines) => lines.new_line(line)?,
            None => line,
        };
        let text = context.text(&path).ok()?;
        text.line(line)?.contains(name).then_some((path, line))
    };
    places.into_iter().filter_map(now).collect()
}

fn changes_of(context: &Context, edit: &EditedText) -> Vec<FoundChange> {
    let old_path = edit.renamed_from.as_ref().unwrap_or(&edit.path);
    let (Some(was), Some(language)) = (&edit.before, language_of(context, old_path, edit.before.as_deref()))
    else {
        return Vec::new();
    };
    let outline = |path: &WorkspacePath, text: &str| {
        let until = std::time::Instant::now() + INTERFACE_PARSE_TIMEOUT;
        hints::symbols_in(&language, path, text, until)
    };
    let Some(before) = outline(old_path, was) else { return Vec::new() };
    let is = edit.after.as_deref().unwrap_or_default();
    let Some(after) = outline(&edit.path, is) else { return Vec::new() };
    let (before, after) = (visible_symbols(&before), visible_symbols(&after));
    let new: Vec<_> = after.iter().filter(|(key, _)| !before.contains_key(*key)).collect();
    let owner_went = |name: &str| {
        name.rsplit_once('.').is_some_and(|(owner, _)| !after.keys().any(|(known, _)| known == owner))
    };
    let mut found = Vec::new();
    for ((name, nth), known) in before.iter().filter(|((name, _), _)| !owner_went(name)) {
        let symbol = known.symbol;
        let now = after.get(&(name.clone(), *nth));
        let (change, now) = match now {
            Some(now) if now.symbol.detail == symbol.detail => continue,
            Some(now) => (InterfaceChangeKind::Changed, Some((name, *now))),
            None => match new.iter().find(|((other, _), it)| is_renamed((name, known, was), (other, it, is)))
            {
                Some(((other, _), now)) => (InterfaceChangeKind::Renamed, Some((other, **now))),
                None => (InterfaceChangeKind::Removed, None),
            },
        };
        let path = match now {
            Some(_) => edit.path.clone(),
            None => old_path.clone(),
        };
        let at = now.map_or(symbol.selection.start, |(_, now)| now.symbol.selection.start);
        let head = |symbol: &Symbol| symbol.detail.as_deref().map(shortened_head);
        found.push(FoundChange {
            change: InterfaceChange {
                path: path.display(),
                line: at.line,
                name: name.clone(),
                kind: symbol.kind.name().to_owned(),
                change,
                now: now.map(|(now, _)| now.clone()).filter(|now| now != name),
                before: head(symbol),
                after: now.and_then(|(_, now)| head(now.symbol)),
                users: Vec::new(),
                user_count: None,
            },
            name: symbol.name.clone(),
            path,
            language: language.clone(),
            before: symbol.selection.start,
            // Of a renamed one the old name is what others may still use.
            after: (change == InterfaceChangeKind::Changed).then_some(at),
        });
    }
    found
}

/// Whether one declaration is another by a new name: of the same kind, in the same place, with much the same lines.
fn is_renamed(
    (name, known, was): (&str, &SymbolWithOwner<'_>, &str),
    (other, now, is): (&str, &SymbolWithOwner<'_>, &str),
) -> bool {
    let owner = |name: &str| name.rsplit_once('.').map(|(owner, _)| owner.to_owned());
    if known.symbol.kind != now.symbol.kind || owner(name) != owner(other) {
        return false;
    }
    let lines = |symbol: &Symbol, text: &str, own_name: &str| -> Vec<String> {
        let (first, last) = (symbol.range.start.line as usize, symbol.range.end.line as usize);
        let lines = text.lines().skip(first).take(last + 1 - first);
        lines.map(|line| line.trim().replace(own_name, "\u{0}")).filter(|line| !line.is_empty()).collect()
    };
    let old = lines(known.symbol, was, &known.symbol.name);
    let new = lines(now.symbol, is, &now.symbol.name);
    let same = old.iter().filter(|line| new.contains(line)).count();
    same * 10 >= old.len().max(new.len()).max(1) * RENAMED_LINES_IN_TEN
}

fn shortened_head(head: &str) -> String {
    let words: Vec<&str> = head.split_whitespace().collect();
    truncate_chars(&words.join(" "), MAX_HEAD_CHARS).into_owned()
}
