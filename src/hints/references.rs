//! Where a name is used, as far as the text tells.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use super::by_name::{distance, is_secondary, occurrences, parse_all};
use super::candidates::{self, Candidate, HintError, Hints, Subject};
use super::project::Project;
use super::source::Source;
use crate::config::Catalogue;
use crate::lsp::model::{FileRef, Location};
use crate::workspace::{Hit, Workspace, WorkspacePath};

/// How many occurrences are given at most.
const MOST_REFERENCES: usize = 500;
/// How many of the files that hold the name are parsed to leave out comments and strings.
const MOST_PARSED: usize = 64;

/// Every occurrence of the subject's name outside comments and strings, not beyond `deadline`: its likely definition
/// first, then its own file, then nearer files before farther ones, tests and others' code last.
///
/// # Errors
/// [`HintError`] where the file cannot be read or the workspace not searched.
pub fn references(
    workspace: &Workspace,
    catalogue: &Catalogue,
    subject: &Subject,
    deadline: Instant,
) -> Result<Hints, HintError> {
    let defined = candidates::definition(workspace, catalogue, subject, deadline)?;
    let Some((name, _)) = &defined.identifier else { return Ok(defined) };
    let project = Project::new(workspace, catalogue, deadline);
    let from = match subject {
        Subject::Position { path, .. } => Some(path),
        Subject::Name { path, .. } => path.as_ref(),
    };
    let language = from.and_then(|path| project.language(path));
    let (mut hits, truncated, timed_out) = occurrences(&project, language, name)?;
    order(&mut hits, from);
    let parsed = parsed(&project, &hits);
    let definition = defined.candidates.first().map(|candidate| &candidate.location);
    let used = hits.into_iter().filter(|hit| !is_quiet(&parsed, hit));
    let mut found: Vec<Candidate> = used.map(|hit| occurrence(hit, definition, from)).collect();
    found.sort_by_key(|candidate| std::cmp::Reverse(candidate.score));
    let more = found.len() > MOST_REFERENCES;
    found.truncate(MOST_REFERENCES);
    Ok(Hints {
        identifier: defined.identifier,
        candidates: found,
        truncated: truncated || more,
        timed_out: timed_out || defined.timed_out || project.is_late(),
    })
}

fn order(hits: &mut [Hit], from: Option<&WorkspacePath>) {
    hits.sort_by_cached_key(|hit| (is_secondary(&hit.path), distance(from, &hit.path), hit.path.clone(), hit.range));
}

fn parsed(project: &Project<'_>, hits: &[Hit]) -> HashMap<WorkspacePath, Arc<Source>> {
    let mut paths: Vec<&WorkspacePath> = hits.iter().map(|hit| &hit.path).collect();
    paths.dedup();
    paths.truncate(MOST_PARSED);
    parse_all(project, &paths).into_iter().map(|source| (source.path.clone(), source)).collect()
}

fn is_quiet(parsed: &HashMap<WorkspacePath, Arc<Source>>, hit: &Hit) -> bool {
    parsed.get(&hit.path).is_some_and(|source| source.is_quiet(source.buffer().byte_offset(hit.range.start)))
}

fn occurrence(hit: Hit, definition: Option<&Location>, from: Option<&WorkspacePath>) -> Candidate {
    let file = FileRef::Inside(hit.path);
    let is_definition = definition.is_some_and(|place| place.file == file && place.range == hit.range);
    let is_here = matches!((&file, from), (FileRef::Inside(path), Some(from)) if path == from);
    let (score, why) = match (is_definition, is_here) {
        (true, _) => (2, "the likely definition"),
        (false, true) => (1, "the same name in this file"),
        (false, false) => (0, "the same name"),
    };
    Candidate {
        location: Location { file, range: hit.range, text: Some(hit.line) },
        kind: None,
        container: None,
        why: why.to_owned(),
        score,
        signature: None,
        documentation: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hints::DEADLINE;
    use std::path::Path;

    #[test]
    fn uses_are_found_outside_comments_and_strings_the_definition_first() {
        let temp = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(temp.path().join(name), text).unwrap();
        write("a.py", "# total is a comment\ntotal = 1\nprint(total, 'total')\n");
        write("b.py", "from a import total\nsubtotal = total\n");
        write("c.md", "total\n");
        let workspace = Workspace::open(temp.path()).unwrap();
        let path = workspace.path(Path::new("b.py")).unwrap();
        let subject = Subject::Position { path, position: crate::text::Position::new(1, 12) };
        let hints = references(&workspace, Catalogue::built_in(), &subject, Instant::now() + DEADLINE).unwrap();
        let places: Vec<String> = hints
            .candidates
            .iter()
            .map(|one| match &one.location.file {
                FileRef::Inside(path) => format!("{}:{}", path.display(), one.location.range.start.line + 1),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(places, ["a.py:2", "b.py:1", "b.py:2", "a.py:3"]);
        assert_eq!(hints.candidates[0].why, "the likely definition");
    }
}
