//! Candidates for the definition of the name at a position.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::by_name::{self, NameLookupQuery};
use super::definition::DefinitionRole;
use super::imports::ImportItem;
use super::project::Project;
use super::resolve::{ResolutionStage, ResolutionTarget, Resolver};
use super::source::ParsedSource;
use crate::config::Catalogue;
use crate::lsp::model::{FileRef, Location, SymbolKind};
use crate::syntax::answer::{Candidate, HintError, Hints};
use crate::syntax::docs;
use crate::syntax::occurrences::name_occurrence;
use crate::syntax::occurrences::name_occurrence::{NameOccurrence, ResolutionMethod};
use crate::syntax::patterns;
use crate::text::{Buffer, Identifier, Position, Range, identifier_near};
use crate::workspace::{Workspace, WorkspacePath};

/// The default time limit of a question.
pub const DEADLINE: Duration = Duration::from_secs(2);

/// The maximum number of candidates in an answer.
const MAX_HINT_CANDIDATES: usize = 20;

/// The subject of a question.
#[derive(Debug, Clone)]
pub enum HintSubject {
    /// The name at or nearest to a position (0-based, in Unicode scalar values) of a file.
    Position {
        /// The file.
        path: WorkspacePath,
        /// The position in the file.
        position: Position,
    },
    /// A name, or `Container.name` (`::` and `#` separate as well).
    Name {
        /// The file from which the name is looked up, if any.
        path: Option<WorkspacePath>,
        /// The name.
        name: String,
    },
}

/// Finds the likely definitions of the subject, best first, before `deadline`.
///
/// # Errors
/// [`HintError`] if the file cannot be read or the workspace cannot be searched.
pub fn definition(
    workspace: &Workspace,
    catalogue: &Catalogue,
    subject: &HintSubject,
    deadline: Instant,
) -> Result<Hints, HintError> {
    definition_up_to(ResolutionStage::Members, workspace, catalogue, subject, deadline)
}

/// Like [`definition`], with no step beyond the stage `last`.
///
/// # Errors
/// The errors of [`definition`].
pub fn definition_up_to(
    last: ResolutionStage,
    workspace: &Workspace,
    catalogue: &Catalogue,
    subject: &HintSubject,
    deadline: Instant,
) -> Result<Hints, HintError> {
    let project = Project::new(workspace, catalogue, deadline);
    match subject {
        HintSubject::Position { path, position } => at_position(last, &project, path, *position),
        HintSubject::Name { path, name } => candidates_by_name(&project, path.as_ref(), name),
    }
}

fn at_position(
    last: ResolutionStage,
    project: &Project<'_>,
    path: &WorkspacePath,
    position: Position,
) -> Result<Hints, HintError> {
    let Some(source) = project.source(path) else {
        let text = project.workspace.read_text(path)?.text;
        let Some(found) = identifier_near(&Buffer::new(&text), position) else { return Ok(Hints::default()) };
        return patterns::definition(project, path, &found);
    };
    let Some(identifier) = identifier_at(&source, position) else { return Ok(Hints::default()) };
    let buffer = source.buffer();
    let span = buffer.byte_offset(identifier.range.start)..buffer.byte_offset(identifier.range.end);
    let spot = name_occurrence::name_occurrence(&source, span);
    let resolver = Resolver::up_to(last, project);
    let (how, targets) = match last {
        ResolutionStage::Names => (ResolutionMethod::Name, Vec::new()),
        _ => name_occurrence::resolve_occurrence(&resolver, &source, &spot),
    };
    let targets: Vec<ResolutionTarget> =
        targets.into_iter().map(|target| resolver.resolve_module_exports(target)).collect();
    let mut hints = Hints {
        identifier: Some((identifier.name.clone(), Some(identifier.range))),
        timed_out: project.is_late(),
        ..Hints::default()
    };
    for target in &targets {
        push(&mut hints, resolved_candidate(&source, &spot, how, target, base_score(target)));
    }
    let is_settled = targets.iter().any(|target| match target.definition().map(|found| found.role) {
        Some(DefinitionRole::Import(import)) => is_namespace(target, import),
        Some(DefinitionRole::Prototype) => how == ResolutionMethod::Itself,
        _ => true,
    });
    if !is_settled {
        let query = NameLookupQuery {
            name: &spot.name,
            spot: Some(&spot),
            source: Some(&source),
            path: Some(path),
            container: None,
        };
        search(project, project.language(path), &query, &mut hints)?;
    }
    Ok(sort_and_truncate(hints))
}

/// Returns true if the target is a namespace import, whose name is not visible from outside.
fn is_namespace(target: &ResolutionTarget, import: usize) -> bool {
    let ResolutionTarget::Definition(source, _) = target else { return false };
    source
        .imports
        .get(import)
        .is_some_and(|import| import.item == ImportItem::Whole && import.span != import.selection)
        && matches!(source.grammar.key, "javascript" | "typescript" | "tsx")
}

/// The base score of a resolved target. It ranks before a match by name only; a prototype or an
/// import ranks after its body.
fn base_score(target: &ResolutionTarget) -> i32 {
    match target.definition().map(|definition| definition.role) {
        Some(DefinitionRole::Import(_)) => 500,
        Some(DefinitionRole::Prototype) => 40,
        _ => 1_000,
    }
}

