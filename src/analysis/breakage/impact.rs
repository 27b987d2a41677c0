//! The impact of an edit: other files that use the changed definitions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::declaration_changes::DeclarationChanges;
use super::edited_text::EditedText;
use crate::analysis::ask::fallback::run_in_background;
use crate::analysis::context::{Context, LanguageFile};
use crate::analysis::items::named_places::address_of;
use crate::lsp::model::FileRef;
use crate::lsp::session::live_session::Session;
use crate::lsp::session::operations::Navigation;
use crate::syntax;
use crate::text::{Position, has_word, words_in};
use crate::workspace::{SearchQuery, WorkspacePath};

/// The most files with a changed name that are checked without asking the server for the
/// references.
const MAX_UNVERIFIED_DEPENDENT_FILES: usize = 6;
/// The maximum number of changed definitions whose references are requested from the server.
const MAX_IMPACT_REFERENCE_QUERIES: usize = 8;
/// The maximum number of changed names that are searched for.
const MAX_SEARCHED_CHANGED_NAMES: usize = 48;
/// The time limit for one search of the text.
const IMPACT_SEARCH_TIMEOUT: Duration = Duration::from_millis(1_000);

/// The limits of the search for dependents of a change.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ImpactLimits {
    /// The most files that are selected for a check.
    most_files: usize,
    /// The maximum number of changed names that are searched for.
    most_names: usize,
    /// The time limit for one search of the text.
    search: Duration,
    /// True if the server's references may exclude files that mention a changed name.
    narrows: bool,
}

impl ImpactLimits {
    /// The limits for an edit, whose caller waits for the answer.
    pub(crate) fn of_edit(most_files: usize) -> Self {
        Self {
            most_files,
            most_names: MAX_SEARCHED_CHANGED_NAMES,
            search: IMPACT_SEARCH_TIMEOUT,
            narrows: true,
        }
    }

    /// The limits for a difference between trees. References are not used to narrow it: they miss
    /// aliased imports and inherited members, and an additional file is cheap.
    pub(crate) fn of_difference(most_files: usize) -> Self {
        Self { most_files, most_names: 2_000, search: Duration::from_secs(30), narrows: false }
    }
}

/// The files that an edit may affect.
#[derive(Debug, Default)]
pub(crate) struct EditImpact {
    /// The changed declarations, by language.
    pub changed: BTreeMap<String, DeclarationChanges>,
    /// The files to check, those with the most uses first.
    pub files: Vec<LanguageFile>,
    /// Further files with uses that exceed the limit.
    pub left_out: Vec<WorkspacePath>,
    /// Files with uses that cannot be read, each with the reason.
    pub unreadable: Vec<(WorkspacePath, String)>,
    /// True if the time was up before all files were searched.
    pub cut: bool,
}

/// The files that use declarations changed by `edits`. Files that mention a name are found in the
/// text; if they are many, the server's references narrow them.
pub(crate) async fn find_dependents(
    context: &Context,
    edits: &[EditedText],
    limits: ImpactLimits,
    deadline: tokio::time::Instant,
) -> EditImpact {
    let mut by_language: BTreeMap<String, Vec<&EditedText>> = BTreeMap::new();
    for edit in edits {
        let old = edit.renamed_from.as_ref().unwrap_or(&edit.path);
        let text = edit.before.as_deref().or(edit.after.as_deref());
        if let Some(language) = language_of(context, old, text) {
            by_language.entry(language).or_default().push(edit);
        }
    }
    let edited: BTreeSet<WorkspacePath> =
        edits.iter().flat_map(|edit| edit.renamed_from.iter().chain([&edit.path])).cloned().collect();
    let mut impact = EditImpact::default();
    for (language, edits) in by_language {
        let mut changed = DeclarationChanges::from_edits(&language, edits.into_iter());
        let mut users = DependentFiles::in_text(context, &language, &changed, &edited, limits).await;
        if users.inherits {
            changed.types.extend(changed.reduced_types.iter().cloned());
        }
        if limits.narrows && users.files.len() > MAX_UNVERIFIED_DEPENDENT_FILES {
            users.narrow_by_references(context, &language, &changed, deadline).await;
        }
        impact.cut |= users.cut;
        let mut sorted: Vec<(WorkspacePath, usize)> = users.files.into_iter().collect();
        sorted.sort_by(|(_, a), (_, b)| b.cmp(a));
        let paths = sorted.into_iter().map(|(path, _)| path);
        for path in paths {
            match context.language_file(path.clone()) {
                Ok(subject) if impact.files.len() < limits.most_files => impact.files.push(subject),
                Ok(_) => impact.left_out.push(path),
                Err(error) => impact.unreadable.push((path, error.error)),
            }
        }
        impact.changed.insert(language, changed);
    }
    impact
}

