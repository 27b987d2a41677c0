//! Uses of a name in the code cells of Jupyter notebooks; their outputs do not count.

use std::collections::BTreeSet;
use std::ops::Range;

use super::grammar::Grammar;
use super::language_families::related_languages;
use super::occurrences::occurrence_sense::{OccurrenceQuery, counts, is_member, is_own_definition};
use super::resolution::project::Project;
use super::resolution::source::ParsedSource;
use crate::text::identifiers_on_line;
use crate::text::notebook::{NOTEBOOK_EXTENSION, Notebook};
use crate::workspace::{SearchError, SearchQuery, WorkspacePath};

/// The maximum number of notebooks that are read for one name.
const MAX_READ_NOTEBOOKS: usize = 60;
/// The maximum number of places in notebooks that are examined.
const MAX_NOTEBOOK_HITS: usize = 5_000;

/// A notebook whose code contains a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NotebookUse {
    /// The file.
    pub(crate) path: WorkspacePath,
    /// The number of the first cell that has it, from 1, as editors count.
    pub(crate) cell: usize,
}

/// Returns the notebooks beside `known` that use the symbol of `query`, and whether all were
/// examined.
///
/// # Errors
/// [`SearchError`] if the workspace cannot be searched.
pub(super) fn notebook_uses(
    project: &Project<'_>,
    language: &str,
    query: &OccurrenceQuery,
    of_method: bool,
    known: &BTreeSet<WorkspacePath>,
) -> Result<(Vec<NotebookUse>, bool), SearchError> {
    let found = project.workspace.search(&SearchQuery {
        pattern: query.name.clone(),
        literal: true,
        // In JSON an escaped line end and the name behind it are one word.
        whole_word: false,
        case_insensitive: false,
        under: WorkspacePath::root(),
        extensions: Some(vec![NOTEBOOK_EXTENSION.to_owned()]),
        max_hits: MAX_NOTEBOOK_HITS,
        deadline: project.deadline,
    })?;
    let paths: BTreeSet<WorkspacePath> = found.hits.into_iter().map(|hit| hit.path).collect();
    let is_whole = !found.truncated && !found.timed_out && paths.len() <= MAX_READ_NOTEBOOKS;
    let others = paths.into_iter().filter(|path| !known.contains(path)).take(MAX_READ_NOTEBOOKS);
    let uses = others.filter_map(|path| {
        let text = project.workspace.read_text(&path).ok()?.text;
        let cell = first_use(project, language, query, of_method, &path, &text)?;
        Some(NotebookUse { path, cell })
    });
    Ok((uses.collect(), is_whole))
}

/// Returns the number of the first cell of a notebook that uses the name, unless the notebook
/// defines the name itself.
fn first_use(
    project: &Project<'_>,
    language: &str,
    query: &OccurrenceQuery,
    of_method: bool,
    path: &WorkspacePath,
    json: &str,
) -> Option<usize> {
    let notebook: Notebook = Notebook::parse(json).ok()?;
    let spoken = &notebook.language;
    if !related_languages(language).contains(&spoken.as_str()) {
        return None;
    }
    let mut text = String::new();
    let mut spans: Vec<(usize, Range<usize>)> = Vec::new();
    let cells = notebook.cells.items.iter().enumerate();
    for (index, cell) in cells.filter(|(_, cell)| cell.kind() == "code") {
        let start = text.len();
        for line in cell.source().lines() {
            // Commands of the notebook are not code.
            let is_command = line.trim_start().starts_with(['%', '!']);
            text.push_str(if is_command { "" } else { line });
            text.push('\n');
        }
        spans.push((index + 1, start..text.len()));
    }
    let grammar = Grammar::for_language(spoken, None)?;
    let source = ParsedSource::new(path.clone(), grammar, text, project.deadline).ok()?;
    if !may_mean(project, &source, query, &notebook) {
        return None;
    }
    let buffer = source.buffer();
    let identifiers = (0..buffer.line_count()).flat_map(|line| identifiers_on_line(buffer, line));
    let starts = identifiers.filter(|found| found.name == query.name).map(|found| found.range.start);
    let mut starts = starts.map(|start| buffer.byte_offset(start));
    let first = starts.find(|at| counts(&source, query, *at) && (of_method || !is_member(&source, *at)))?;
    spans.iter().find(|(_, span)| span.contains(&first)).map(|(cell, _)| *cell)
}

/// Returns true if a notebook can mean the symbol of `query`: it imports the name from a module of
/// the workspace, or it neither imports nor defines the name and uses some module or file of the
/// workspace.
fn may_mean(
    project: &Project<'_>,
    source: &ParsedSource,
    query: &OccurrenceQuery,
    notebook: &Notebook,
) -> bool {
    let folders = [source.path.parent(), Some(WorkspacePath::root()), WorkspacePath::root().join("src").ok()];
    let is_local = |module: &str| {
        let Some(first) = module.split(['.', '/']).next().filter(|first| !first.is_empty()) else {
            return true;
        };
        let names = [first.to_owned(), format!("{first}.py")];
        let mut places =
            folders.iter().flatten().flat_map(|folder| names.iter().map(|name| folder.join(name)));
        places.any(|place| place.is_ok_and(|place| project.workspace.exists(&place)))
    };
    let mut of_name = source.imports.iter().filter(|import| import.local == query.name).peekable();
    if of_name.peek().is_some() {
        return of_name.any(|import| is_local(&import.module));
    }
    let runs_file = || notebook.cells.items.iter().any(|cell| cell.source().contains("%run"));
    !is_own_definition(source, &query.name)
        && (source.imports.iter().any(|import| is_local(&import.module)) || runs_file())
}
