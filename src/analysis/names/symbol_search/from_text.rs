//! Symbols that the text defines and no server listed, and the doubts that they cast on the
//! servers' answers.

use std::collections::{BTreeMap, BTreeSet};

use super::names::{bare_name, has_symbol_at};
use super::search::NameSearch;
use crate::analysis::context::Context;
use crate::analysis::doubt::{Doubt, with_doubts};
use crate::analysis::uses::other_roots::{ServerCoverage, coverage_name};
use crate::lsp::model::{FileRef, WorkspaceSymbol};
use crate::lsp::session::live_session::Session;
use crate::syntax::FoundSymbols;
use crate::workspace::WorkspacePath;

/// The coverages in which servers listed symbols.
struct ListedCoverages {
    /// The coverages with a symbol of exactly the name.
    named: BTreeSet<ServerCoverage>,
    /// The coverages with a symbol that matches the search.
    wanted: BTreeSet<ServerCoverage>,
}

/// The relation of a symbol of the text to the servers' answers.
enum TextSymbol {
    Known,
    Unlisted,
    Unseen(String, String),
}

impl NameSearch<'_> {
    /// Adds the doubts to the notes, and lowers the verdict for them.
    pub(super) fn add_doubts(&mut self, doubts: &[Doubt]) {
        self.found.verdict = with_doubts(self.found.verdict, doubts);
        self.found.notes.extend(doubts.iter().map(Doubt::to_string));
    }
}

impl Context {
    /// Adds the definitions in the text if no server responded there, and otherwise those that the
    /// servers failed to list. Returns the doubts that these cast on the servers' lists.
    pub(super) fn add_from_text(
        &self,
        search: &mut NameSearch<'_>,
        text: FoundSymbols,
        unknown: &BTreeMap<ServerCoverage, String>,
    ) -> Vec<Doubt> {
        if text.symbols.is_empty() {
            return Vec::new();
        }
        let query = search.query;
        let named = one_path_per_folder(&search.found.symbols, |symbol| bare_name(symbol) == query);
        let wanted = one_path_per_folder(&search.found.symbols, |symbol| search.wants(symbol));
        let mut coverages = |paths: Vec<WorkspacePath>| {
            paths.iter().filter_map(|path| self.text_coverage(search, path)).map(|(_, there)| there).collect()
        };
        let listed = ListedCoverages { named: coverages(named), wanted: coverages(wanted) };
        let (mut added, mut unlisting, mut unsearched) = (Vec::new(), BTreeSet::new(), BTreeMap::new());
        for symbol in text.symbols {
            let FileRef::Inside(path) = &symbol.location.file else { continue };
            // A deleted file defines nothing.
            let Ok(Some(language)) = self.language_of(path) else { continue };
            if let Some(session) = search.answered.get(language).map(|answered| answered.session.clone()) {
                match self.compare_with_listed(search, &session, &symbol, &listed, unknown) {
                    TextSymbol::Known => continue,
                    TextSymbol::Unlisted => {
                        unlisting.insert(session.server().to_owned());
                    }
                    TextSymbol::Unseen(place, reason) => {
                        unsearched.insert(place, reason);
                    }
                }
            }
            added.push(symbol);
        }
        search.found.symbols.append(&mut added);
        let list = |names: BTreeSet<String>| Vec::from_iter(names).join(", ");
        let place = |(place, reason): (String, String)| match reason.is_empty() {
            true => place,
            false => format!("{place} ({reason})"),
        };
        let places: BTreeSet<String> = unsearched.into_iter().map(place).collect();
        let mut doubts = Vec::new();
        doubts
            .extend((!unlisting.is_empty()).then(|| Doubt::DefinitionsUnlisted { servers: list(unlisting) }));
        doubts.extend((!places.is_empty()).then(|| Doubt::PlacesUnsearched { places: list(places) }));
        doubts
    }

    fn compare_with_listed(
        &self,
        search: &mut NameSearch<'_>,
        session: &Session,
        symbol: &WorkspaceSymbol,
        listed: &ListedCoverages,
        unknown: &BTreeMap<ServerCoverage, String>,
    ) -> TextSymbol {
        let FileRef::Inside(path) = &symbol.location.file else { return TextSymbol::Known };
        let Some((_, coverage)) = self.text_coverage(search, path) else { return TextSymbol::Known };
        let is_named = symbol.name == search.query;
        if let Some(reason) = unknown.get(&coverage) {
            TextSymbol::Unseen(coverage_name(&coverage), reason.clone())
        } else if is_named && !listed.named.contains(&coverage) || !listed.wanted.contains(&coverage) {
            TextSymbol::Unlisted
        } else if is_named && session.leaves_files_out(path) && !has_symbol_at(&search.found.symbols, symbol)
        {
            TextSymbol::Unseen(path.display(), "the project's settings exclude it".to_owned())
        } else {
            TextSymbol::Known
        }
    }
}

/// One file per folder and file extension that contains such a symbol.
fn one_path_per_folder(
    symbols: &[WorkspaceSymbol],
    is_such: impl Fn(&WorkspaceSymbol) -> bool,
) -> Vec<WorkspacePath> {
    let mut paths = BTreeMap::new();
    for symbol in symbols.iter().filter(|symbol| is_such(symbol)) {
        if let FileRef::Inside(path) = &symbol.location.file {
            let key = (path.parent(), path.extension().map(str::to_owned));
            paths.entry(key).or_insert_with(|| path.clone());
        }
    }
    paths.into_values().collect()
}
