//! The definitions of a file as an outline, and those of the workspace by a query.

use std::collections::{BTreeSet, HashSet};
use std::time::Instant;

use super::answer::HintError;
use super::docs;
use super::grammar::Grammar;
use super::resolution::by_name;
use super::resolution::by_name::{NameLookupQuery, NameLookupResult, is_secondary, parse_all};
use super::resolution::definition::{DefinitionRole, SourceDefinition};
use super::resolution::imports::{ImportItem, SourceImport};
use super::resolution::project::{Project, load};
use super::resolution::source::ParsedSource;
use crate::config::Catalogue;
use crate::lsp::model::{FileRef, Location, MAX_SYMBOL_DEPTH, Symbol, WorkspaceSymbol};
use crate::workspace::{Hit, SearchQuery, SearchResult, Workspace, WorkspacePath};

/// The maximum number of files that are parsed for one query.
const MAX_SYMBOL_PARSED_FILES: usize = 300;

/// The maximum number of occurrences that are examined for one query.
const MAX_SYMBOL_OCCURRENCES: usize = 20_000;

/// Returns the outline of `path`; `None` if its language has no grammar here, or it is too large or
/// too slow to parse.
///
/// # Errors
/// [`HintError`] if the file cannot be read.
pub(crate) fn symbols(
    workspace: &Workspace,
    catalogue: &Catalogue,
    path: &WorkspacePath,
    deadline: Instant,
) -> Result<Option<Vec<Symbol>>, HintError> {
    workspace.stamp(path)?;
    Ok(load(workspace, catalogue, path, deadline).map(|source| outline(&source)))
}

/// The outline of `text`, which is or would be the file `path` of `language` (a key of the
/// catalogue).
pub(crate) fn symbols_in(
    language: &str,
    path: &WorkspacePath,
    text: &str,
    deadline: Instant,
) -> Option<Vec<Symbol>> {
    let grammar = Grammar::for_language(language, path.extension())?;
    let source = ParsedSource::new(path.clone(), grammar, text.to_owned(), deadline).ok()?;
    Some(outline(&source))
}

/// Returns the names that the imports of `text` bind; a star stands for all names of a module.
/// `None` as in [`symbols_in`].
pub(crate) fn imported_in(
    language: &str,
    path: &WorkspacePath,
    text: &str,
    deadline: Instant,
) -> Option<BTreeSet<(String, String)>> {
    let grammar = Grammar::for_language(language, path.extension())?;
    let source = ParsedSource::new(path.clone(), grammar, text.to_owned(), deadline).ok()?;
    let name = |import: &SourceImport| match import.item {
        ImportItem::Wildcard => "*".to_owned(),
        _ => import.local.clone(),
    };
    Some(source.imports.iter().map(|import| (name(import), import.module.clone())).collect())
}

/// Returns the definitions of `source` as a tree, without those local to a function.
pub(super) fn outline(source: &ParsedSource) -> Vec<Symbol> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); source.definitions.len()];
    let mut roots = Vec::new();
    // For each definition, its parent and the resulting depth.
    let mut placed: Vec<(Option<usize>, usize)> = vec![(None, 0); source.definitions.len()];
    for (index, definition) in
        source.definitions.iter().enumerate().filter(|(_, found)| is_listed(source, found))
    {
        let mut around = definition.parent;
        while let Some(parent) = around.filter(|&parent| !is_listed(source, &source.definitions[parent])) {
            around = source.definitions[parent].parent;
        }
        // A definition that lies too deep becomes a sibling of the last one that does not.
        if let Some((above, _)) =
            around.map(|parent| placed[parent]).filter(|(_, depth)| *depth >= MAX_SYMBOL_DEPTH)
        {
            around = above;
        }
        match around {
            Some(parent) => {
                placed[index] = (around, placed[parent].1 + 1);
                children[parent].push(index);
            }
            None => roots.push(index),
        }
    }
    // Built from the last to the first, because a definition inside another begins after it.
    let mut built: Vec<Option<Symbol>> = vec![None; source.definitions.len()];
    for index in (0..source.definitions.len()).rev() {
        let inside = children[index].iter().filter_map(|&child| built[child].take()).collect();
        if is_listed(source, &source.definitions[index]) {
            built[index] = Some(symbol(source, &source.definitions[index], inside));
        }
    }
    roots.into_iter().filter_map(|index| built[index].take()).collect()
}

