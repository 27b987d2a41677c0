//! Symbols that the text defines and no server listed, and the doubts that they cast on the
//! servers' answers.

use std::collections::{BTreeMap, BTreeSet};

use super::names::{bare_name, has_symbol_at};
use super::search::NameSearch;
use crate::analysis::answer::Verdict;
use crate::analysis::context::Context;
use crate::analysis::uses::other_roots::{ServerCoverage, coverage_name};
use crate::lsp::model::{FileRef, WorkspaceSymbol};
use crate::lsp::session::live_session::Session;
use crate::syntax::FoundSymbols;
use crate::workspace::WorkspacePath;

/// The reasons that servers may not have listed everything.
#[derive(Debug, Default)]
pub(super) struct TextDoubts {
    /// The servers that listed none of the symbols that the text defines in a root or project which
    /// they cover.
    unlisting: BTreeSet<String>,
    /// The roots, projects and files that no server covers, with the reason.
    unseen: BTreeMap<String, String>,
    /// True if the time was up before the whole text was searched.
    timed_out: bool,
    /// True if more files contain the name than were examined, and servers may not know all of
    /// them.
    pub(super) is_cut: bool,
    /// The languages that may contain the name and whose servers were not asked.
    pub(super) unasked: BTreeSet<String>,
}

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
    /// Adds notes on the doubts, and lowers the verdict for them.
    pub(super) fn add_notes(&mut self, doubts: TextDoubts) {
        let TextDoubts { unlisting, unseen, timed_out, is_cut, unasked } = doubts;
        let (query, mut notes) = (self.query, Vec::new());
        let list = |names: BTreeSet<String>| Vec::from_iter(names).join(", ");
        self.found.timed_out = timed_out;
        if !unlisting.is_empty() {
            notes.push(format!("{} did not list all definitions of `{query}` in the text", list(unlisting)));
        }
        if !unasked.is_empty() {
            let languages = list(unasked);
            notes.push(format!(
                "files of these languages contain `{query}`, but no server was asked: {languages}"
            ));
        }
        if !unseen.is_empty() {
            let place = |(place, reason): (String, String)| match reason.is_empty() {
                true => place,
                false => format!("{place} ({reason})"),
            };
            let places = list(unseen.into_iter().map(place).collect());
            notes.push(format!("no server searched for `{query}` where the text defines it: {places}"));
        }
        if timed_out {
            notes.push("the time limit was reached before all files were searched for the name".to_owned());
        } else if is_cut {
            notes.push(format!(
                "`{query}` occurs in more files than were searched; there may be more symbols"
            ));
        }
        if !notes.is_empty() && self.found.verdict == Verdict::Complete {
            self.found.verdict = Verdict::Partial;
        }
        self.found.notes.append(&mut notes);
    }
}

impl Context {
    /// Adds the definitions in the text if no server responded there, and otherwise those that the
    /// servers failed to list.
    pub(super) fn add_from_text(
        &self,
        search: &mut NameSearch<'_>,
        text: FoundSymbols,
        unknown: &BTreeMap<ServerCoverage, String>,
    ) -> TextDoubts {
        let mut doubts = TextDoubts { timed_out: text.timed_out, ..TextDoubts::default() };
        if text.symbols.is_empty() {
            return doubts;
        }
        let query = search.query;
        let named = one_path_per_folder(&search.found.symbols, |symbol| bare_name(symbol) == query);
        let wanted = one_path_per_folder(&search.found.symbols, |symbol| search.wants(symbol));
        let mut coverages = |paths: Vec<WorkspacePath>| {
            paths.iter().filter_map(|path| self.text_coverage(search, path)).map(|(_, there)| there).collect()
        };
        let listed = ListedCoverages { named: coverages(named), wanted: coverages(wanted) };
        let mut added = Vec::new();
        for symbol in text.symbols {
            let FileRef::Inside(path) = &symbol.location.file else { continue };
            // A deleted file defines nothing.
            let Ok(Some(language)) = self.language_of(path) else { continue };
            if let Some(session) = search.answered.get(language).map(|answered| answered.session.clone()) {
                match self.compare_with_listed(search, &session, &symbol, &listed, unknown) {
                    TextSymbol::Known => continue,
                    TextSymbol::Unlisted => {
                        doubts.unlisting.insert(session.server().to_owned());
                    }
                    TextSymbol::Unseen(place, reason) => {
                        doubts.unseen.insert(place, reason);
                    }
                }
            }
            added.push(symbol);
        }
        search.found.symbols.append(&mut added);
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
