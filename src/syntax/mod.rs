//! Answers without a language server: names and candidates from the text, ranked.
//!
//! Contents: the grammars and their queries, parsing within bounds, and the conclusions from the
//! trees: definitions ([`resolution`]), references and implementations ([`occurrences`]), units of
//! code and tests (`code_units`), imports after a move (`moved_symbol`), outlines, hovers, syntax
//! errors. May use: `text`, `workspace`, `config`, the vocabulary of `lsp::model`.
//!
//! Data flow: a question ([`HintSubject`]) gets a `Project`, its view of the workspace until one
//! deadline. A file becomes a `ParsedSource` (tree, definitions, scopes, imports). The `Resolver`
//! follows the name through scopes, imports and types. If that finds nothing, `by_name` searches
//! the text and ranks every definition of the name. Both return [`Candidate`]s with the reason for
//! their rank. Nothing is cached beyond the question.
//!
//! Files in the languages without a grammar are read line by line (`patterns`).

mod answer;
mod code_units;
mod declared_name;
mod docs;
mod grammar;
mod hover;
mod language_families;
mod moved_symbol;
mod notebook;
pub(crate) mod occurrences;
mod parse;
mod patterns;
pub(crate) mod resolution;
mod symbols;
pub(crate) mod syntax_errors;
pub(crate) mod test_conventions;
mod word;

pub(crate) use answer::{Candidate, HintError, Hints};
pub(crate) use code_units::{
    CodeIndex, CodeUnit, CodeUnitKind, NameUse, TestRole, UnitFile, index_code, is_fixture, is_setup,
    sets_autouse, units_in,
};
pub(crate) use declared_name::{DeclarationPlace, DeclaredName, declared_at, has_headers};
pub(crate) use grammar::has_grammar;
pub(crate) use hover::hover;
pub(crate) use language_families::related_languages;
pub(crate) use moved_symbol::{MovedSymbol, MovedText, MovedTexts, RemainingPlace, complete_move};
pub(crate) use notebook::NotebookUse;
pub(crate) use occurrences::calls_within::{CallWithin, calls_within};
pub(crate) use occurrences::conditional_code::{ConditionalOccurrence, is_conditional};
pub(crate) use occurrences::further_occurrences::{
    FurtherOccurrence, FurtherOccurrences, further_occurrences,
};
pub(crate) use occurrences::implementations::{ImplementationHints, implementations};
pub(crate) use occurrences::occurrence_sense::{OccurrenceQuery, OccurrenceSense};
pub(crate) use occurrences::references::references;
pub(crate) use occurrences::unrenamed_text::{documents_naming, first_quoted_place};
pub use resolution::candidates::{DEADLINE, HintSubject, definition, definition_up_to};
pub(crate) use resolution::importers::importers;
pub(crate) use resolution::in_file::{imported_from, is_import, symbols_named};
pub(crate) use resolution::literal::PythonModule;
pub use resolution::resolve::ResolutionStage;
pub(crate) use symbols::{
    FoundSymbols, imported_in, symbols, symbols_in, workspace_symbols, workspace_symbols_named,
};
pub(crate) use syntax_errors::{SyntaxCheck, syntax_errors, syntax_errors_in};
pub(crate) use word::{NoName, can_be_name};

#[cfg(test)]
mod tests;
