//! Declarations that a difference removes, renames or changes, and the places that use them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::output::{InterfaceChange, InterfaceChangeKind};
use crate::analysis::breakage::declaration_changes::{SymbolWithOwner, module_name, visible_symbols};
use crate::analysis::breakage::edited_text::EditedText;
use crate::analysis::breakage::impact::{language_of, navigating_session, occurrences};
use crate::analysis::context::{Context, LanguageFile};
use crate::analysis::items::named_places::address_of;
use crate::analysis::state_files::run_blocking;
use crate::lsp::documents::view::View;
use crate::lsp::model::{FileRef, Location, Symbol};
use crate::lsp::session::operations::Navigation;
use crate::syntax;
use crate::syntax::test_conventions::is_test;
use crate::text::{LineMap, Position, truncate_chars};
use crate::workspace::WorkspacePath;

/// The maximum number of listed changes.
const MAX_INTERFACE_CHANGES: usize = 200;
/// The most changes whose users are requested.
const MAX_USER_QUERIES: usize = 60;
/// The most users listed for one change.
const MAX_NAMED_USERS: usize = 10;
/// The longest head that is shown, in characters.
const MAX_HEAD_CHARS: usize = 200;
/// The time limit for parsing one text.
const INTERFACE_PARSE_TIMEOUT: Duration = Duration::from_secs(2);
/// The time limit for parsing all texts.
const INTERFACES_TIMEOUT: Duration = Duration::from_secs(20);
/// The most pairs of declarations that are compared to detect renames.
const MAX_RENAME_PAIRS: usize = 20_000;
/// The timeout of the search for users in total.
const USERS_TIMEOUT: Duration = Duration::from_secs(30);
/// The most lines of a declaration that are compared.
const MAX_BODY_LINES: usize = 60;
/// The number of equal lines out of ten for two bodies to count as a rename.
const RENAMED_LINES_IN_TEN: usize = 6;

/// A change, and the positions for the request of its users.
struct FoundChange {
    change: InterfaceChange,
    /// The unqualified old name.
    name: String,
    path: WorkspacePath,
    language: String,
    /// The position of its name before.
    before: Position,
    /// The position of its name now; `None` if it was removed.
    after: Option<Position>,
}

/// The changes of `edits`, which are on disk, in the order of their files. The flag is true if the
/// list is complete. Tests are not interfaces.
pub(super) async fn changed_interfaces(
    context: &Context,
    edits: &[EditedText],
) -> (Vec<InterfaceChange>, bool) {
    let (mut found, mut is_all) = found_changes(context, edits).await;
    is_all &= found.len() <= MAX_INTERFACE_CHANGES;
    found.truncate(MAX_INTERFACE_CHANGES);
    let lines = line_maps(edits);
    let deadline = Instant::now() + USERS_TIMEOUT;
    for one in found.iter_mut().take(MAX_USER_QUERIES) {
        let edit = edits.iter().find(|edit| edit.path == one.path && edit.after.is_some());
        let places = match (one.after, edit) {
            (Some(at), _) => users(context, one, at, &View::disk(), deadline).await,
            // The declaration was removed: the server gets the old text of its file, and the
            // present text of all others.
            (None, Some(edit)) => {
                let old = edit.before.as_deref().map(|before| (edit.path.clone(), before.into()));
                let places = users(context, one, one.before, &View::disk().with_texts(old), deadline).await;
                let now = |places| still_there(context, (&one.path, lines.get(&one.path)), &one.name, places);
                places.map(now)
            }
            // No server can be shown a deleted file. The text shows which files name its
            // declarations and the file.
            (None, None) => timeout_at(deadline, users_by_text(context, one)).await.ok().flatten(),
        };
        let Some(places) = places else { continue };
        let mut places: Vec<_> = places.into_iter().collect();
        places.dedup_by_key(|(path, at)| (path.clone(), at.line));
        one.change.user_count = Some(places.len());
        let named = places.iter().take(MAX_NAMED_USERS);
        one.change.users = named.map(|(path, at)| address_of(path, *at)).collect();
    }
    (found.into_iter().map(|one| one.change).collect(), is_all)
}

