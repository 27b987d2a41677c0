//! The state of a search for a name, and its result.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use tokio::time::Instant;

use super::names::bare_name;
use super::plan::TextEvidenceByLanguage;
use crate::analysis::answer::{ServerStatus, Verdict};
use crate::analysis::uses::other_roots::ServerCoverage;
use crate::lsp::model::WorkspaceSymbol;
use crate::lsp::session::live_session::Session;
use crate::workspace::WorkspacePath;

/// Symbols of the workspace, best first, and the status of each server asked.
#[derive(Debug)]
pub(crate) struct NameMatches {
    /// The symbols.
    pub symbols: Vec<WorkspaceSymbol>,
    /// The number of further symbols from servers that were left out.
    pub left_out: usize,
    /// One status per language.
    pub statuses: Vec<ServerStatus>,
    /// The verdict.
    pub verdict: Verdict,
    /// The sessions that responded.
    pub sessions: Vec<Arc<Session>>,
    /// Further notes.
    pub notes: Vec<String>,
    /// True if the time was up before the whole text was searched.
    pub timed_out: bool,
}

impl NameMatches {
    fn new() -> Self {
        let (symbols, statuses, sessions, notes) = Default::default();
        Self { symbols, left_out: 0, statuses, verdict: Verdict::Hints, sessions, notes, timed_out: false }
    }
}

/// The required match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SymbolMatchMode {
    /// Symbols whose name equals or contains the query.
    Like,
    /// Symbols whose name equals the query.
    Named,
}

/// The answer of one server.
pub(super) enum SymbolSearchAnswer {
    By {
        session: Arc<Session>,
        symbols: Vec<WorkspaceSymbol>,
        left_out: usize,
        status: ServerStatus,
        verdict: Verdict,
    },
    Not(ServerStatus),
}

/// A language whose server responded.
pub(super) struct AnsweredLanguage {
    /// The session that responded first.
    pub(super) session: Arc<Session>,
    /// The coverage of its response.
    pub(super) own: Option<ServerCoverage>,
}

/// The state of a search for a name.
pub(super) struct NameSearch<'a> {
    pub(super) query: &'a str,
    pub(super) wanted: SymbolMatchMode,
    pub(super) deadline: Instant,
    pub(super) found: NameMatches,
    /// The languages whose servers responded.
    pub(super) answered: BTreeMap<String, AnsweredLanguage>,
    /// The results of each language that was asked, once for each root and project.
    asked: Vec<(String, ServerStatus, Verdict)>,
    /// The known coverages of servers, by server key and folder.
    pub(super) coverages: HashMap<(String, Option<WorkspacePath>), Option<ServerCoverage>>,
}

impl<'a> NameSearch<'a> {
    pub(super) fn new(query: &'a str, wanted: SymbolMatchMode, deadline: Instant) -> Self {
        let (answered, asked, coverages) = Default::default();
        Self { query, wanted, deadline, found: NameMatches::new(), answered, asked, coverages }
    }

    /// Records a server's list, or the reason for its absence; `own` is the coverage.
    pub(super) fn take(&mut self, language: &str, own: Option<ServerCoverage>, answer: SymbolSearchAnswer) {
        match answer {
            SymbolSearchAnswer::By { session, symbols, left_out, status, verdict } => {
                self.found.left_out += left_out;
                self.found.symbols.extend(symbols);
                let is_known = |known: &Arc<Session>| Arc::ptr_eq(known, &session);
                if !self.found.sessions.iter().any(is_known) {
                    self.found.sessions.push(session.clone());
                }
                let first = AnsweredLanguage { session, own };
                self.answered.entry(language.to_owned()).or_insert(first);
                self.asked.push((language.to_owned(), status, verdict));
            }
            SymbolSearchAnswer::Not(status) => {
                self.asked.push((language.to_owned(), status, Verdict::Hints));
            }
        }
    }

    /// Returns true if a server that was asked did not respond.
    pub(super) fn lacks_answer(&self) -> bool {
        self.asked.iter().any(|(language, ..)| !self.answered.contains_key(language))
    }

    /// Returns true if the name of `symbol` matches in the required mode.
    pub(super) fn wants(&self, symbol: &WorkspaceSymbol) -> bool {
        match self.wanted {
            SymbolMatchMode::Named => bare_name(symbol) == self.query,
            SymbolMatchMode::Like => bare_name(symbol).to_lowercase().contains(&self.query.to_lowercase()),
        }
    }

    /// The combined verdict of the servers. A language without the name in any file has no symbol
    /// of it, regardless of its server. If code has the name (`named_in_code`), occurrences in data
    /// and prose refer to that.
    pub(super) fn set_verdict(&mut self, evidence: &TextEvidenceByLanguage<'_>, named_in_code: bool) {
        let answered = &self.answered;
        if !answered.is_empty() {
            self.asked.retain(|(language, ..)| {
                answered.contains_key(language) || evidence.may_define(language, named_in_code)
            });
        }
        self.found.verdict = match self.asked.as_slice() {
            [] => Verdict::Hints,
            [(.., first), rest @ ..] if rest.iter().all(|(.., verdict)| verdict == first) => *first,
            _ => Verdict::Partial,
        };
        // The root with the worst answer determines the reason.
        let mut statuses: Vec<(String, ServerStatus, Verdict)> = Vec::new();
        for (language, status, verdict) in self.asked.drain(..) {
            match statuses.iter_mut().find(|(known, ..)| *known == language) {
                None => statuses.push((language, status, verdict)),
                Some(known) if known.2 == Verdict::Complete => *known = (language, status, verdict),
                Some(_) => {}
            }
        }
        self.found.statuses = statuses.into_iter().map(|(_, status, _)| status).collect();
    }
}
