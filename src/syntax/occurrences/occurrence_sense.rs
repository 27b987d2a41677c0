//! The senses in which a name is looked up, and the occurrences in a file that match each sense.

use super::occurrence_use::{OccurrenceUse, occurrence_use};
use crate::syntax::resolution::definition::{DefinitionRole, SourceDefinition};
use crate::syntax::resolution::source::ParsedSource;
use crate::text::Position;
use crate::workspace::WorkspacePath;

/// A question about the occurrences of a name.
#[derive(Debug, Clone)]
pub(crate) struct OccurrenceQuery {
    /// The file of the queried name.
    pub(crate) path: WorkspacePath,
    /// The position in the file.
    pub(crate) position: Position,
    /// The name.
    pub(crate) name: String,
    /// The sense that counts.
    pub(crate) sense: OccurrenceSense,
}

/// The occurrences of a name that answer a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OccurrenceSense {
    /// All occurrences.
    Any,
    /// Occurrences in code that may call it: neither its definition nor an import, nor a type.
    Call,
    /// Occurrences by which code may implement it: a definition of the same name, or the head of a
    /// type.
    Implementation,
    /// Occurrences by which a type may derive from it: the heads of types.
    Heir,
    /// No occurrences: the bases of a type do not contain its name.
    Base,
}

/// Returns true if the name at a byte counts: it is neither in a comment nor in a string, and it
/// has the sense of the question.
pub(crate) fn counts(source: &ParsedSource, query: &OccurrenceQuery, at: usize) -> bool {
    !source.is_comment_or_string(at) && matches_sense(source, query, at)
}

/// Returns true if `source` defines something called `name` itself.
pub(crate) fn is_own_definition(source: &ParsedSource, name: &str) -> bool {
    let own = |index: usize| {
        !matches!(source.definitions[index].role, DefinitionRole::Import(_) | DefinitionRole::Extension)
    };
    source.definitions_named(name).any(own)
}

/// Returns true if the name at a byte is a member of a value: it follows a dot, and not the name of
/// an import.
pub(crate) fn is_member(source: &ParsedSource, at: usize) -> bool {
    let Some(before) = source.text.get(..at).and_then(|before| before.trim_end().strip_suffix('.')) else {
        return false;
    };
    let start = before.rfind(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let owner = &before[start.map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8))..];
    !source.imports.iter().any(|import| import.local == owner)
}

/// Returns true if the occurrence at a byte counts in the requested sense.
fn matches_sense(source: &ParsedSource, query: &OccurrenceQuery, at: usize) -> bool {
    let defined = || {
        source.definitions_named(&query.name).find(|&index| source.definitions[index].selection.start == at)
    };
    let is_import = || source.imports.iter().any(|import| import.span.contains(&at));
    match query.sense {
        OccurrenceSense::Any => true,
        OccurrenceSense::Base => false,
        OccurrenceSense::Call => {
            let in_type = || occurrence_use(source, at, query.name.len()) == OccurrenceUse::Type;
            defined().is_none() && !is_import() && !is_base(source, at) && !in_type()
        }
        OccurrenceSense::Implementation | OccurrenceSense::Heir => match defined() {
            Some(index) => {
                let role = source.definitions[index].role;
                query.sense == OccurrenceSense::Implementation
                    && !matches!(role, DefinitionRole::Import(_) | DefinitionRole::Parameter)
            }
            None => {
                let is_extended = |definition: &SourceDefinition| {
                    definition.role == DefinitionRole::Extension
                        && on_one_line(source, definition.span.start, at)
                };
                is_base(source, at) || source.definitions.iter().any(is_extended)
            }
        },
    }
}

/// Returns true if a byte lies in the list of a type's bases.
fn is_base(source: &ParsedSource, at: usize) -> bool {
    source.definitions.iter().any(|definition| definition.bases.iter().any(|base| base.contains(&at)))
}

fn on_one_line(source: &ParsedSource, start: usize, at: usize) -> bool {
    start <= at && source.text.get(start..at).is_some_and(|between| !between.contains('\n'))
}