/// Files with uses, and the number of uses.
#[derive(Debug, Default)]
struct DependentFiles {
    files: BTreeMap<WorkspacePath, usize>,
    /// Files that import a name or define a similar one. They are affected even if the server
    /// reports no reference.
    near: BTreeSet<WorkspacePath>,
    /// True if one of them defines a subtype of a type that lost a member.
    inherits: bool,
    cut: bool,
}

impl DependentFiles {
    async fn in_text(
        context: &Context,
        language: &str,
        changed: &DeclarationChanges,
        edited: &BTreeSet<WorkspacePath>,
        limits: ImpactLimits,
    ) -> Self {
        let names: BTreeSet<String> = changed.names.iter().take(limits.most_names).cloned().collect();
        let mut users = Self { cut: changed.names.len() > limits.most_names, ..Self::default() };
        let all = names.iter().chain(&changed.imported).chain(&changed.modules).cloned().collect();
        if names.is_empty() && changed.imported.is_empty() && !changed.is_module {
            return users;
        }
        let (hits, cut) =
            occurrences_until(context, language, all, edited, Instant::now() + limits.search).await;
        users.cut |= cut;
        for (path, hits) in hits {
            let has = |wanted: &BTreeSet<String>| hits.iter().any(|hit| wanted.contains(&hit.name));
            let of_names = hits.iter().filter(|hit| names.contains(&hit.name));
            let from_here = has(&changed.imported) && has(&changed.modules);
            let of_module = changed.is_module && has(&changed.modules);
            users.inherits |= hits.iter().any(|hit| hit.is_heir_of(&changed.reduced_types));
            if of_names.clone().any(Occurrence::is_declaration_line) || from_here || of_module {
                users.near.insert(path.clone());
            }
            let count = of_names.count() + usize::from(from_here) + usize::from(of_module);
            if count > 0 {
                users.files.insert(path, count);
            }
        }
        users
    }

    /// Keeps the files with references according to the server, if it answers for all changed
    /// names.
    async fn narrow_by_references(
        &mut self,
        context: &Context,
        language: &str,
        changed: &DeclarationChanges,
        deadline: tokio::time::Instant,
    ) {
        let places = changed.at.len();
        let queried: BTreeSet<&String> = changed.at.iter().map(|(_, name, _)| name).collect();
        if places == 0
            || places > MAX_IMPACT_REFERENCE_QUERIES
            || !changed.names.iter().all(|name| queried.contains(name))
        {
            return;
        }
        let mut users: BTreeMap<WorkspacePath, usize> = BTreeMap::new();
        for (path, _, position) in &changed.at {
            let subject = LanguageFile { path: path.clone(), language: Some(language.to_owned()) };
            let Some(found) = references(context, &subject, *position, deadline).await else {
                return;
            };
            for path in found {
                *users.entry(path).or_default() += 1;
            }
        }
        self.files.retain(|path, count| {
            *count = users.get(path).map_or(0, |uses| uses + 1_000);
            *count > 0 || self.near.contains(path)
        });
    }
}

