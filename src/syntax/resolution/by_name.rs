//! The last resort: every definition in the workspace with the name, ranked by likelihood.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

use super::definition::{DefinitionRole, SourceDefinition};
use super::project::{Project, load};
use super::source::ParsedSource;
use crate::syntax::language_families;
use crate::syntax::occurrences::name_occurrence::NameOccurrence;
use crate::workspace::{Hit, SearchError, SearchQuery, WorkspacePath};

/// The maximum number of occurrences that are examined.
const MAX_NAME_OCCURRENCES: usize = 20_000;

/// The maximum number of files that are parsed to find the definitions among the occurrences.
const MAX_DEFINITION_PARSED_FILES: usize = 64;

/// One definition found by its name.
pub(crate) struct NameLookupMatch {
    pub(crate) source: Arc<ParsedSource>,
    pub(crate) index: usize,
    pub(crate) score: i32,
    pub(crate) why: String,
}

/// The result of the search.
pub(crate) struct NameLookupResult {
    pub(crate) named: Vec<NameLookupMatch>,
    /// Files that contain the name but have no grammar, with their hits.
    pub(crate) hits: Vec<Hit>,
    pub(crate) truncated: bool,
    pub(crate) timed_out: bool,
}

/// The place from which a name is looked up.
pub(crate) struct NameLookupQuery<'a> {
    pub(crate) name: &'a str,
    pub(crate) spot: Option<&'a NameOccurrence>,
    pub(crate) source: Option<&'a ParsedSource>,
    pub(crate) path: Option<&'a WorkspacePath>,
    pub(crate) container: Option<&'a str>,
}

/// Returns every occurrence of `name` in files of the languages related to `language`.
///
/// # Errors
/// [`SearchError`] if the workspace cannot be searched.
pub(crate) fn occurrences(
    project: &Project<'_>,
    language: Option<&str>,
    name: &str,
) -> Result<(Vec<Hit>, bool, bool), SearchError> {
    let extensions = language.map(|language| language_families::extensions(project.catalogue, language));
    let query = SearchQuery {
        pattern: name.to_owned(),
        literal: true,
        whole_word: true,
        case_insensitive: false,
        under: WorkspacePath::root(),
        extensions: extensions.filter(|extensions| !extensions.is_empty()),
        max_hits: MAX_NAME_OCCURRENCES,
        deadline: project.deadline,
    };
    let mut found = project.workspace.search(&query)?;
    if let Some(language) = language {
        // For a file without an extension, the first line decides whether it is a script of the
        // language.
        let members = language_families::related_languages(language);
        let mut known: HashMap<WorkspacePath, bool> = HashMap::new();
        let speaks = |path: &WorkspacePath| project.language(path).is_some_and(|key| members.contains(&key));
        found.hits.retain(|hit| {
            hit.path.extension().is_some()
                || *known.entry(hit.path.clone()).or_insert_with(|| speaks(&hit.path))
        });
    }
    Ok((found.hits, found.truncated, found.timed_out))
}

/// Returns the definitions with the queried name, best first.
///
/// # Errors
/// [`SearchError`] if the workspace cannot be searched.
pub(super) fn find(
    project: &Project<'_>,
    language: Option<&str>,
    query: &NameLookupQuery<'_>,
) -> Result<NameLookupResult, SearchError> {
    let (hits, truncated, timed_out) = occurrences(project, language, query.name)?;
    let found = NameLookupResult { named: Vec::new(), hits, truncated, timed_out };
    Ok(find_among(project, query, found))
}

/// Like [`find`], for known occurrences: adds the definitions among them.
pub(crate) fn find_among(
    project: &Project<'_>,
    query: &NameLookupQuery<'_>,
    occurring: NameLookupResult,
) -> NameLookupResult {
    let NameLookupResult { mut named, hits, mut truncated, mut timed_out } = occurring;
    let mut files: HashMap<&WorkspacePath, u8> = HashMap::new();
    for hit in &hits {
        let likely = definition_likelihood(hit, query.name);
        let known = files.entry(&hit.path).or_default();
        *known = likely.max(*known);
    }
    let mut files: Vec<(&WorkspacePath, u8)> = files.into_iter().collect();
    files.sort_by_key(|(path, likely)| {
        (std::cmp::Reverse(*likely), is_secondary(path), distance(query.path, path), (*path).clone())
    });
    truncated |= files.len() > MAX_DEFINITION_PARSED_FILES;
    files.truncate(MAX_DEFINITION_PARSED_FILES);
    let paths: Vec<&WorkspacePath> = files.iter().map(|(path, _)| *path).collect();
    let sources = parse_all(project, &paths);
    timed_out |= project.is_late();
    for source in &sources {
        for index in source.definitions_named(query.name) {
            let definition = &source.definitions[index];
            if matches!(definition.role, DefinitionRole::Import(_) | DefinitionRole::Extension)
                || source.is_local(definition)
            {
                continue;
            }
            let (score, why) = score(query, source, definition);
            named.push(NameLookupMatch { source: source.clone(), index, score, why });
        }
    }
    named.sort_by(|a, b| {
        let place = |named: &NameLookupMatch| {
            (named.source.path.clone(), named.source.definitions[named.index].selection.start)
        };
        b.score.cmp(&a.score).then_with(|| place(a).cmp(&place(b)))
    });
    NameLookupResult { named, hits, truncated, timed_out }
}

