//! Which other files an edit may break: those that name what it changes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::context::{Context, Subject};
use super::fallback::in_background;
use crate::config::spec::Language;
use crate::hints;
use crate::lsp::model::Symbol;
use crate::text::{LineMap, Position, Range};
use crate::workspace::{SearchQuery, WorkspacePath};

/// A file before and after an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditedText {
    /// The file; where it is renamed, its new name.
    pub path: WorkspacePath,
    /// Its name before, where that is another.
    pub renamed_from: Option<WorkspacePath>,
    /// Its text before; `None` where there was no such file.
    pub before: Option<String>,
    /// Its text after; `None` where it is deleted.
    pub after: Option<String>,
}

/// So many other files are looked at.
const MOST_FILES: usize = 12;
/// So many changed names are looked for.
const MOST_NAMES: usize = 24;
/// So long the look may take.
const LOOK: Duration = Duration::from_millis(400);

/// Files that name a definition that `edits` change, most mentions first, and whether there may be more.
pub async fn dependents(context: &Context, edits: &[EditedText]) -> (Vec<Subject>, bool) {
    let mut names: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for edit in edits {
        let old = edit.renamed_from.as_ref().unwrap_or(&edit.path);
        let (Some(before), Some(language)) =
            (&edit.before, language_of(context, old, edit.before.as_deref()))
        else {
            continue;
        };
        let changed = changed_names(&language, old, edit, before);
        names.entry(language).or_default().extend(changed.into_iter().take(MOST_NAMES));
    }
    let edited: BTreeSet<WorkspacePath> =
        edits.iter().flat_map(|edit| edit.renamed_from.iter().chain([&edit.path])).cloned().collect();
    let (mut found, mut cut) = (Vec::new(), false);
    for (language, names) in names {
        if names.is_empty() {
            continue;
        }
        let extensions = related_extensions(context, &language);
        let (paths, more) = mentioning(context, names, extensions, &edited).await;
        cut |= more;
        found.extend(paths);
    }
    found.sort_by(|(_, a), (_, b)| b.cmp(a));
    cut |= found.len() > MOST_FILES;
    let subjects = found.into_iter().take(MOST_FILES).filter_map(|(path, _)| context.subject(path).ok());
    (subjects.collect(), cut)
}

/// The language of a file that may not be on disk.
pub fn language_of(context: &Context, path: &WorkspacePath, text: Option<&str>) -> Option<String> {
    let first_line = text.and_then(|text| text.lines().next());
    context.catalogue().language_of(path.file_name()?, first_line).map(str::to_owned)
}

/// The names of the definitions that an edit touches: those that stand in, or reach over, a line that it changes. A file that
/// goes away or moves takes all its names with it, and its own.
fn changed_names(language: &str, old: &WorkspacePath, edit: &EditedText, before: &str) -> Vec<String> {
    let deadline = Instant::now() + LOOK;
    let outline = hints::symbols_in(language, old, before, deadline).unwrap_or_default();
    let mut names = Vec::new();
    match (&edit.after, &edit.renamed_from) {
        (Some(after), None) => {
            let lines: Vec<_> = LineMap::between(before, after).replaced().collect();
            let touched = |range: Range| {
                lines.iter().any(|line| range.start.line <= line.end && line.start <= range.end.line)
            };
            collect(&outline, &touched, &mut names);
        }
        _ => {
            collect(&outline, &|_| true, &mut names);
            let stem = old.file_name().and_then(|name| name.split('.').next()).map(str::to_owned);
            names.extend(stem);
        }
    }
    names.retain(|name| name.chars().count() > 1);
    names
}

fn collect(symbols: &[Symbol], touched: &impl Fn(Range) -> bool, names: &mut Vec<String>) {
    for symbol in symbols.iter().filter(|symbol| touched(symbol.range)) {
        names.push(symbol.name.clone());
        collect(&symbol.children, touched, names);
    }
}

