//! Further occurrences of a name, outside the files that a server listed.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::time::Instant;

use super::conditional_code::{
    Condition, ConditionalOccurrence, SourceConditions, has_branches, has_conditional_code,
};
use super::occurrence_sense::{OccurrenceQuery, OccurrenceSense, counts, is_member, is_own_definition};
use super::occurrence_use::{OccurrenceUse, occurrence_use};
use crate::config::Catalogue;
use crate::syntax::answer::HintError;
use crate::syntax::notebook::{NotebookUse, notebook_uses};
use crate::syntax::resolution::by_name;
use crate::syntax::resolution::by_name::{distance, parse_all};
use crate::syntax::resolution::candidates::identifier_at;
use crate::syntax::resolution::definition::{DefinitionRole, SourceDefinition};
use crate::syntax::resolution::imports::{ImportItem, SourceImport};
use crate::syntax::resolution::project::Project;
use crate::syntax::resolution::resolve::Resolver;
use crate::syntax::resolution::source::ParsedSource;
use crate::text::{Position, identifiers_on_line};
use crate::workspace::{Hit, Workspace, WorkspacePath};

/// The maximum number of files with the name that are parsed; the others are only counted.
const MAX_FURTHER_PARSED_FILES: usize = 60;

/// The places of a name, by file.
type OccurrencesByFile = BTreeMap<WorkspacePath, Vec<Hit>>;

/// A file in which a name occurs outside comments and strings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FurtherOccurrence {
    /// The file.
    pub(crate) path: WorkspacePath,
    /// The first place in it that counts.
    pub(crate) position: Position,
    /// True if the file imports the name from a module that has the name of the queried file or of
    /// a folder around it.
    pub(crate) imports: bool,
    /// True if the file defines a symbol of that name itself.
    pub(crate) defines: bool,
    /// True if the file uses a member of that name.
    pub(crate) uses_member: bool,
    /// True if the file defines a method of that name.
    pub(crate) defines_method: bool,
    /// True if its language has no grammar here, so that the place may be in a comment or string.
    pub(crate) unparsed: bool,
    /// True for an unparsed file that seems to know the queried file: it imports the name, or
    /// contains that file's name.
    pub(crate) names_file: bool,
}

/// The occurrences of a name outside the known files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct FurtherOccurrences {
    /// The files with an import of the name first, then the nearest.
    pub(crate) files: Vec<FurtherOccurrence>,
    /// The places that pass the name on or keep it as a value, in files that do not call it or are
    /// known. Filled only for questions about calls.
    pub(crate) passed: Vec<FurtherOccurrence>,
    /// The files in which the name occurs in comments and strings only.
    pub(crate) quiet: Vec<WorkspacePath>,
    /// The notebooks whose code uses the name.
    pub(crate) notebooks: Vec<NotebookUse>,
    /// The occurrences in code that is compiled in some configurations only, in all files.
    pub(crate) conditional: Vec<ConditionalOccurrence>,
    /// True if more such code was not searched.
    pub(crate) conditional_cut: bool,
    /// The number of further files that have the word and were not read.
    pub(crate) unread: usize,
    /// True if the search ended before all files were searched.
    pub(crate) cut: bool,
    /// True if the queried symbol is a method.
    pub(crate) of_method: bool,
}