/// Parses the files of `hits`, the nearest to `from` first and at most `most`; also returns whether
/// there are more.
pub(crate) fn nearest_sources(
    project: &Project<'_>,
    from: Option<&WorkspacePath>,
    hits: &[Hit],
    most: usize,
) -> (Vec<Arc<ParsedSource>>, bool) {
    let mut paths: Vec<&WorkspacePath> = hits.iter().map(|hit| &hit.path).collect();
    paths.sort_by_cached_key(|path| (distance(from, path), (*path).clone()));
    paths.dedup();
    let is_cut = paths.len() > most;
    paths.truncate(most);
    (parse_all(project, &paths), is_cut)
}

/// Parses `paths` with all processors; files that are known already are not parsed again.
pub(crate) fn parse_all(project: &Project<'_>, paths: &[&WorkspacePath]) -> Vec<Arc<ParsedSource>> {
    let known: Vec<Option<Arc<ParsedSource>>> = paths.iter().map(|path| project.known(path)).collect();
    let unknown: Vec<usize> = (0..paths.len()).filter(|&at| known[at].is_none()).collect();
    let next = AtomicUsize::new(0);
    let parsed: Mutex<Vec<(usize, ParsedSource)>> = Mutex::default();
    let (workspace, catalogue, deadline) = (project.workspace, project.catalogue, project.deadline);
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8).min(unknown.len());
    let parse = || {
        while let Some(&at) = unknown.get(next.fetch_add(1, Ordering::Relaxed)) {
            if std::time::Instant::now() >= deadline {
                break;
            }
            if let Some(source) = load(workspace, catalogue, paths[at], deadline) {
                parsed.lock().push((at, source));
            }
        }
    };
    std::thread::scope(|scope| {
        // This thread does its share, and all of it if the system gives no other.
        for _ in 1..threads {
            if std::thread::Builder::new().spawn_scoped(scope, parse).is_err() {
                break;
            }
        }
        parse();
    });
    let mut sources = known;
    for (at, source) in parsed.into_inner() {
        sources[at] = Some(project.cache_source(Arc::new(source)));
    }
    sources.into_iter().flatten().collect()
}

const KEYWORDS: [&str; 40] = [
    "def",
    "class",
    "fn",
    "func",
    "function",
    "struct",
    "enum",
    "trait",
    "interface",
    "type",
    "const",
    "let",
    "var",
    "static",
    "module",
    "mod",
    "namespace",
    "record",
    "union",
    "macro_rules!",
    "#define",
    "define",
    "typedef",
    "sub",
    "proc",
    "object",
    "protocol",
    "fun",
    "val",
    "data",
    "newtype",
    "defmodule",
    "defp",
    "package",
    "macro",
    "extension",
    "actor",
    "local",
    "public",
    "alias",
];

/// Rates a line that contains the name by its likeness to a definition: 0, 1 or 2.
fn definition_likelihood(hit: &Hit, name: &str) -> u8 {
    let Some(at) = hit.line.find(name) else { return 0 };
    let before = hit.line[..at].trim_end();
    let after = hit.line[at + name.len()..].trim_start();
    let last = before.rsplit(|c: char| c.is_whitespace() || c == '*').next().unwrap_or("");
    if KEYWORDS.contains(&last) {
        return 2;
    }
    let is_first =
        before.chars().all(|c| c.is_alphanumeric() || c.is_whitespace() || "_*&<>:,[].".contains(c));
    u8::from(
        is_first && after.starts_with(['(', '=', ':', '<', '{', ',', ';'])
            || before.ends_with("->") && after.starts_with('='),
    )
}

