//! Symbols of the workspace by name, from servers and from the text. The text says which languages are asked: those that define
//! the name, and the main ones. It also counts where servers do not answer, or do not list what it defines.
//!
//! - [`plan`]: the languages to ask, by what the text shows
//! - [`from_text`]: what the text defines beside what servers list, and the doubts that this casts on them
//! - [`names`]: names of symbols, compared and put in order

mod from_text;
mod names;
mod plan;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use self::names::{bare_name, container_parts, sort_by_relevance, without_overloads};
use self::plan::TextEvidenceByLanguage;
use super::answer::{ServerState, ServerStatus, Verdict};
use super::context::{Context, LanguageFile};
use super::error::ToolError;
use super::fallback;
use super::other_roots::{ServerCoverage, coverage_name};
use crate::config::spec::ServerSpec;
use crate::hints::{self, FoundSymbols};
use crate::lsp::ask::AskError;
use crate::lsp::model::{FileRef, WorkspaceSymbol};
use crate::lsp::readiness::UnfinishedWork;
use crate::lsp::session::Session;
use crate::text::Position;
use crate::workspace::WorkspacePath;

/// The most other roots and projects in which a server is asked for a name.
const MAX_NAME_SEARCH_COVERAGES: usize = 6;
/// So many symbols of the name are looked at for whether they are imports.
const MAX_IMPORT_CHECKED_SYMBOLS: usize = 20;
/// The longest search of the text for a name.
const NAME_SEARCH_TIMEOUT: Duration = Duration::from_secs(10);

/// Symbols of the workspace, best first, and what became of each server asked.
#[derive(Debug)]
pub(crate) struct NameMatches {
    /// The symbols.
    pub symbols: Vec<WorkspaceSymbol>,
    /// How many servers gave beside them.
    pub left_out: usize,
    /// One status per language.
    pub statuses: Vec<ServerStatus>,
    /// How far to rely on it.
    pub verdict: Verdict,
    /// The sessions that answered.
    pub sessions: Vec<Arc<Session>>,
    /// What else is to be known of them.
    pub notes: Vec<String>,
    /// The time was up before the whole text was searched.
    pub timed_out: bool,
}

impl NameMatches {
    fn new() -> Self {
        let (symbols, statuses, sessions, notes) = Default::default();
        Self { symbols, left_out: 0, statuses, verdict: Verdict::Hints, sessions, notes, timed_out: false }
    }
}

/// A symbol of a name that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ExactSymbol {
    /// Its file.
    pub file: FileRef,
    /// Where its name, or what is called so, begins.
    pub position: Position,
    /// The 0-based lines of its other overloads.
    pub overloads: Vec<u32>,
}

/// Which symbols are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SymbolMatchMode {
    /// Those whose name is or contains what was asked for.
    Like,
    /// Those that are called just so.
    Named,
}

/// What one server says.
enum SymbolSearchAnswer {
    By {
        session: Arc<Session>,
        symbols: Vec<WorkspaceSymbol>,
        left_out: usize,
        status: ServerStatus,
        verdict: Verdict,
    },
    Not(ServerStatus),
}

/// The search for a name while it goes on.
struct NameSearch<'a> {
    query: &'a str,
    wanted: SymbolMatchMode,
    deadline: Instant,
    found: NameMatches,
    /// The languages whose servers answered, each with the first that did and the file at which it was asked.
    answered: BTreeMap<String, (Arc<Session>, WorkspacePath)>,
    /// What became of each language that was asked.
    asked: Vec<(String, ServerStatus, Verdict)>,
}

impl NameSearch<'_> {
    /// Takes what a server listed.
    fn take(&mut self, language: &str, example: &WorkspacePath, answer: SymbolSearchAnswer) {
        match answer {
            SymbolSearchAnswer::By { session, symbols, left_out, status, verdict } => {
                self.found.left_out += left_out;
                self.found.symbols.extend(symbols);
                let is_known = |known: &Arc<Session>| Arc::ptr_eq(known, &session);
                if !self.found.sessions.iter().any(is_known) {
                    self.found.sessions.push(session.clone());
                }
                self.answered.entry(language.to_owned()).or_insert_with(|| (session, example.clone()));
                self.asked.push((language.to_owned(), status, verdict));
            }
            SymbolSearchAnswer::Not(status) => {
                self.asked.push((language.to_owned(), status, Verdict::Hints));
            }
        }
    }

    /// Whether a server that was asked did not answer.
    fn lacks_answer(&self) -> bool {
        self.asked.iter().any(|(language, ..)| !self.answered.contains_key(language))
    }
}