pub(super) fn is_listed(source: &ParsedSource, definition: &SourceDefinition) -> bool {
    let is_hidden = matches!(
        definition.role,
        DefinitionRole::Import(_)
            | DefinitionRole::Parameter
            | DefinitionRole::TypeParameter
            | DefinitionRole::Label
    );
    let is_assigned_again = definition.role == DefinitionRole::Variable
        && source.definitions_named(&definition.name).next().is_some_and(|first| {
            let first = &source.definitions[first];
            first.scope == definition.scope && first.selection != definition.selection
        });
    !(is_hidden
        || is_assigned_again
        || source.is_local(definition) && definition.role == DefinitionRole::Variable)
}

fn symbol(source: &ParsedSource, definition: &SourceDefinition, children: Vec<Symbol>) -> Symbol {
    Symbol {
        name: definition.name.clone(),
        kind: definition.role.kind(),
        detail: docs::signature(source, definition),
        range: source.range(&definition.span),
        selection: source.range(&definition.selection),
        children,
    }
}

/// Definitions found by a query.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct FoundSymbols {
    /// Best first.
    pub(crate) symbols: Vec<WorkspaceSymbol>,
    /// True if there are more.
    pub(crate) truncated: bool,
    /// True if the deadline passed before everything was searched.
    pub(crate) timed_out: bool,
    /// The files that contain the queried text; `None` if not all files were searched for it.
    pub(crate) occurs_in: Option<BTreeSet<WorkspacePath>>,
}

/// Returns the definitions in the workspace whose name is exactly `name`, best first. Files without
/// the word are not parsed.
///
/// # Errors
/// [`HintError`] if the workspace cannot be searched.
pub(crate) fn workspace_symbols_named(
    workspace: &Workspace,
    catalogue: &Catalogue,
    name: &str,
    deadline: Instant,
) -> Result<FoundSymbols, HintError> {
    definitions_named(&Project::new(workspace, catalogue, deadline), name)
}

pub(super) fn definitions_named(project: &Project<'_>, name: &str) -> Result<FoundSymbols, HintError> {
    if name.is_empty() {
        return Ok(FoundSymbols::default());
    }
    let (hits, truncated, timed_out) = by_name::occurrences(project, None, name)?;
    let occurs_in = paths_of(&hits, truncated || timed_out);
    let occurring = NameLookupResult { named: Vec::new(), hits, truncated, timed_out };
    Ok(FoundSymbols { occurs_in, ..definitions_among(project, name, occurring) })
}

/// The definitions called exactly `name` in the files where it occurs.
fn definitions_among(project: &Project<'_>, name: &str, occurring: NameLookupResult) -> FoundSymbols {
    let query = NameLookupQuery { name, spot: None, source: None, path: None, container: None };
    let found = by_name::find_among(project, &query, occurring);
    let listed = found.named.iter().filter_map(|named| {
        let definition = &named.source.definitions[named.index];
        is_listed(&named.source, definition).then(|| workspace_symbol(&named.source, definition))
    });
    FoundSymbols {
        symbols: listed.collect(),
        truncated: found.truncated,
        timed_out: found.timed_out,
        occurs_in: None,
    }
}

fn paths_of(hits: &[Hit], is_cut: bool) -> Option<BTreeSet<WorkspacePath>> {
    (!is_cut).then(|| hits.iter().map(|hit| hit.path.clone()).collect())
}