/// Returns true for tests, examples and third-party code.
pub(crate) fn is_secondary(path: &WorkspacePath) -> bool {
    path.as_path().iter().filter_map(|part| part.to_str()).any(|part| {
        let part = part.to_ascii_lowercase();
        matches!(
            part.as_str(),
            "test"
                | "tests"
                | "__tests__"
                | "spec"
                | "testing"
                | "vendor"
                | "vendored"
                | "third_party"
                | "node_modules"
                | "examples"
                | "example"
                | "fixtures"
                | "benches"
                | "bench"
                | "docs"
                | "dist"
                | "build"
                | "mocks"
        ) || part.starts_with("test_")
            || [".test.", ".spec.", "_test."].iter().any(|mark| part.contains(mark))
    })
}

/// Counts the folders between two files.
pub(crate) fn distance(from: Option<&WorkspacePath>, to: &WorkspacePath) -> usize {
    let Some(from) = from else { return to.as_path().components().count() };
    let (a, b): (Vec<_>, Vec<_>) =
        (from.as_path().components().collect(), to.as_path().components().collect());
    let shared = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    (a.len() - shared) + (b.len() - shared)
}

/// Rates the likelihood that `definition` is meant, with the reasons in a few words.
fn score(query: &NameLookupQuery<'_>, source: &ParsedSource, definition: &SourceDefinition) -> (i32, String) {
    let kind = definition.role.kind().name();
    let mut reasons = Vec::new();
    let mut score = 0;
    if query.path == Some(&source.path) {
        score += 40;
        reasons.push("in the same file".to_owned());
    } else if query.source.is_some_and(|from| imports_from(from, source)) {
        score += 30;
        reasons.push("in a module that is imported here".to_owned());
    } else {
        let far = distance(query.path, &source.path);
        score -= i32::try_from(far).unwrap_or(20).min(20) * 2;
        reasons.push(if far <= 2 { "in the same folder" } else { "elsewhere" }.to_owned());
    }
    if is_secondary(&source.path) && !query.path.is_some_and(is_secondary) {
        score -= 30;
        reasons.push("among tests or code of others".to_owned());
    }
    if definition.role == DefinitionRole::Prototype {
        score -= 60;
        reasons.push("only declared here".to_owned());
    }
    if definition.role.has_members()
        && source.definitions.iter().all(|member| member.container.as_deref() != Some(&definition.name))
    {
        score -= 2;
    }
    if let Some(container) = query.container {
        if definition.container.as_deref() == Some(container) {
            score += 200;
            reasons.push(format!("in {container}"));
        }
    } else if let Some(spot) = query.spot {
        score += usage_score(spot, definition, &mut reasons);
    }
    (score, format!("{kind} {}", reasons.join(", ")))
}

/// Rates the fit between a definition and the way in which the name is used.
fn usage_score(occurrence: &NameOccurrence, definition: &SourceDefinition, reasons: &mut Vec<String>) -> i32 {
    let mut score = 0;
    let is_member = definition.container.is_some();
    if occurrence.is_member == is_member {
        score += 25;
    }
    if occurrence.is_called == (definition.role.is_callable() || definition.role.is_type()) {
        score += 10;
    }
    if let (Some(owner), Some(container)) = (&occurrence.owner, &definition.container) {
        let (owner, container) = (normalize_name(owner), normalize_name(container));
        if owner == container {
            score += 50;
            reasons.push("its class has the variable's name".to_owned());
        } else if owner.len() > 2 && (container.contains(&owner) || owner.contains(&container)) {
            score += 30;
            reasons.push("its class has nearly the variable's name".to_owned());
        }
    }
    score
}

fn normalize_name(name: &str) -> String {
    name.chars().filter(|c| *c != '_').flat_map(char::to_lowercase).collect()
}

/// Returns true if `from` imports a module whose written name ends in the name of the file
/// `source`.
fn imports_from(from: &ParsedSource, source: &ParsedSource) -> bool {
    let Some(stem) = source.path.as_path().file_stem().and_then(|stem| stem.to_str()) else { return false };
    let folder = source.path.parent().and_then(|folder| folder.file_name().map(str::to_owned));
    let stem = match (stem, &folder) {
        ("__init__" | "mod" | "index" | "lib", Some(folder)) => folder,
        _ => stem,
    };
    from.imports.iter().any(|import| {
        let name = import
            .module
            .rsplit(['/', '.', ':', '\\'])
            .find(|part| !matches!(*part, "" | "js" | "h" | "hpp" | "rb" | "sh"));
        name == Some(stem) || import.local == stem
    })
}
