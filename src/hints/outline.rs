//! What a file defines, and what the workspace defines under a name.

use std::time::Instant;

use super::by_name::{distance, is_secondary, parse_all};
use super::candidates::HintError;
use super::docs;
use super::family;
use super::project::Project;
use super::source::{Definition, Role, Source};
use crate::config::Catalogue;
use crate::lsp::model::{FileRef, Location, Symbol, WorkspaceSymbol};
use crate::workspace::{SearchQuery, Workspace, WorkspacePath};

/// How many files that hold a name are parsed.
const MOST_PARSED: usize = 128;
/// How many occurrences of a name are looked at.
const MOST_HITS: usize = 20_000;

/// The outline of a file; empty for a language without grammar.
///
/// # Errors
/// [`HintError`] where the file cannot be read.
pub fn symbols(
    workspace: &Workspace,
    catalogue: &Catalogue,
    path: &WorkspacePath,
    deadline: Instant,
) -> Result<Vec<Symbol>, HintError> {
    workspace.stamp(path)?;
    let project = Project::new(workspace, catalogue, deadline);
    Ok(project.source(path).map(|source| below(&source, None)).unwrap_or_default())
}

/// Parameters, labels, imports and what a function keeps to itself are in no outline.
fn is_listed(source: &Source, definition: &Definition) -> bool {
    let hidden = matches!(definition.role, Role::Import(_) | Role::Parameter | Role::TypeParameter | Role::Label);
    !hidden && !source.is_local(definition)
}

/// The listed definitions whose nearest listed ancestor is `parent`.
fn below(source: &Source, parent: Option<usize>) -> Vec<Symbol> {
    let of_parent = |index: &usize| {
        let mut above = source.definitions[*index].parent;
        while let Some(candidate) = above {
            if is_listed(source, &source.definitions[candidate]) {
                break;
            }
            above = source.definitions[candidate].parent;
        }
        above == parent
    };
    (0..source.definitions.len())
        .filter(|index| is_listed(source, &source.definitions[*index]))
        .filter(of_parent)
        .map(|index| symbol(source, index))
        .collect()
}

fn symbol(source: &Source, index: usize) -> Symbol {
    let definition = &source.definitions[index];
    let detail = definition.role.is_callable().then(|| docs::signature(source, definition)).flatten();
    Symbol {
        name: definition.name.clone(),
        kind: definition.role.kind(),
        detail: detail.and_then(|detail| detail.lines().next().map(|line| line.trim().to_owned())),
        range: source.range(&definition.span),
        selection: source.range(&definition.selection),
        children: below(source, Some(index)),
    }
}

/// The definitions whose names contain `query` (without regard to case), in files of `language` and those related to it.
///
/// # Errors
/// [`HintError`] where the workspace cannot be searched.
pub fn workspace_symbols(
    workspace: &Workspace,
    catalogue: &Catalogue,
    language: Option<&str>,
    query: &str,
    deadline: Instant,
) -> Result<Vec<WorkspaceSymbol>, HintError> {
    if query.is_empty() {
        return Ok(Vec::new());
    }
    let extensions = language.map(|language| family::extensions(catalogue, language));
    let found = workspace.search(&SearchQuery {
        pattern: query.to_owned(),
        literal: true,
        whole_word: false,
        case_insensitive: true,
        under: WorkspacePath::root(),
        extensions: extensions.filter(|extensions| !extensions.is_empty()),
        max_hits: MOST_HITS,
        deadline,
    })?;
    let mut paths: Vec<&WorkspacePath> = found.hits.iter().map(|hit| &hit.path).collect();
    paths.sort_by_cached_key(|path| (is_secondary(path), distance(None, path), (*path).clone()));
    paths.dedup();
    paths.truncate(MOST_PARSED);
    let project = Project::new(workspace, catalogue, deadline);
    let wanted = query.to_lowercase();
    let mut symbols = Vec::new();
    for source in parse_all(&project, &paths) {
        for definition in &source.definitions {
            let fits = definition.name.to_lowercase().contains(&wanted) && definition.role != Role::Extension;
            if fits && is_listed(&source, definition) {
                symbols.push(workspace_symbol(&source, definition));
            }
        }
    }
    Ok(symbols)
}

fn workspace_symbol(source: &Source, definition: &Definition) -> WorkspaceSymbol {
    let range = source.range(&definition.selection);
    WorkspaceSymbol {
        name: definition.name.clone(),
        kind: definition.role.kind(),
        container: definition.container.clone(),
        location: Location {
            file: FileRef::Inside(source.path.clone()),
            range,
            text: source.buffer().line(range.start.line).map(|line| line.trim_end().to_owned()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hints::DEADLINE;
    use std::path::Path;

    fn names(symbols: &[Symbol]) -> Vec<String> {
        let below = |symbol: &Symbol| names(&symbol.children).into_iter().map(|name| format!("{}.{name}", symbol.name)).collect::<Vec<_>>();
        symbols.iter().flat_map(|symbol| std::iter::once(symbol.name.clone()).chain(below(symbol))).collect()
    }

    #[test]
    fn an_outline_lists_what_others_can_use_and_the_workspace_is_searched_by_parts_of_names() {
        let temp = tempfile::tempdir().unwrap();
        let text = "import os\nLIMIT = 3\nclass Basket:\n    def add(self, item):\n        total = 1\n        return total\n\ndef main():\n    pass\n";
        std::fs::write(temp.path().join("a.py"), text).unwrap();
        let workspace = Workspace::open(temp.path()).unwrap();
        let path = workspace.path(Path::new("a.py")).unwrap();
        let deadline = Instant::now() + DEADLINE;
        let outline = symbols(&workspace, Catalogue::built_in(), &path, deadline).unwrap();
        assert_eq!(names(&outline), ["LIMIT", "Basket", "Basket.add", "main"]);
        let found = workspace_symbols(&workspace, Catalogue::built_in(), Some("python"), "ASK", deadline).unwrap();
        let found: Vec<&str> = found.iter().map(|symbol| symbol.name.as_str()).collect();
        assert_eq!(found, ["Basket"]);
    }
}