impl Context {
    /// Asks the servers of the languages that `query` concerns, in every root and project where the text defines it; text search
    /// answers for those that cannot. Where no server lists a symbol of that very name, the text is searched before that is believed.
    pub(crate) async fn find_symbols(
        &self,
        query: &str,
        wanted: SymbolMatchMode,
        deadline: Instant,
    ) -> Result<NameMatches, ToolError> {
        self.manager.refresh().await;
        let until = || deadline.min(Instant::now() + NAME_SEARCH_TIMEOUT).into_std();
        let mut text = fallback::workspace_symbols_named(self, query, until()).await?;
        let mut evidence = TextEvidenceByLanguage::new(self, &text);
        let present = self.present_languages();
        let count = present.len();
        let has_server = |language: &LanguageFile| !self.navigating_servers(language).is_empty();
        let asked = evidence.languages_to_ask(present, |language| has_server(&language.clone().into()));
        let mut search = NameSearch {
            query,
            wanted,
            deadline,
            found: NameMatches::new(),
            answered: BTreeMap::new(),
            asked: Vec::new(),
        };
        for language in &asked {
            let answer = self.symbols_of_language(&language.clone().into(), query, deadline).await;
            search.take(&language.language, &language.example, answer);
        }
        let is_like = wanted == SymbolMatchMode::Like;
        if is_like && (search.lacks_answer() || asked.len() < count || self.may_be_elsewhere(&search).await) {
            text = fallback::workspace_symbols(self, query, until()).await?;
            evidence = TextEvidenceByLanguage::new(self, &text);
        }
        let unknown = self.ask_where_text_defines(&mut search, &text).await;
        self.drop_imports(&mut search.found.symbols, query);
        Self::set_verdict(&mut search, &evidence);
        let asked = asked.into_iter().map(|language| language.language).collect();
        let doubts = self.add_from_text(&mut search, text, &unknown)?;
        search.add_notes(doubts, &evidence.unasked_languages(&asked));
        let NameSearch { mut found, .. } = search;
        sort_by_relevance(&mut found.symbols, query);
        found.symbols.dedup_by(|a, b| {
            a.location.file == b.location.file
                && a.location.range.start.line == b.location.range.start.line
                && a.name == b.name
        });
        Ok(found)
    }

    fn navigating_servers(&self, subject: &LanguageFile) -> Vec<(&str, &ServerSpec)> {
        self.servers_for(subject, |features| features.navigation)
    }

    /// Asks the first server of a language at one of its files.
    async fn symbols_of_language(
        &self,
        subject: &LanguageFile,
        query: &str,
        deadline: Instant,
    ) -> SymbolSearchAnswer {
        match self.navigating_servers(subject).first() {
            Some((server, _)) => self.symbols_of(server, subject, query, deadline).await,
            None => SymbolSearchAnswer::Not(self.no_server(subject, Instant::now())),
        }
    }

    /// Whether there is a root or a project that a server which answered does not look at.
    async fn may_be_elsewhere(&self, search: &NameSearch<'_>) -> bool {
        for (language, (session, _)) in &search.answered {
            if self.has_several_coverages(session, language.clone()).await {
                return true;
            }
        }
        false
    }

