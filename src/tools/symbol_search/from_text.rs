//! Symbols that the text defines and no server listed, and the doubts that they cast on what servers listed.

use std::collections::BTreeSet;

use super::names::bare_name;
use super::{NameSearch, SymbolMatchMode, is_listed_at};
use crate::hints::FoundSymbols;
use crate::lsp::model::{FileRef, WorkspaceSymbol};
use crate::lsp::session::Session;
use crate::tools::answer::Verdict;
use crate::tools::context::Context;
use crate::tools::error::ToolError;
use crate::tools::other_roots::{ServerCoverage, coverage_name};

/// Why servers may not have listed all.
#[derive(Debug, Default)]
pub(super) struct TextDoubts {
    /// In a root or project that they looked at they listed nothing of what the text defines there.
    unlisted: bool,
    /// The roots, projects and files that no server looked at.
    unseen: BTreeSet<String>,
    /// The time was up before the whole text was searched.
    timed_out: bool,
}

/// What servers listed, by root and project.
struct ListedCoverages {
    /// Where a symbol of the very name is listed.
    named: BTreeSet<ServerCoverage>,
    /// Where a symbol is listed that the search would find.
    wanted: BTreeSet<ServerCoverage>,
}

/// How a symbol of the text stands to what servers listed.
enum TextSymbol {
    Known,
    Unlisted,
    Unseen(String),
}

impl NameSearch<'_> {
    /// Says what is doubtful, and lowers the verdict for it; `unasked` languages may have the name, and nobody asked their servers.
    pub(super) fn add_notes(&mut self, doubts: TextDoubts, unasked: &BTreeSet<String>) {
        let TextDoubts { unlisted, unseen, timed_out } = doubts;
        let (query, mut notes) = (self.query, Vec::new());
        self.found.timed_out = timed_out;
        if unlisted {
            let servers: Vec<&str> = self.found.sessions.iter().map(|session| session.server()).collect();
            let servers = servers.join(" and ");
            notes.push(format!("{servers} did not list all that the text defines of `{query}`"));
        }
        if !unasked.is_empty() {
            let languages = Vec::from_iter(unasked.iter().cloned()).join(", ");
            notes.push(format!(
                "files of these languages have `{query}`, and no server was asked: {languages}"
            ));
        }
        if !unseen.is_empty() {
            let places = Vec::from_iter(unseen).join(", ");
            notes.push(format!("no server looked for `{query}` in {places}, where the text defines it"));
        }
        if timed_out {
            notes.push("the time was up before all files were searched for the name".to_owned());
        }
        if !notes.is_empty() && self.found.verdict == Verdict::Complete {
            self.found.verdict = Verdict::Partial;
        }
        self.found.notes.append(&mut notes);
    }
}

impl Context {
    /// Adds what the text defines where no server answered; and where servers did, what they should have listed there and did not.
    pub(super) fn add_from_text(
        &self,
        search: &mut NameSearch<'_>,
        text: FoundSymbols,
        unknown: &BTreeSet<ServerCoverage>,
    ) -> Result<TextDoubts, ToolError> {
        let lower = search.query.to_lowercase();
        let listed = ListedCoverages {
            named: self.coverages_with(search, |symbol| bare_name(symbol) == search.query),
            wanted: self.coverages_with(search, |symbol| bare_name(symbol).to_lowercase().contains(&lower)),
        };
        let mut doubts = TextDoubts { timed_out: text.timed_out, ..TextDoubts::default() };
        let mut added = Vec::new();
        for symbol in text.symbols {
            let FileRef::Inside(path) = &symbol.location.file else { continue };
            let Some(language) = self.language_file(path.clone())?.language else { continue };
            if let Some((session, _)) = search.answered.get(&language) {
                match self.compare_with_listed(search, session, &symbol, &listed, unknown) {
                    TextSymbol::Known => continue,
                    TextSymbol::Unlisted => doubts.unlisted = true,
                    TextSymbol::Unseen(place) => drop(doubts.unseen.insert(place)),
                }
            }
            added.push(symbol);
        }
        search.found.symbols.append(&mut added);
        Ok(doubts)
    }

    fn compare_with_listed(
        &self,
        search: &NameSearch<'_>,
        session: &Session,
        symbol: &WorkspaceSymbol,
        listed: &ListedCoverages,
        unknown: &BTreeSet<ServerCoverage>,
    ) -> TextSymbol {
        let FileRef::Inside(path) = &symbol.location.file else { return TextSymbol::Known };
        let Some((_, _, coverage)) = self.text_coverage(search, path) else { return TextSymbol::Known };
        let is_named = symbol.name == search.query;
        let is_like = search.wanted == SymbolMatchMode::Like;
        if unknown.contains(&coverage) {
            TextSymbol::Unseen(coverage_name(&coverage))
        } else if is_named && !listed.named.contains(&coverage)
            || is_like && !listed.wanted.contains(&coverage)
        {
            TextSymbol::Unlisted
        } else if is_named && session.leaves_files_out(path) && !is_listed_at(&search.found, symbol) {
            TextSymbol::Unseen(path.display())
        } else {
            TextSymbol::Known
        }
    }

    /// The coverages in which a server lists such a symbol.
    fn coverages_with(
        &self,
        search: &NameSearch<'_>,
        is_such: impl Fn(&WorkspaceSymbol) -> bool,
    ) -> BTreeSet<ServerCoverage> {
        let such = search.found.symbols.iter().filter(|symbol| is_such(symbol));
        let paths = such.filter_map(|symbol| match &symbol.location.file {
            FileRef::Inside(path) => Some(path),
            FileRef::Outside(_) | FileRef::Virtual(_) => None,
        });
        paths.filter_map(|path| self.text_coverage(search, path)).map(|(.., there)| there).collect()
    }
}