/// Finds the name of `query` in files of its family of languages, without those in `known`. The
/// result is empty if the name is known in one function only.
///
/// # Errors
/// [`HintError`] if the workspace cannot be searched.
pub(crate) fn further_occurrences(
    workspace: &Workspace,
    catalogue: &Catalogue,
    query: &OccurrenceQuery,
    known: &BTreeSet<WorkspacePath>,
    deadline: Instant,
) -> Result<FurtherOccurrences, HintError> {
    let project = Project::new(workspace, catalogue, deadline);
    let language = project.language(&query.path).filter(|_| query.sense != OccurrenceSense::Base);
    let Some(language) = language else { return Ok(FurtherOccurrences::default()) };
    let source = project.source(&query.path);
    let identifier = source.as_ref().and_then(|source| identifier_at(source, query.position));
    let name = identifier.map_or_else(|| query.name.clone(), |identifier| identifier.name);
    let query = &OccurrenceQuery { name, ..query.clone() };
    if let Some(source) = source.as_ref().filter(|source| is_confined(&project, source, query)) {
        let passed = first_value(source, query).into_iter().collect();
        return Ok(FurtherOccurrences { passed, ..FurtherOccurrences::default() });
    }
    let is_parsed = source.is_some();
    let of_method = source.is_some_and(|source| {
        let at = source.buffer().byte_offset(query.position);
        defines_method(&source, &query.name, at) || is_member(&source, at)
    });
    let (notebooks, has_all_notebooks) = notebook_uses(&project, language, query, of_method, known)?;
    let (hits, truncated, timed_out) = by_name::occurrences(&project, Some(language), &query.name)?;
    let (mut by_file, mut in_known): (OccurrencesByFile, OccurrencesByFile) = Default::default();
    for hit in hits {
        let is_known = hit.path == query.path || known.contains(&hit.path);
        let files = if is_known { &mut in_known } else { &mut by_file };
        files.entry(hit.path.clone()).or_default().push(hit);
    }
    let mut paths: Vec<&WorkspacePath> = by_file.keys().collect();
    paths.sort_by_cached_key(|path| {
        (!by_file[*path].iter().any(seems_import), distance(Some(&query.path), path), (*path).clone())
    });
    let unread = paths.len().saturating_sub(MAX_FURTHER_PARSED_FILES);
    paths.truncate(MAX_FURTHER_PARSED_FILES);
    let sources = parse_all(&project, &paths);
    // If all files were parsed, a missed deadline does not matter.
    let is_whole = is_parsed && sources.len() == paths.len();
    let cut = truncated || timed_out || !has_all_notebooks || !is_whole && project.is_late();
    let mut found = FurtherOccurrences { notebooks, unread, cut, of_method, ..FurtherOccurrences::default() };
    if has_conditional_code(language) {
        found.conditional = conditional_occurrences(&project, query, &in_known, &by_file);
        found.conditional_cut =
            !is_parsed || cut || unread > 0 || in_known.len() > MAX_FURTHER_PARSED_FILES || project.is_late();
    }
    let known_sources = in_known.keys().take(MAX_FURTHER_PARSED_FILES);
    let known_sources = known_sources.filter_map(|path| project.source(path));
    found.passed.extend(known_sources.filter_map(|source| first_value(&source, query)));
    for path in paths {
        let hits = &by_file[path];
        let Some(source) = sources.iter().find(|source| source.path == *path) else {
            let position = hits.first().map(|hit| hit.range.start).unwrap_or_default();
            let names_file = hits.iter().any(seems_import) || has_stem(workspace, path, &query.path);
            found.files.push(FurtherOccurrence {
                unparsed: true,
                names_file,
                ..FurtherOccurrence::new(path.clone(), position)
            });
            continue;
        };
        match in_source(source, query, hits) {
            Some(occurrence) if is_passed_alone(source, query, hits) => found.passed.push(occurrence),
            Some(occurrence) => found.files.push(occurrence),
            None if hits.iter().all(|hit| source.is_comment_or_string(start_of(source, hit))) => {
                found.quiet.push(path.clone())
            }
            None => {}
        }
    }
    found.files.sort_by_key(|file| !file.imports);
    Ok(found)
}

/// Finds the name in conditional code: in branches of known files, and anywhere in the other parsed
/// files.
fn conditional_occurrences(
    project: &Project<'_>,
    query: &OccurrenceQuery,
    in_known: &OccurrencesByFile,
    by_file: &OccurrencesByFile,
) -> Vec<ConditionalOccurrence> {
    let branching = in_known.keys().filter(|path| project.language(path).is_some_and(has_branches));
    let known = branching.take(MAX_FURTHER_PARSED_FILES).filter_map(|path| project.source(path));
    let others = by_file.keys().filter_map(|path| project.known(path));
    let mut found = Vec::new();
    for source in known.chain(others) {
        let hits = in_known.get(&source.path).or_else(|| by_file.get(&source.path));
        let conditions = SourceConditions::new(project, &source);
        for hit in hits.into_iter().flatten() {
            let at = start_of(&source, hit);
            if !counts(&source, query, at) {
                continue;
            }
            let excluded = match conditions.at(at) {
                Condition::None => continue,
                Condition::Unknown => false,
                Condition::Unmet => true,
            };
            let (path, position) = (source.path.clone(), hit.range.start);
            found.push(ConditionalOccurrence { path, position, excluded });
        }
    }
    found
}

/// Returns true if the name means something that only its own function knows.
fn is_confined(project: &Project<'_>, source: &ParsedSource, query: &OccurrenceQuery) -> bool {
    let at = source.buffer().byte_offset(query.position);
    let is_own = |definition: &SourceDefinition| {
        definition.role == DefinitionRole::Parameter
            || source.is_local(definition) && !matches!(definition.role, DefinitionRole::Import(_))
    };
    let visible = Resolver::new(project).visible_definitions(source, &query.name, at);
    visible.first().is_some_and(|&index| is_own(&source.definitions[index]))
}

/// Returns true if calls are asked for and every counted occurrence in a file only passes the name
/// on as a value.
fn is_passed_alone(source: &ParsedSource, query: &OccurrenceQuery, hits: &[Hit]) -> bool {
    let is_passed =
        |hit: &Hit| occurrence_use(source, start_of(source, hit), query.name.len()) == OccurrenceUse::Value;
    query.sense == OccurrenceSense::Call
        && hits.iter().filter(|hit| counts(source, query, start_of(source, hit))).all(is_passed)
}