/// The extensions of all languages that the navigating server of `language` speaks: TypeScript is used from JavaScript.
fn related_extensions(context: &Context, language: &str) -> Vec<String> {
    let catalogue = context.catalogue();
    let servers = catalogue.servers_for(language);
    let spoken =
        servers.iter().find(|(_, server)| server.features.navigation).map(|(_, server)| &server.languages);
    let own = [language.to_owned()];
    let languages = spoken.map_or(own.as_slice(), Vec::as_slice);
    let known = languages.iter().filter_map(|language| catalogue.languages.get(language));
    let of_language = |language: &Language| {
        let bare = (!language.shebangs.is_empty()).then(String::new);
        language.extensions.iter().cloned().chain(bare).collect::<Vec<_>>()
    };
    known.flat_map(of_language).collect()
}

/// Files of the language of `subject`, or of one that its server speaks as well, that mention `name`; most mentions first. And
/// whether the search was cut short.
pub async fn mentions(context: &Context, subject: &Subject, name: &str) -> (Vec<WorkspacePath>, bool) {
    let Some(language) = &subject.language else { return (Vec::new(), false) };
    let names = BTreeSet::from([name.to_owned()]);
    let extensions = related_extensions(context, language);
    let (mut found, cut) = mentioning(context, names, extensions, &BTreeSet::new()).await;
    // Whether a file without an extension is a script of the language, its first line tells.
    let is_script = |path: &WorkspacePath| {
        context.listed(path.clone()).is_ok_and(|found| found.language.as_ref() == Some(language))
    };
    found.retain(|(path, _)| path.extension().is_some() || is_script(path));
    found.sort_by(|(_, a), (_, b)| b.cmp(a));
    (found.into_iter().map(|(path, _)| path).collect(), cut)
}

/// Files that mention one of `names`, with how often, and whether the search was cut short.
async fn mentioning(
    context: &Context,
    names: BTreeSet<String>,
    extensions: Vec<String>,
    without: &BTreeSet<WorkspacePath>,
) -> (Vec<(WorkspacePath, usize)>, bool) {
    let alternatives: Vec<String> = names.iter().map(|name| regex::escape(name)).collect();
    let query = SearchQuery {
        pattern: format!("(?:{})", alternatives.join("|")),
        literal: false,
        whole_word: true,
        case_insensitive: false,
        under: WorkspacePath::root(),
        extensions: Some(extensions),
        max_hits: 5_000,
        deadline: Instant::now() + LOOK,
    };
    let found = in_background(context, move |workspace, _| Ok(workspace.search(&query)?)).await;
    let Ok(found) = found else { return (Vec::new(), true) };
    let mut counts: BTreeMap<WorkspacePath, usize> = BTreeMap::new();
    for hit in found.hits {
        if !without.contains(&hit.path) {
            *counts.entry(hit.path).or_default() += 1;
        }
    }
    (counts.into_iter().collect(), found.truncated || found.timed_out)
}

/// So many files are named that import one.
const NAMED: usize = 8;

/// What the text shows of the files that import `path`, a file or folder that goes away or moves; `None` where there are none.
pub async fn importers_note(context: &Context, path: &WorkspacePath) -> Option<String> {
    let (asked, until) = (path.clone(), Instant::now() + LOOK);
    let found = in_background(context, move |workspace, catalogue| {
        hints::importers(workspace, catalogue, &asked, until)
    });
    let (found, cut) = found.await.ok()?;
    let place =
        |(path, at): &(WorkspacePath, Position)| format!("{}:{}", path.display(), u64::from(at.line) + 1);
    let named: Vec<String> = found.iter().take(NAMED).map(place).collect();
    let more = if cut || found.len() > NAMED { " and others" } else { "" };
    (!named.is_empty())
        .then(|| format!("by the text, {} is imported at {}{more}", path.display(), named.join(", ")))
}