    /// Asks in the roots and projects in which the text defines what no server listed. Returns those about which nothing is known.
    async fn ask_where_text_defines(
        &self,
        search: &mut NameSearch<'_>,
        text: &FoundSymbols,
    ) -> BTreeSet<ServerCoverage> {
        let mut others: BTreeMap<(String, ServerCoverage), LanguageFile> = BTreeMap::new();
        for symbol in &text.symbols {
            let FileRef::Inside(path) = &symbol.location.file else { continue };
            if is_listed_at(&search.found, symbol) {
                continue;
            }
            let Some((subject, own, there)) = self.text_coverage(search, path) else { continue };
            if own != there {
                let language = subject.language.clone().unwrap_or_default();
                others.entry((language, there)).or_insert(subject);
            }
        }
        let mut unknown = BTreeSet::new();
        for (number, ((language, coverage), subject)) in others.into_iter().enumerate() {
            if number >= MAX_NAME_SEARCH_COVERAGES {
                unknown.insert(coverage);
                continue;
            }
            match self.symbols_of_language(&subject, search.query, search.deadline).await {
                SymbolSearchAnswer::Not(status) => {
                    tracing::debug!(detail = status.detail, "not asked in {}", coverage_name(&coverage));
                    unknown.insert(coverage);
                }
                answer => search.take(&language, &subject.path, answer),
            }
        }
        unknown
    }

    /// The file at `path`, what the server that answered for its language looked at, and what it would look at there; `None` where
    /// none answered.
    fn text_coverage(
        &self,
        search: &NameSearch<'_>,
        path: &WorkspacePath,
    ) -> Option<(LanguageFile, ServerCoverage, ServerCoverage)> {
        let subject = self.language_file_unchecked(path.clone()).ok()?;
        let (session, example) = search.answered.get(subject.language.as_ref()?)?;
        let coverage = |path| self.server_coverage(session.server(), knows_some_projects(session), path);
        let (own, there) = (coverage(example)?, coverage(path)?);
        Some((subject, own, there))
    }

    /// The verdict of the servers together. What no file of a language has is no symbol of it, whatever its server would say; and
    /// what data and prose call so is not what code does.
    fn set_verdict(search: &mut NameSearch<'_>, evidence: &TextEvidenceByLanguage) {
        let answered = &search.answered;
        if !answered.is_empty() {
            search
                .asked
                .retain(|(language, ..)| answered.contains_key(language) || evidence.may_define(language));
        }
        search.found.verdict = match search.asked.as_slice() {
            [] => Verdict::Hints,
            [(.., first), rest @ ..] if rest.iter().all(|(.., verdict)| verdict == first) => *first,
            _ => Verdict::Partial,
        };
        let mut languages = BTreeSet::new();
        let statuses = search.asked.iter().filter(|(language, ..)| languages.insert(language.clone()));
        search.found.statuses = statuses.map(|(_, status, _)| status.clone()).collect();
    }

    async fn symbols_of(
        &self,
        server: &str,
        subject: &LanguageFile,
        query: &str,
        deadline: Instant,
    ) -> SymbolSearchAnswer {
        let started = Instant::now();
        let mut met_crash = false;
        loop {
            let session = match self.session(server, subject, deadline).await {
                Ok(session) => session,
                Err(status) => return SymbolSearchAnswer::Not(status),
            };
            if !session.offers_anywhere("workspace/symbol") {
                let mut status = self.status(server, subject, ServerState::Unsupported, started);
                status.detail = Some(self.unsupported_sentence(server, subject, "workspace/symbol"));
                return SymbolSearchAnswer::Not(status);
            }
            match self.symbols_of_session(&session, subject, query, deadline).await {
                Ok((symbols, working, unknown, left_out)) => {
                    let state = if working.is_some() { ServerState::Indexing } else { ServerState::Ready };
                    let too_many = || {
                        (left_out > 0)
                            .then(|| format!("{server} lists {left_out} symbols more than are read"))
                    };
                    let lack = unknown.or_else(|| session.shortfall_reason()).or_else(too_many);
                    let whole = working.is_none() && lack.is_none();
                    let verdict = if whole { Verdict::Complete } else { Verdict::Partial };
                    let mut status = self.status(server, subject, state, started);
                    status.detail = lack;
                    if let Some(busy) = &working {
                        self.note_busy(&mut status, busy, false);
                    }
                    return SymbolSearchAnswer::By { session, symbols, left_out, status, verdict };
                }
                // A crash is often one question's fault and not the next one's.
                Err(error) if error.is_closed() && !met_crash => met_crash = true,
                Err(error) => {
                    return SymbolSearchAnswer::Not(
                        self.failed_status(&session, subject, &error, started).await,
                    );
                }
            }
        }
    }