/// The files with references to the symbol at `position`, according to the server; `None` if the
/// server does not know all files.
async fn references(
    context: &Context,
    subject: &LanguageFile,
    position: Position,
    deadline: tokio::time::Instant,
) -> Option<Vec<WorkspacePath>> {
    let session = navigating_session(context, subject, deadline).await?;
    let _view_guard = session.enter_view(&context.view, deadline).await.ok()?;
    if session.knows_open_files(&subject.path) {
        return None;
    }
    let answer = session.navigate(Navigation::References, &subject.path, &position, deadline).await.ok()?;
    if answer.unfinished_work.is_some() || answer.value.is_empty() {
        return None;
    }
    let inside = |location: crate::lsp::model::Location| match location.file {
        FileRef::Inside(path) => Some(path),
        FileRef::Outside(_) | FileRef::Virtual(_) => None,
    };
    Some(answer.value.into_iter().filter_map(inside).collect())
}

/// The first available session with navigation for the file.
pub(crate) async fn navigating_session(
    context: &Context,
    subject: &LanguageFile,
    deadline: tokio::time::Instant,
) -> Option<Arc<Session>> {
    for (server, _) in context.servers_for(subject, |features| features.navigation) {
        if let Ok(session) = context.session(server, subject, deadline).await {
            return Some(session);
        }
    }
    None
}

/// The language of a file that may not be on disk.
pub(crate) fn language_of(context: &Context, path: &WorkspacePath, text: Option<&str>) -> Option<String> {
    let first_line = text.and_then(|text| text.lines().next());
    context.catalogue().language_of(&path.name_lossy(), first_line).map(str::to_owned)
}

/// The languages of the navigating server of `language`, and those whose files may use it:
/// TypeScript is used from JavaScript, and from Svelte.
fn related_languages<'a>(context: &'a Context, language: &'a str) -> Vec<&'a str> {
    let servers = context.catalogue().servers_for(language);
    let navigator = servers.into_iter().find(|(_, server)| server.features.navigation);
    let spoken = navigator.into_iter().flat_map(|(_, server)| server.languages.iter().map(String::as_str));
    let mut related: Vec<&str> = spoken.chain(syntax::related_languages(language)).collect();
    related.sort_unstable();
    related.dedup();
    related
}

/// The file name endings of the related languages; "" for files without one.
pub(crate) fn related_endings(context: &Context, language: &str) -> Vec<String> {
    let catalogue = context.catalogue();
    let known =
        related_languages(context, language).into_iter().filter_map(|key| catalogue.languages.get(key));
    known.flat_map(|language| language.endings().map(str::to_owned)).collect()
}

/// Files of `subject`'s language, or of another language of its server, that mention `name`, those
/// with the most mentions first. The flag is true if the search was cut short.
pub(crate) async fn files_mentioning(
    context: &Context,
    subject: &LanguageFile,
    name: &str,
) -> (Vec<WorkspacePath>, bool) {
    let Some(language) = &subject.language else { return (Vec::new(), false) };
    let names = BTreeSet::from([name.to_owned()]);
    let (found, cut) = occurrences(context, language, names, &BTreeSet::new()).await;
    let mut found: Vec<(WorkspacePath, usize)> =
        found.into_iter().map(|(path, hits)| (path, hits.len())).collect();
    found.sort_by(|(_, a), (_, b)| b.cmp(a));
    (found.into_iter().map(|(path, _)| path).collect(), cut)
}

/// A name in a text.
#[derive(Debug, Clone)]
pub(crate) struct Occurrence {
    /// The name.
    pub name: String,
    /// The start of the name; for a very long line, the start of the match.
    pub start: Position,
    line: String,
}

impl Occurrence {
    /// Returns true if the line defines a subtype of one of `types`.
    fn is_heir_of(&self, types: &BTreeSet<String>) -> bool {
        let (names_type, head) = (types.contains(&self.name), self.line.trim_start());
        names_type && ["class", "struct", "interface", "impl"].iter().any(|word| has_word(head, word))
    }