/// Returns the definitions whose name is or contains `query` (case counts only in the order), at
/// most `limit`.
///
/// # Errors
/// [`HintError`] if the workspace cannot be searched.
pub(crate) fn workspace_symbols(
    workspace: &Workspace,
    catalogue: &Catalogue,
    query: &str,
    limit: usize,
    deadline: Instant,
) -> Result<FoundSymbols, HintError> {
    let query = query.trim();
    if query.is_empty() {
        return Ok(FoundSymbols::default());
    }
    let project = Project::new(workspace, catalogue, deadline);
    let containing = occurrences_containing(&project, query)?;
    // The name itself comes first: if it is frequent as a part of others, they must not push it
    // out.
    let mut all = if containing.truncated {
        definitions_named(&project, query)?
    } else {
        let hits = containing.hits.iter().filter(|hit| stands_alone(&hit.line, query)).cloned().collect();
        let timed_out = containing.timed_out;
        let occurring = NameLookupResult { named: Vec::new(), hits, truncated: false, timed_out };
        definitions_among(&project, query, occurring)
    };
    if !all.timed_out && all.symbols.len() < limit {
        let mut others = definitions_containing(&project, query, &containing);
        all.truncated |= others.truncated;
        all.timed_out |= others.timed_out;
        others.symbols.retain(|other| all.symbols.iter().all(|known| known.location != other.location));
        all.symbols.append(&mut others.symbols);
    }
    all.occurs_in = paths_of(&containing.hits, containing.truncated || containing.timed_out);
    all.truncated |= all.symbols.len() > limit;
    all.symbols.truncate(limit);
    Ok(all)
}

/// Returns true if `line` contains `name` as a whole word, in the sense of
/// [`SearchQuery::whole_word`].
fn stands_alone(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + name.len()..].chars().next();
        [before, after].into_iter().flatten().all(|next| !next.is_alphanumeric() && next != '_')
    })
}

/// Finds `query` regardless of case, also as a part of other names.
fn occurrences_containing(project: &Project<'_>, query: &str) -> Result<SearchResult, HintError> {
    let search = SearchQuery {
        pattern: query.to_owned(),
        literal: true,
        whole_word: false,
        case_insensitive: true,
        under: WorkspacePath::root(),
        extensions: None,
        max_hits: MAX_SYMBOL_OCCURRENCES,
        deadline: project.deadline,
    };
    Ok(project.workspace.search(&search)?)
}

/// The definitions among `occurring` whose name contains `query` in any case, best first.
fn definitions_containing(project: &Project<'_>, query: &str, occurring: &SearchResult) -> FoundSymbols {
    let mut seen = HashSet::new();
    let mut paths: Vec<&WorkspacePath> =
        occurring.hits.iter().map(|hit| &hit.path).filter(|path| seen.insert((*path).clone())).collect();
    paths.sort_by_key(|path| is_secondary(path));
    let cut = paths.len() > MAX_SYMBOL_PARSED_FILES;
    paths.truncate(MAX_SYMBOL_PARSED_FILES);
    let wanted = query.to_lowercase();
    let mut found: Vec<((u8, bool, usize), WorkspaceSymbol)> = Vec::new();
    for source in parse_all(project, &paths) {
        for definition in source.definitions.iter().filter(|definition| is_listed(&source, definition)) {
            let Some(fit) = match_rank(&definition.name, query, &wanted) else { continue };
            if definition.role == DefinitionRole::Extension {
                continue;
            }
            let rank = (fit, is_secondary(&source.path), definition.name.len());
            found.push((rank, workspace_symbol(&source, definition)));
        }
    }
    found.sort_by_key(|(rank, _)| *rank);
    let symbols = found.into_iter().map(|(_, symbol)| symbol).collect();
    FoundSymbols {
        symbols,
        truncated: occurring.truncated || cut,
        timed_out: occurring.timed_out || project.is_late(),
        occurs_in: None,
    }
}

/// Rates the match of a name: 0 for the name itself, more for a worse match; `None` if it does not
/// match.
fn match_rank(name: &str, query: &str, wanted: &str) -> Option<u8> {
    if name == query {
        return Some(0);
    }
    let lower = name.to_lowercase();
    match lower.find(wanted) {
        Some(0) if lower.len() == wanted.len() => Some(1),
        Some(0) => Some(2),
        Some(_) => Some(3),
        None => None,
    }
}

fn workspace_symbol(source: &ParsedSource, definition: &SourceDefinition) -> WorkspaceSymbol {
    let range = source.range(&definition.selection);
    WorkspaceSymbol {
        name: definition.name.clone(),
        kind: definition.role.kind(),
        container: definition.container.clone(),
        location: Location {
            file: FileRef::Inside(source.path.clone()),
            range,
            text: source.line_excerpt(range.start),
        },
    }
}