    async fn symbols_of_session(
        &self,
        session: &Session,
        subject: &LanguageFile,
        query: &str,
        deadline: Instant,
    ) -> Result<(Vec<WorkspaceSymbol>, Option<UnfinishedWork>, Option<String>, usize), AskError> {
        let viewing = session.enter_view(&self.view, deadline).await;
        // Many servers only know the workspace once one of its files is open.
        if let Err(error) = session.sync(&subject.path).await.map(drop) {
            tracing::debug!("no example file: {error}");
        }
        let _viewing = viewing?;
        let mut unknown = None;
        if session.knows_open_files(&subject.path) {
            unknown = self.open_mentioning_files(session, subject, query, deadline).await;
        }
        if session.lists_symbols_of_last_file()
            && let Err(error) = session.document_symbols(&subject.path, deadline).await
        {
            tracing::debug!("what it lists may be of another project: {error}");
        }
        let (symbols, working, left_out) = session.workspace_symbols(query, deadline).await?;
        Ok((symbols, working, unknown, left_out))
    }

    /// Where the symbols called exactly `name` (`Class.method` within `Class`) are, and whether the time was up before all files were
    /// searched.
    pub(crate) async fn exact_symbols(
        &self,
        name: &str,
        deadline: Instant,
    ) -> Result<(Vec<ExactSymbol>, bool), ToolError> {
        let parts: Vec<&str> = name.split(['.', '#']).flat_map(|part| part.split("::")).collect();
        let Some((last, containers)) = parts.split_last() else { return Ok((Vec::new(), false)) };
        let found = self.find_symbols(last, SymbolMatchMode::Named, deadline).await?;
        let fits = |symbol: &&WorkspaceSymbol| {
            matches!(symbol.location.file, FileRef::Inside(_)) && bare_name(symbol) == *last
        };
        let mut fitting: Vec<&WorkspaceSymbol> = found.symbols.iter().filter(fits).collect();
        let direct = |symbol: &&WorkspaceSymbol| {
            let parts = container_parts(symbol);
            parts.len() >= containers.len()
                && parts.iter().rev().zip(containers.iter().rev()).all(|(part, wanted)| part == wanted)
        };
        match fitting.iter().any(direct) {
            true => fitting.retain(direct),
            // What lies deeper in it, where nothing lies in it directly.
            false => fitting.retain(|symbol| {
                let parts = container_parts(symbol);
                containers.iter().all(|container| parts.iter().any(|part| part == container))
            }),
        }
        Ok((without_overloads(&fitting), found.timed_out))
    }

    /// Leaves out what is only brought in or handed on where it stands: that is no definition.
    fn drop_imports(&self, symbols: &mut Vec<WorkspaceSymbol>, name: &str) {
        if symbols.iter().filter(|symbol| bare_name(symbol) == name).count() < 2 {
            return;
        }
        let until = std::time::Instant::now() + hints::DEADLINE;
        let mut looked_at = 0;
        symbols.retain(|symbol| {
            let FileRef::Inside(path) = &symbol.location.file else { return true };
            if bare_name(symbol) != name || looked_at >= MAX_IMPORT_CHECKED_SYMBOLS {
                return true;
            }
            looked_at += 1;
            let Ok(LanguageFile { language: Some(language), .. }) =
                self.language_file_unchecked(path.clone())
            else {
                return true;
            };
            let Ok(text) = self.text(path) else { return true };
            let line = symbol.location.range.start.line;
            !hints::is_import(&language, path, &text.to_string(), line, name, until)
        });
    }
}

/// Whether a server knows, of the projects within its root, some alone.
pub(super) fn knows_some_projects(session: &Session) -> bool {
    session.knows_open_projects() || session.lists_symbols_of_last_file()
}

/// Whether a symbol of the text is among those that were found.
fn is_listed_at(found: &NameMatches, of_text: &WorkspaceSymbol) -> bool {
    found.symbols.iter().any(|symbol| {
        symbol.location.file == of_text.location.file
            && symbol.location.range.start.line == of_text.location.range.start.line
            && bare_name(symbol) == bare_name(of_text)
    })
}
