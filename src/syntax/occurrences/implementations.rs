//! The types that derive from a type, and the methods that override one, as far as the text names
//! their bases.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use crate::config::Catalogue;
use crate::lsp::model::FileRef;
use crate::syntax::answer::{Candidate, HintError, Hints};
use crate::syntax::resolution::by_name;
use crate::syntax::resolution::candidates;
use crate::syntax::resolution::candidates::{HintSubject, candidate};
use crate::syntax::resolution::definition::{DefinitionRole, SourceDefinition};
use crate::syntax::resolution::project::Project;
use crate::syntax::resolution::resolve::{ResolutionTarget, Resolver};
use crate::syntax::resolution::source::ParsedSource;
use crate::text::has_word;
use crate::workspace::Workspace;

/// The maximum number of files with the name of a base that are parsed.
const MAX_HEIR_FILES: usize = 64;

/// The maximum number of types found, of all generations.
const MAX_HEIRS: usize = 60;

/// The text's answer to a question for implementations.
#[derive(Debug, Default)]
pub(crate) struct ImplementationHints {
    /// The types that derive from the queried type, or the methods that override the queried
    /// method; direct ones first. Empty if the subject is neither, or no type names it as a base.
    pub(crate) implementations: Hints,
    /// The likely definitions of the subject.
    pub(crate) definition: Hints,
}

/// A type found by one of its bases.
struct Heir {
    source: Arc<ParsedSource>,
    index: usize,
    why: String,
}

/// Finds the implementations of the subject.
///
/// # Errors
/// [`HintError`] if the file cannot be read or the workspace cannot be searched.
pub(crate) fn implementations(
    workspace: &Workspace,
    catalogue: &Catalogue,
    subject: &HintSubject,
    deadline: Instant,
) -> Result<ImplementationHints, HintError> {
    let definition = candidates::definition(workspace, catalogue, subject, deadline)?;
    let project = Project::new(workspace, catalogue, deadline);
    let likely = definition.candidates.first().and_then(|candidate| definition_of(&project, candidate));
    let implementations = match likely {
        Some((source, index)) => implementations_of(&project, &source, index)?,
        None => Hints::default(),
    };
    Ok(ImplementationHints { implementations, definition })
}

fn implementations_of(
    project: &Project<'_>,
    source: &Arc<ParsedSource>,
    index: usize,
) -> Result<Hints, HintError> {
    let mut found = Hints::default();
    let definition = &source.definitions[index];
    let (owner, method) = match definition.role {
        role if role.is_type() => (Some(index), None),
        role if role.is_callable() => {
            (source.class_at(definition.selection.start), Some(definition.name.clone()))
        }
        _ => (None, None),
    };
    let Some(owner) = owner else { return Ok(found) };
    let owner_name = &source.definitions[owner].name;
    let (heirs, cut) = heirs_of(project, (source.clone(), owner))?;
    for (rank, subtype) in (0_i32..).zip(heirs) {
        let (index, reason) = match &method {
            None => (Some(subtype.index), subtype.why),
            Some(name) => (member(&subtype, name), format!("overrides {owner_name}.{name}")),
        };
        let target = index.map(|index| ResolutionTarget::Definition(subtype.source, index));
        found.candidates.extend(target.and_then(|target| candidate(&target, -rank, reason)));
    }
    found.truncated = cut;
    found.timed_out = project.is_late();
    Ok(found)
}

/// Returns the definition whose name is at a candidate's location.
fn definition_of(project: &Project<'_>, candidate: &Candidate) -> Option<(Arc<ParsedSource>, usize)> {
    let FileRef::Inside(path) = &candidate.location.file else { return None };
    let source = project.source(path)?;
    let at = source.buffer().byte_offset(candidate.location.range.start);
    let index = source.definitions.iter().position(|definition| definition.selection.start == at)?;
    Some((source, index))
}

/// The types that name `first` as a base, then those that name these, and whether there may be
/// more.
fn heirs_of(
    project: &Project<'_>,
    first: (Arc<ParsedSource>, usize),
) -> Result<(Vec<Heir>, bool), HintError> {
    let (mut found, mut cut): (Vec<Heir>, bool) = (Vec::new(), false);
    let mut bases = VecDeque::from([first]);
    while let Some((base, base_index)) = bases.pop_front() {
        let name = &base.definitions[base_index].name;
        let (hits, truncated, timed_out) = by_name::occurrences(project, project.language(&base.path), name)?;
        let (sources, is_cut) = by_name::nearest_sources(project, Some(&base.path), &hits, MAX_HEIR_FILES);
        cut |= truncated || timed_out || is_cut;
        for source in sources {
            for index in 0..source.definitions.len() {
                if found.iter().any(|subtype| subtype.index == index && subtype.source.path == source.path) {
                    continue;
                }
                let derives = derives_from(project, &source, index, (&base, base_index));
                let Some(why) = derives else { continue };
                if found.len() == MAX_HEIRS {
                    return Ok((found, true));
                }
                if source.definitions[index].role != DefinitionRole::Extension {
                    bases.push_back((source.clone(), index));
                }
                found.push(Heir { source: source.clone(), index, why });
            }
        }
    }
    Ok((found, cut))
}

/// Returns the reason why a definition derives from `base`; `None` if it does not, or derives from
/// another type of that name.
fn derives_from(
    project: &Project<'_>,
    source: &Arc<ParsedSource>,
    index: usize,
    (base, base_index): (&Arc<ParsedSource>, usize),
) -> Option<String> {
    let definition = &source.definitions[index];
    let wanted = &base.definitions[base_index];
    if !names_as_base(source, definition, &wanted.name) {
        return None;
    }
    let resolver = Resolver::new(project);
    let named: Vec<ResolutionTarget> = definition
        .bases
        .iter()
        .flat_map(|span| resolver.names_in(source, source.slice(span), definition.selection.start))
        .filter(|target| target.definition().is_some_and(|found| found.name == wanted.name))
        .collect();
    let is_wanted = |target: &ResolutionTarget| {
        let ResolutionTarget::Definition(file, at) = target else { return false };
        file.path == base.path && file.definitions[*at].selection == wanted.selection
    };
    match named.iter().any(is_wanted) {
        true => Some(format!("derives from {}", wanted.name)),
        // The name was resolved to something else there.
        false if named.iter().any(|target| !target.is_import()) => None,
        false => Some(format!("names {} as a base", wanted.name)),
    }
}

/// Returns true if the word is among the bases of a type.
fn names_as_base(source: &ParsedSource, definition: &SourceDefinition, name: &str) -> bool {
    definition.name != name && definition.bases.iter().any(|span| has_word(source.slice(span), name))
}

/// The method of that name in a type.
fn member(subtype: &Heir, name: &str) -> Option<usize> {
    let whole = &subtype.source.definitions[subtype.index].span;
    subtype.source.definitions_named(name).find(|&index| {
        let definition = &subtype.source.definitions[index];
        let class = subtype.source.class_at(definition.selection.start);
        definition.role.is_callable()
            && class.is_some_and(|class| subtype.source.definitions[class].span == *whole)
    })
}