    /// Returns true if the line imports or defines a name.
    fn is_declaration_line(&self) -> bool {
        const WORDS: [&str; 12] = [
            "import",
            "from",
            "def",
            "class",
            "function",
            "fn",
            "func",
            "export",
            "use",
            "require",
            "interface",
            "type",
        ];
        words_in(&self.line).any(|word| WORDS.contains(&word))
    }
}

/// The occurrences of `names` in files of `language` and of its server's other languages. The flag
/// is true if the search was cut short.
pub(crate) async fn occurrences(
    context: &Context,
    language: &str,
    names: BTreeSet<String>,
    without: &BTreeSet<WorkspacePath>,
) -> (BTreeMap<WorkspacePath, Vec<Occurrence>>, bool) {
    occurrences_until(context, language, names, without, Instant::now() + IMPACT_SEARCH_TIMEOUT).await
}

async fn occurrences_until(
    context: &Context,
    language: &str,
    names: BTreeSet<String>,
    without: &BTreeSet<WorkspacePath>,
    deadline: Instant,
) -> (BTreeMap<WorkspacePath, Vec<Occurrence>>, bool) {
    let alternatives: Vec<String> = names.iter().map(|name| regex::escape(name)).collect();
    let query = SearchQuery {
        pattern: format!("(?:{})", alternatives.join("|")),
        literal: false,
        whole_word: true,
        case_insensitive: false,
        under: WorkspacePath::root(),
        extensions: Some(related_endings(context, language)),
        max_hits: 20_000,
        deadline,
    };
    let found = run_in_background(context, move |workspace, _| Ok(workspace.search(&query)?)).await;
    let Ok(found) = found else { return (BTreeMap::new(), true) };
    let mut all: BTreeMap<WorkspacePath, Vec<Occurrence>> = BTreeMap::new();
    for hit in found.hits {
        if without.contains(&hit.path) {
            continue;
        }
        let (start, end) = (hit.range.start.character as usize, hit.range.end.character as usize);
        let there: String = hit.line.chars().skip(start).take(end - start).collect();
        // Only an excerpt of a very long line is available.
        let name = match names.contains(&there) {
            true => Some(there),
            false => names.iter().find(|name| hit.line.contains(name.as_str())).cloned(),
        };
        let occurrence = name.map(|name| Occurrence { name, start: hit.range.start, line: hit.line });
        all.entry(hit.path).or_default().extend(occurrence);
    }
    // The first line of a file without an extension shows if it is a script of such a language.
    let related = related_languages(context, language);
    let is_script = |path: &WorkspacePath| {
        context.language_of(path).ok().flatten().is_some_and(|found| related.contains(&found))
    };
    all.retain(|path, _| path.extension().is_some() || is_script(path));
    (all, found.truncated || found.timed_out)
}

/// The most importing files that a note names.
const MAX_NAMED_IMPORTERS: usize = 8;

/// A note on the files that import `path`, a file or folder that is deleted or moved, according to
/// the text; `None` if no file does.
pub(crate) async fn importers_note(
    context: &Context,
    path: &WorkspacePath,
    updated: &BTreeSet<&WorkspacePath>,
) -> Option<String> {
    let (target, until) = (path.clone(), Instant::now() + IMPACT_SEARCH_TIMEOUT);
    let found = run_in_background(context, move |workspace, catalogue| {
        syntax::importers(workspace, catalogue, &target, until)
    });
    let (mut found, cut) = found.await.ok()?;
    found.retain(|(importer, _)| !updated.contains(importer));
    let place = |(path, at): &(WorkspacePath, Position)| address_of(path, *at);
    let named: Vec<String> = found.iter().take(MAX_NAMED_IMPORTERS).map(place).collect();
    let more = if cut || found.len() > MAX_NAMED_IMPORTERS { " and others" } else { "" };
    (!named.is_empty())
        .then(|| format!("by text search, {} is imported at {}{more}", path.display(), named.join(", ")))
}
