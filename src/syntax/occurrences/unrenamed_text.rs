//! Text that a rename does not change: comments and strings of the changed files, and files that
//! are not code.

use std::collections::BTreeMap;
use std::time::Instant;

use crate::config::Catalogue;
use crate::syntax::answer::HintError;
use crate::syntax::grammar::Grammar;
use crate::syntax::resolution::project::Project;
use crate::syntax::resolution::source::ParsedSource;
use crate::text::{Position, identifiers_on_line};
use crate::workspace::{SearchQuery, Workspace, WorkspacePath};

/// The maximum number of places in files without code that are counted.
const MAX_DOCUMENT_HITS: usize = 2_000;

/// The first place of `name` in comments and strings of `text`, which is or would be the file
/// `path` of `language`.
pub(crate) fn first_quoted_place(
    language: &str,
    path: &WorkspacePath,
    text: &str,
    name: &str,
    deadline: Instant,
) -> Option<Position> {
    let grammar = Grammar::for_language(language, path.extension()).filter(|_| text.contains(name))?;
    let source = ParsedSource::new(path.clone(), grammar, text.to_owned(), deadline).ok()?;
    let buffer = source.buffer();
    let identifiers = (0..buffer.line_count()).flat_map(|line| identifiers_on_line(buffer, line));
    let quoted = identifiers.filter(|found| found.name == name).map(|found| found.range.start);
    let mut quoted = quoted.filter(|start| source.is_comment_or_string(buffer.byte_offset(*start)));
    quoted.next()
}

/// Returns the first place of `name` in each file that is no code (documents, settings, data), and
/// whether there may be more.
///
/// # Errors
/// [`HintError`] if the workspace cannot be searched.
pub(crate) fn documents_naming(
    workspace: &Workspace,
    catalogue: &Catalogue,
    name: &str,
    deadline: Instant,
) -> Result<(Vec<(WorkspacePath, Position)>, bool), HintError> {
    let project = Project::new(workspace, catalogue, deadline);
    let found = workspace.search(&SearchQuery {
        pattern: name.to_owned(),
        literal: true,
        whole_word: true,
        case_insensitive: false,
        under: WorkspacePath::root(),
        extensions: None,
        max_hits: MAX_DOCUMENT_HITS,
        deadline,
    })?;
    let mut files: BTreeMap<WorkspacePath, Position> = BTreeMap::new();
    for hit in found.hits {
        let first = files.entry(hit.path).or_insert(hit.range.start);
        *first = hit.range.start.min(*first);
    }
    let is_code =
        |path: &WorkspacePath| project.language(path).is_some_and(|language| !catalogue.is_data(language));
    // Notebooks are searched with the code: only their code cells count.
    let documents = files.into_iter().filter(|(path, _)| !is_code(path) && !path.is_notebook()).collect();
    Ok((documents, found.truncated || found.timed_out))
}
