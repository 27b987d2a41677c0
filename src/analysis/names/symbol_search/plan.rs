//! The languages whose servers are asked for a name, selected by the occurrences in the text.

use std::collections::BTreeSet;

use crate::analysis::context::Context;
use crate::config::{Catalogue, PresentLanguage};
use crate::lsp::model::FileRef;
use crate::syntax;
use crate::syntax::FoundSymbols;
use crate::workspace::WorkspacePath;

/// The most languages of a workspace that are asked for a name, those with the most files first.
const MAX_NAME_SEARCH_LANGUAGES: usize = 4;
/// The most languages if the text defines the name in more.
const MAX_DEFINING_LANGUAGES: usize = 8;

/// The evidence for a name in the files of one language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum TextEvidence {
    /// The text has a definition.
    Defines,
    /// The text has the name, but cannot be parsed.
    Unparsed,
    /// The text has no definition.
    None,
    /// The language has only data, markup or prose, so there is no definition.
    Data,
}

/// The evidence for a name, by language.
pub(super) struct TextEvidenceByLanguage<'a> {
    catalogue: &'a Catalogue,
    defining: BTreeSet<String>,
    /// `None` if not all files were searched.
    occurring: Option<BTreeSet<String>>,
}

impl<'a> TextEvidenceByLanguage<'a> {
    /// The evidence from a text search.
    pub(super) fn new(context: &'a Context, text: &FoundSymbols) -> Self {
        let language = |path: &WorkspacePath| Some(context.language_of(path).ok()??.to_owned());
        let defining = text.symbols.iter().filter_map(|symbol| match &symbol.location.file {
            FileRef::Inside(path) => language(path),
            FileRef::Outside(_) | FileRef::Virtual(_) => None,
        });
        let occurring = text.occurs_in.as_ref().map(|paths| paths.iter().filter_map(language).collect());
        Self { catalogue: context.catalogue(), defining: defining.collect(), occurring }
    }

    fn of(&self, language: &str) -> TextEvidence {
        let occurs = || self.occurring.as_ref().is_some_and(|occurring| occurring.contains(language));
        if self.defining.contains(language) {
            TextEvidence::Defines
        } else if self.catalogue.is_data(language) {
            TextEvidence::Data
        } else if !syntax::has_grammar(language) && occurs() {
            TextEvidence::Unparsed
        } else {
            TextEvidence::None
        }
    }

    /// Returns true if the text defines the name.
    pub(super) fn is_defined(&self) -> bool {
        !self.defining.is_empty()
    }

    /// Returns true if a server of `language` may know a symbol of the name. If code contains the
    /// name, occurrences in data refer to that.
    pub(super) fn may_define(&self, language: &str, named_in_code: bool) -> bool {
        let may_occur = self.occurring.as_ref().is_none_or(|occurring| occurring.contains(language));
        may_occur && !(named_in_code && self.catalogue.is_data(language))
    }

    /// The languages to ask, those that define the name first. The others have no evidence, or are
    /// too many.
    pub(super) fn languages_to_ask(
        &self,
        mut present: Vec<PresentLanguage>,
        has_server: impl Fn(&PresentLanguage) -> bool,
    ) -> Vec<PresentLanguage> {
        // Languages with equal evidence keep their order, the one with the most files first.
        present.sort_by_key(|language| self.of(&language.language));
        let defines = |language: &PresentLanguage| self.of(&language.language) == TextEvidence::Defines;
        let main = present.first().cloned();
        let (mut selected, others): (Vec<_>, Vec<_>) = present.into_iter().partition(defines);
        selected.truncate(MAX_DEFINING_LANGUAGES);
        let remaining = MAX_NAME_SEARCH_LANGUAGES.saturating_sub(selected.len());
        selected.extend(others.into_iter().filter(has_server).take(remaining));
        if selected.is_empty() {
            // At least one language gets a status.
            selected.extend(main);
        }
        selected
    }

    /// The languages beside those of `queried` that may have a symbol of the name.
    pub(super) fn unasked_languages(
        &self,
        queried: &BTreeSet<String>,
        named_in_code: bool,
    ) -> BTreeSet<String> {
        let may_define = |language: &&String| match self.of(language) {
            TextEvidence::Defines | TextEvidence::Unparsed => true,
            TextEvidence::Data => !named_in_code,
            TextEvidence::None => false,
        };
        let all = self.defining.iter().chain(self.occurring.iter().flatten());
        all.filter(may_define).filter(|language| !queried.contains(*language)).cloned().collect()
    }
}