/// The changes without their users, by file and line. The flag is true if the list is complete.
async fn found_changes(context: &Context, edits: &[EditedText]) -> (Vec<FoundChange>, bool) {
    let is_interface = |edit: &&EditedText| !is_test(&edit.path.display().split('/').collect::<Vec<_>>());
    let with_language = |edit: &EditedText| {
        let path = edit.renamed_from.as_ref().unwrap_or(&edit.path);
        Some((language_of(context, path, edit.before.as_deref())?, edit.clone()))
    };
    let edits: Vec<(String, EditedText)> =
        edits.iter().filter(is_interface).filter_map(with_language).collect();
    let until = std::time::Instant::now() + INTERFACES_TIMEOUT;
    let compare = move || {
        let (mut found, mut is_all) = (Vec::new(), true);
        for (language, edit) in &edits {
            if std::time::Instant::now() > until {
                is_all = false;
                break;
            }
            found.extend(changes_of(language, edit));
        }
        found.sort_by(|a, b| (&a.change.path, a.change.at).cmp(&(&b.change.path, b.change.at)));
        Ok((found, is_all))
    };
    run_blocking(compare).await.unwrap_or_default()
}

fn line_maps(edits: &[EditedText]) -> BTreeMap<&WorkspacePath, LineMap> {
    let map = |edit: &EditedText| Some(LineMap::between(edit.before.as_ref()?, edit.after.as_ref()?));
    edits.iter().filter_map(|edit| Some((&edit.path, map(edit)?))).collect()
}

/// The places that refer to the name at `at` in `view`, without the definition itself; `None` if
/// the server does not know all.
async fn users(
    context: &Context,
    one: &FoundChange,
    at: Position,
    view: &View,
    deadline: Instant,
) -> Option<BTreeSet<(WorkspacePath, Position)>> {
    let subject = LanguageFile { path: one.path.clone(), language: Some(one.language.clone()) };
    let session = navigating_session(context, &subject, deadline).await?;
    let _view_guard = session.enter_view(view, deadline).await.ok()?;
    let answer = session.navigate(Navigation::References, &one.path, &at, deadline).await.ok()?;
    if answer.unfinished_work.is_some() {
        return None;
    }
    let place = |location: Location| match location.file {
        FileRef::Inside(path) => Some((path, location.range.start)),
        FileRef::Outside(_) | FileRef::Virtual(_) => None,
    };
    let places: BTreeSet<_> = answer.value.into_iter().filter_map(place).collect();
    Some(places.into_iter().filter(|(path, used)| !(*path == one.path && used.line == at.line)).collect())
}

/// The places that name the declaration of a deleted file, in files that name the file as well;
/// `None` if the search was cut short.
async fn users_by_text(context: &Context, one: &FoundChange) -> Option<BTreeSet<(WorkspacePath, Position)>> {
    let module = module_name(&one.path)?;
    let names = BTreeSet::from([one.name.clone(), module.clone()]);
    let (found, cut) = occurrences(context, &one.language, names, &BTreeSet::new()).await;
    let near = found.into_iter().filter(|(_, hits)| hits.iter().any(|hit| hit.name == module));
    let places = near.flat_map(|(path, hits)| {
        let meant = hits.into_iter().filter(|hit| hit.name == one.name);
        meant.map(|hit| (path.clone(), hit.start)).collect::<Vec<_>>()
    });
    (!cut).then(|| places.collect())
}

/// The present positions of `places` whose lines still have the name. Places in `own` are positions
/// in its earlier text.
fn still_there(
    context: &Context,
    (own, lines): (&WorkspacePath, Option<&LineMap>),
    name: &str,
    places: BTreeSet<(WorkspacePath, Position)>,
) -> BTreeSet<(WorkspacePath, Position)> {
    let now = |(path, at): (WorkspacePath, Position)| {
        let line = match lines.filter(|_| path == *own) {
            Some(lines) => lines.new_line(at.line)?,
            None => at.line,
        };
        let text = context.text(&path).ok()?;
        text.line(line)?.contains(name).then_some((path, Position { line, ..at }))
    };
    places.into_iter().filter_map(now).collect()
}