/// Returns the first place in a file that passes the name on or keeps it as a value, if calls are
/// asked for.
fn first_value(source: &ParsedSource, query: &OccurrenceQuery) -> Option<FurtherOccurrence> {
    if query.sense != OccurrenceSense::Call {
        return None;
    }
    let buffer = source.buffer();
    let identifiers = (0..buffer.line_count()).flat_map(|line| identifiers_on_line(buffer, line));
    let mut starts = identifiers.filter(|found| found.name == query.name).map(|found| found.range.start);
    let first = starts.find(|start| {
        let at = buffer.byte_offset(*start);
        occurrence_use(source, at, query.name.len()) == OccurrenceUse::Value && counts(source, query, at)
    })?;
    Some(FurtherOccurrence::new(source.path.clone(), first))
}

fn in_source(source: &ParsedSource, query: &OccurrenceQuery, hits: &[Hit]) -> Option<FurtherOccurrence> {
    let first = hits.iter().find(|hit| counts(source, query, start_of(source, hit)))?;
    let starts = || hits.iter().map(|hit| start_of(source, hit));
    Some(FurtherOccurrence {
        imports: imports_name(source, query) || qualifies_name(source, query, hits),
        defines: is_own_definition(source, &query.name),
        uses_member: starts().any(|at| !source.is_comment_or_string(at) && is_member(source, at)),
        defines_method: starts().any(|at| defines_method(source, &query.name, at)),
        ..FurtherOccurrence::new(source.path.clone(), first.range.start)
    })
}

fn start_of(source: &ParsedSource, hit: &Hit) -> usize {
    source.buffer().byte_offset(hit.range.start)
}

impl FurtherOccurrence {
    /// Creates an occurrence without further facts.
    #[must_use]
    pub(crate) fn new(path: WorkspacePath, position: Position) -> Self {
        let [imports, defines, uses_member, defines_method, unparsed, names_file] = [false; 6];
        Self { path, position, imports, defines, uses_member, defines_method, unparsed, names_file }
    }
}

fn defines_method(source: &ParsedSource, name: &str, at: usize) -> bool {
    source.definitions_named(name).any(|index| {
        let definition = &source.definitions[index];
        definition.role == DefinitionRole::Method && definition.selection.start == at
    })
}

/// Returns true if `source` imports the name from a module whose last word is the name of the
/// queried file or of a folder around it.
fn imports_name(source: &ParsedSource, query: &OccurrenceQuery) -> bool {
    let stem = query.path.as_path().file_stem();
    let folders = query.path.as_path().parent().into_iter().flat_map(std::path::Path::iter);
    let words: Vec<&str> = folders.chain(stem).filter_map(|word| word.to_str()).collect();
    source.imports.iter().any(|import| {
        let names_it = match &import.item {
            ImportItem::Named(name) => *name == query.name,
            ImportItem::Default | ImportItem::Wildcard | ImportItem::Whole | ImportItem::Child => {
                import.local == query.name
            }
        };
        let ending =
            [".js", ".ts", ".mjs", ".jsx", ".tsx"].iter().find_map(|end| import.module.strip_suffix(end));
        let module = ending.unwrap_or(&import.module);
        let last = module.rsplit(['/', '.', ':', '\\']).find(|word| !word.is_empty());
        names_it && last.is_some_and(|last| words.contains(&last))
    })
}

/// Returns true if `source` declares the queried file as its module, and qualifies the name with
/// it: a server that knows the file as part of another crate does not list that.
fn qualifies_name(source: &ParsedSource, query: &OccurrenceQuery, hits: &[Hit]) -> bool {
    let path = query.path.as_path();
    let stem = path.file_stem().filter(|stem| *stem != "mod").or_else(|| path.parent()?.file_name());
    let Some(module) = stem.and_then(OsStr::to_str) else { return false };
    let declares = |import: &SourceImport| import.item == ImportItem::Child && import.local == module;
    let before = |hit: &Hit| source.text.get(..start_of(source, hit)).unwrap_or_default();
    source.imports.iter().any(declares)
        && hits.iter().any(|hit| before(hit).ends_with(&format!("{module}::")))
}

/// Returns true if the file at `path` contains the name of `origin` without its ending. An
/// unreadable file counts as well.
fn has_stem(workspace: &Workspace, path: &WorkspacePath, origin: &WorkspacePath) -> bool {
    let stem = origin.as_path().file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    workspace.read_text(path).map_or(true, |file| file.text.contains(stem))
}

/// Returns true if the line looks like an import, before anything is parsed.
fn seems_import(hit: &Hit) -> bool {
    let line = hit.line.trim_start();
    ["import ", "from ", "use ", "export ", "pub use ", "const {", "require"]
        .iter()
        .any(|word| line.starts_with(word))
}