/// The name at `position` as the grammar sees it: a shell's `$name` is `name`.
pub(crate) fn identifier_at(source: &ParsedSource, position: Position) -> Option<Identifier> {
    let mut identifier = identifier_near(source.buffer(), position)?;
    if source.grammar.key == "shell" && identifier.name.starts_with('$') {
        let bare = identifier.name.trim_start_matches('$');
        let dollars = identifier.name.len() - bare.len();
        identifier.range.start.character += u32::try_from(dollars).unwrap_or(0);
        identifier.name = bare.to_owned();
    }
    (!identifier.name.is_empty()).then_some(identifier)
}

fn candidates_by_name(
    project: &Project<'_>,
    path: Option<&WorkspacePath>,
    name: &str,
) -> Result<Hints, HintError> {
    let parts: Vec<&str> = name.split(['.', ':', '#']).filter(|part| !part.is_empty()).collect();
    let Some((last, before)) = parts.split_last() else { return Ok(Hints::default()) };
    let source = path.and_then(|path| project.source(path));
    let mut hints = Hints { identifier: Some(((*last).to_owned(), None)), ..Hints::default() };
    let container = before.last().copied();
    let query = NameLookupQuery { name: last, spot: None, source: source.as_deref(), path, container };
    let language = path.and_then(|path| project.language(path));
    search(project, language, &query, &mut hints)?;
    Ok(sort_and_truncate(hints))
}

fn search(
    project: &Project<'_>,
    language: Option<&str>,
    query: &NameLookupQuery<'_>,
    hints: &mut Hints,
) -> Result<(), HintError> {
    let found = by_name::find(project, language, query)?;
    hints.truncated |= found.truncated;
    hints.timed_out |= found.timed_out;
    for named in &found.named {
        let target = ResolutionTarget::Definition(named.source.clone(), named.index);
        push(hints, candidate(&target, named.score, named.why.clone()));
    }
    let is_promise = |named: &by_name::NameLookupMatch| {
        named.source.definitions[named.index].role == DefinitionRole::Prototype
    };
    if found.named.iter().all(is_promise) {
        patterns::from_hits(project, query, &found.hits, hints);
    }
    Ok(())
}

fn push(hints: &mut Hints, candidate: Option<Candidate>) {
    let Some(candidate) = candidate else { return };
    if !hints.candidates.iter().any(|known| known.location == candidate.location) {
        hints.candidates.push(candidate);
    }
}

fn sort_and_truncate(mut hints: Hints) -> Hints {
    hints.candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.score));
    hints.truncated |= hints.candidates.len() > MAX_HINT_CANDIDATES;
    hints.candidates.truncate(MAX_HINT_CANDIDATES);
    hints
}

fn resolved_candidate(
    source: &Arc<ParsedSource>,
    spot: &NameOccurrence,
    how: ResolutionMethod,
    target: &ResolutionTarget,
    score: i32,
) -> Option<Candidate> {
    let kind = match target {
        ResolutionTarget::Definition(file, index) => match file.definitions[*index].role {
            DefinitionRole::Import(_) => {
                return candidate(target, score, "imported here".to_owned());
            }
            DefinitionRole::Parameter => "parameter",
            role => role.kind().name(),
        },
        ResolutionTarget::File(_) | ResolutionTarget::Folder(_) => "module",
    };
    let is_here = matches!(target, ResolutionTarget::Definition(file, _) if file.path == source.path);
    let container = target.definition().and_then(|definition| definition.container.as_deref());
    let reason = match (how, is_here) {
        (ResolutionMethod::Itself, _) => format!("{kind} defined at this place"),
        (ResolutionMethod::Argument, _) => format!("{kind} that the argument names"),
        (ResolutionMethod::Member, _) => format!("{kind} of {}", container.unwrap_or("the module before it")),
        (_, true) => match target {
            ResolutionTarget::Definition(file, index) if file.is_local(&file.definitions[*index]) => {
                format!("{kind} of the function around")
            }
            _ => format!("{kind} defined in this file"),
        },
        (_, false) => match import_line(source, &spot.name) {
            Some(line) => format!("{kind} defined in the module imported on line {line}"),
            None => format!("{kind} defined in a module that is used here"),
        },
    };
    candidate(target, score, reason)
}

fn import_line(source: &ParsedSource, name: &str) -> Option<u32> {
    let import = source.imports.iter().find(|import| import.local == name)?;
    Some(source.position(import.span.start).line + 1)
}

pub(crate) fn candidate(target: &ResolutionTarget, score: i32, why: String) -> Option<Candidate> {
    match target {
        ResolutionTarget::Definition(source, index) => {
            let definition = source.definitions.get(*index)?;
            let range = source.range(&definition.selection);
            Some(Candidate {
                location: location(source, range),
                kind: Some(definition.role.kind()),
                container: definition.container.clone(),
                why,
                score,
                signature: docs::signature(source, definition),
                documentation: docs::documentation(source, definition),
            })
        }
        ResolutionTarget::File(source) => Some(Candidate {
            location: location(source, Range::default()),
            kind: SymbolKind::from_name("module"),
            container: None,
            why,
            score,
            signature: None,
            documentation: None,
        }),
        ResolutionTarget::Folder(_) => None,
    }
}

fn location(source: &ParsedSource, range: Range) -> Location {
    Location { file: FileRef::Inside(source.path.clone()), range, text: source.line_excerpt(range.start) }
}
