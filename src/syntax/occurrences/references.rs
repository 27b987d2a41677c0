//! References to a name: text search without comments and strings.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use crate::config::Catalogue;
use crate::lsp::model::{FileRef, Location};
use crate::syntax::answer::{Candidate, HintError};
use crate::syntax::resolution::by_name;
use crate::syntax::resolution::by_name::{distance, is_secondary};
use crate::syntax::resolution::candidates;
use crate::syntax::resolution::candidates::HintSubject;
use crate::syntax::resolution::project::Project;
use crate::syntax::resolution::source::ParsedSource;
use crate::text::Position;
use crate::workspace::{Hit, Workspace, WorkspacePath};

/// The maximum number of files with occurrences that are parsed to tell comments and strings apart.
/// In the other files all occurrences count.
const MAX_REFERENCE_PARSED_FILES: usize = 200;

/// Occurrences of a name.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct References {
    /// The name.
    pub(crate) identifier: Option<String>,
    /// The likely definition, if one was found; it is also the first of `locations`.
    pub(crate) definition: Option<Candidate>,
    /// The definition, then the occurrences, nearest file first.
    pub(crate) locations: Vec<Location>,
    /// True if there are more than the limit.
    pub(crate) truncated: bool,
    /// True if the deadline passed before everything was searched.
    pub(crate) timed_out: bool,
}

/// Finds the subject's name in files of its family of languages, at most `limit` places.
///
/// A local variable or parameter is searched for in its own function only.
///
/// # Errors
/// [`HintError`] if the file cannot be read or the workspace cannot be searched.
pub(crate) fn references(
    workspace: &Workspace,
    catalogue: &Catalogue,
    subject: &HintSubject,
    limit: usize,
    deadline: Instant,
) -> Result<References, HintError> {
    let hints = candidates::definition(workspace, catalogue, subject, deadline)?;
    let Some((name, _)) = hints.identifier else { return Ok(References::default()) };
    let project = Project::new(workspace, catalogue, deadline);
    let path = match subject {
        HintSubject::Position { path, .. } => Some(path),
        HintSubject::Name { path, .. } => path.as_ref(),
    };
    let language = path.and_then(|path| project.language(path));
    let definition = hints.candidates.into_iter().next();
    let (mut hits, truncated, timed_out) = by_name::occurrences(&project, language, &name)?;
    let within = definition.as_ref().and_then(|definition| enclosing_function(&project, definition));
    if let Some((file, range)) = &within {
        hits.retain(|hit| hit.path == *file && range.encloses(&hit.range));
    }
    let (sources, _) = by_name::nearest_sources(&project, path, &hits, MAX_REFERENCE_PARSED_FILES);
    let sources: HashMap<WorkspacePath, Arc<ParsedSource>> =
        sources.into_iter().map(|source| (source.path.clone(), source)).collect();
    hits.retain(|hit| is_code_occurrence(sources.get(&hit.path), hit));
    hits.sort_by_cached_key(|hit| {
        (is_secondary(&hit.path), distance(path, &hit.path), hit.path.clone(), hit.range.start)
    });
    let mut found = References {
        identifier: Some(name),
        timed_out: timed_out || project.is_late(),
        ..References::default()
    };
    found.locations.extend(definition.as_ref().map(|definition| definition.location.clone()));
    found.definition = definition;
    for hit in hits {
        let location = Location { file: FileRef::Inside(hit.path), range: hit.range, text: Some(hit.line) };
        if found
            .locations
            .first()
            .is_none_or(|first| first.file != location.file || first.range != location.range)
        {
            found.locations.push(location);
        }
    }
    found.truncated = truncated || found.locations.len() > limit;
    found.locations.truncate(limit);
    Ok(found)
}

/// Returns the function in which a local definition is known.
fn enclosing_function(
    project: &Project<'_>,
    definition: &Candidate,
) -> Option<(WorkspacePath, crate::text::Range)> {
    let FileRef::Inside(path) = &definition.location.file else { return None };
    let source = project.source(path)?;
    let start: Position = definition.location.range.start;
    let byte = source.buffer().byte_offset(start);
    let local =
        source.definitions.iter().find(|known| known.selection.start == byte && source.is_local(known))?;
    Some((path.clone(), source.range(&source.scopes[local.scope].span)))
}

/// Returns true if a hit is neither in a comment nor in a string.
fn is_code_occurrence(source: Option<&Arc<ParsedSource>>, hit: &Hit) -> bool {
    source.is_none_or(|source| !source.is_comment_or_string(source.buffer().byte_offset(hit.range.start)))
}