fn changes_of(language: &str, edit: &EditedText) -> Vec<FoundChange> {
    let old_path = edit.renamed_from.as_ref().unwrap_or(&edit.path);
    let Some(was) = &edit.before else { return Vec::new() };
    let outline = |path: &WorkspacePath, text: &str| {
        let until = std::time::Instant::now() + INTERFACE_PARSE_TIMEOUT;
        syntax::symbols_in(language, path, text, until)
    };
    let Some(before) = outline(old_path, was) else { return Vec::new() };
    let is = edit.after.as_deref().unwrap_or_default();
    let Some(after) = outline(&edit.path, is) else { return Vec::new() };
    let (before, after) = (visible_symbols(&before), visible_symbols(&after));
    let renamed = renamed_declarations((was, &before), (is, &after));
    let names: BTreeSet<&str> = after.keys().map(|(name, _)| name.as_str()).collect();
    let owner_went = |name: &str| owner(name).is_some_and(|owner| !names.contains(owner));
    let mut found = Vec::new();
    for ((name, nth), known) in before.iter().filter(|((name, _), _)| !owner_went(name)) {
        let symbol = known.symbol;
        let now = after.get(&(name.clone(), *nth));
        let (change, now) = match now {
            Some(now) if now.symbol.detail == symbol.detail => continue,
            Some(now) => (InterfaceChangeKind::Changed, Some((name, *now))),
            None => match renamed.get(&(name.as_str(), *nth)) {
                Some(&(other, now)) => (InterfaceChangeKind::Renamed, Some((other, now))),
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
                at,
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
            language: language.to_owned(),
            before: symbol.selection.start,
            // After a rename, others may still use the old name.
            after: (change == InterfaceChangeKind::Changed).then_some(at),
        });
    }
    found
}

/// The container of a declaration.
fn owner(name: &str) -> Option<&str> {
    name.rsplit_once('.').map(|(owner, _)| owner)
}

/// The declarations of a file by name, from [`visible_symbols`].
type Declarations<'a> = BTreeMap<(String, usize), SymbolWithOwner<'a>>;

/// The removed declarations that exist under a new name: same kind, same container, mostly the same
/// lines. The keys are the old names.
fn renamed_declarations<'a>(
    (was, before): (&str, &'a Declarations<'a>),
    (is, after): (&str, &'a Declarations<'a>),
) -> BTreeMap<(&'a str, usize), (&'a String, SymbolWithOwner<'a>)> {
    let removed: Vec<_> = before.iter().filter(|(key, _)| !after.contains_key(*key)).collect();
    let new: Vec<_> = after.iter().filter(|(key, _)| !before.contains_key(*key)).collect();
    if removed.len().saturating_mul(new.len()) > MAX_RENAME_PAIRS {
        return BTreeMap::new();
    }
    let (was, is): (Vec<&str>, Vec<&str>) = (was.lines().collect(), is.lines().collect());
    let new: Vec<_> =
        new.into_iter().map(|(key, known)| (key, known, body_lines(known.symbol, &is))).collect();
    let mut renamed = BTreeMap::new();
    for ((name, nth), known) in removed {
        let old = body_lines(known.symbol, &was);
        let is_it = |(other, now, lines): &&(&(String, usize), &SymbolWithOwner<'_>, Vec<String>)| {
            let same = old.iter().filter(|line| lines.contains(line)).count();
            known.symbol.kind == now.symbol.kind
                && owner(name) == owner(&other.0)
                && same * 10 >= old.len().max(lines.len()).max(1) * RENAMED_LINES_IN_TEN
        };
        if let Some((other, now, _)) = new.iter().find(is_it) {
            renamed.insert((name.as_str(), *nth), (&other.0, **now));
        }
    }
    renamed
}

/// The lines of a declaration without its own name, at most [`MAX_BODY_LINES`].
fn body_lines(symbol: &Symbol, text: &[&str]) -> Vec<String> {
    let (first, last) = (symbol.range.start.line as usize, symbol.range.end.line as usize);
    let lines = text.iter().skip(first).take((last + 1).saturating_sub(first).min(MAX_BODY_LINES));
    let without_name = lines.map(|line| line.trim().replace(&symbol.name, "\u{0}"));
    without_name.filter(|line| !line.is_empty()).collect()
}

fn shortened_head(head: &str) -> String {
    let words: Vec<&str> = head.split_whitespace().collect();
    truncate_chars(&words.join(" "), MAX_HEAD_CHARS).into_owned()
}
