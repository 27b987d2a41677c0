//! Symbols of the workspace by name, from servers and from the text. The text determines the
//! languages that are asked: those that define the name, and the main ones. It also counts if
//! servers do not respond, or do not list its definitions.
//!
//! - [`search`]: the state of a search, and its result
//! - [`plan`]: the languages to ask, according to the text
//! - [`from_text`]: the definitions in the text beside those that servers list, and the resulting
//!   doubts
//! - [`names`]: names of symbols, compared and sorted

mod from_text;
mod names;
mod plan;
mod search;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::analysis::answer::{ServerState, Verdict};
use crate::analysis::ask::fallback;
use crate::analysis::context::{Context, LanguageFile};
use crate::analysis::doubt::Doubt;
use crate::analysis::error::ToolError;
use crate::analysis::items::answer_places::is_hidden;
use crate::analysis::uses::other_roots::ServerCoverage;
use crate::config::spec::ServerSpec;
use crate::lsp::model::{FileRef, WorkspaceSymbol};
use crate::lsp::session::ask::AskError;
use crate::lsp::session::live_session::Session;
use crate::lsp::session::readiness::UnfinishedWork;
use crate::syntax;
use crate::syntax::{DeclarationPlace, FoundSymbols};
use crate::workspace::WorkspacePath;
use names::{bare_name, container_parts, has_symbol_at, sort_by_relevance, without_overloads};
use plan::TextEvidenceByLanguage;
use search::{NameSearch, SymbolSearchAnswer};

/// The maximum number of other roots and projects in which a server is asked for a name.
const MAX_NAME_SEARCH_COVERAGES: usize = 6;
/// The most symbols of the name that are checked for being imports.
const MAX_IMPORT_CHECKED_SYMBOLS: usize = 20;
/// The most symbols of a name whose containers are looked up.
const MAX_CONTAINER_CHECKED_SYMBOLS: usize = 50;
/// The divisor for the share of the time that the first search of the text gets.
const FIRST_SEARCH_SHARE: u32 = 3;
/// The longest search of the text for a name.
const NAME_SEARCH_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) use names::ExactSymbol;
pub(crate) use search::{NameMatches, SymbolMatchMode};

impl Context {
    /// Asks the servers of the languages that `query` concerns, in every root and project where the
    /// text defines it. Text search answers for servers that cannot. If no server lists a symbol of
    /// exactly that name, the text is searched before the result is accepted.
    pub(crate) async fn find_symbols(
        &self,
        query: &str,
        wanted: SymbolMatchMode,
        deadline: Instant,
    ) -> Result<NameMatches, ToolError> {
        self.manager.refresh().await;
        // Most of the time is left for the servers.
        let first = deadline.saturating_duration_since(Instant::now()) / FIRST_SEARCH_SHARE;
        let until = Instant::now() + first.min(NAME_SEARCH_TIMEOUT);
        let mut text = fallback::workspace_symbols_named(self, query, until.into_std()).await?;
        let mut evidence = TextEvidenceByLanguage::new(self, &text);
        let present = self.present_languages();
        let code: BTreeSet<String> = present
            .iter()
            .filter(|language| !self.catalogue().is_data(&language.language))
            .map(|language| language.language.clone())
            .collect();
        let has_server = |language: &LanguageFile| !self.navigating_servers(language).is_empty();
        let to_ask = evidence.languages_to_ask(present, |language| has_server(&language.clone().into()));
        let mut search = NameSearch::new(query, wanted, deadline);
        for language in &to_ask {
            self.ask_language(&mut search, &language.language, &language.clone().into()).await;
        }
        let queried: BTreeSet<String> = to_ask.into_iter().map(|language| language.language).collect();
        let is_like = wanted == SymbolMatchMode::Like;
        let may_be_elsewhere = (is_like || text.truncated) && self.may_be_elsewhere(&search).await;
        if is_like && (may_be_elsewhere || search.lacks_answer() || !code.is_subset(&queried)) {
            let until = deadline.min(Instant::now() + NAME_SEARCH_TIMEOUT);
            text = fallback::workspace_symbols(self, query, until.into_std()).await?;
            evidence = TextEvidenceByLanguage::new(self, &text);
        }
        let unknown = self.ask_where_text_defines(&mut search, &text).await;
        self.drop_imports(&mut search.found.symbols, query);
        let named_in_code = evidence.is_defined() || self.lists_in_code(&search);
        search.set_verdict(&evidence, named_in_code);
        let lacks_code = code.iter().any(|language| {
            !search.answered.contains_key(language) && evidence.may_define(language, named_in_code)
        });
        let is_cut = text.truncated && (may_be_elsewhere || lacks_code);
        search.found.timed_out = text.timed_out;
        let mut doubts = self.add_from_text(&mut search, text, &unknown);
        let unasked = Vec::from_iter(evidence.unasked_languages(&queried, named_in_code)).join(", ");
        doubts.extend((!unasked.is_empty()).then_some(Doubt::LanguagesUnasked { languages: unasked }));
        doubts.extend(match search.found.timed_out {
            true => Some(Doubt::SearchCut),
            false => is_cut.then_some(Doubt::FilesUnsearched),
        });
        search.add_doubts(&doubts);
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

    /// Asks the first server of a language at one of its files. Returns the reason if there is no
    /// answer.
    async fn ask_language(
        &self,
        search: &mut NameSearch<'_>,
        language: &str,
        subject: &LanguageFile,
    ) -> Option<String> {
        let answer = match self.navigating_servers(subject).first() {
            Some((server, _)) => self.symbols_of(server, subject, search.query, search.deadline).await,
            None => SymbolSearchAnswer::Not(self.no_server(subject, Instant::now())),
        };
        let (own, failure) = match &answer {
            SymbolSearchAnswer::By { session, .. } => {
                let of_project = session.knows_some_projects();
                (self.server_coverage(session.server(), of_project, &subject.path), None)
            }
            SymbolSearchAnswer::Not(status) => (None, Some(status.detail.clone().unwrap_or_default())),
        };
        // If another root of the language was answered, the failure needs only a note.
        if failure.is_none() || !search.answered.contains_key(language) {
            search.take(language, own, answer);
        }
        failure
    }

    /// Returns true if a root or project is outside the coverage of the servers that responded.
    async fn may_be_elsewhere(&self, search: &NameSearch<'_>) -> bool {
        let sessions: Vec<(String, Arc<Session>)> = search
            .answered
            .iter()
            .map(|(language, answered)| (language.clone(), answered.session.clone()))
            .collect();
        self.have_several_coverages(sessions).await
    }

    /// Returns true if a server lists such a symbol in a file of code.
    fn lists_in_code(&self, search: &NameSearch<'_>) -> bool {
        search.found.symbols.iter().filter(|symbol| search.wants(symbol)).any(|symbol| {
            let FileRef::Inside(path) = &symbol.location.file else { return false };
            let language = self.language_of(path).ok().flatten();
            language.is_some_and(|language| !self.catalogue().is_data(language))
        })
    }

    /// Asks in the roots and projects in which the text defines symbols that no server listed.
    /// Returns those without an answer, with reasons.
    async fn ask_where_text_defines(
        &self,
        search: &mut NameSearch<'_>,
        text: &FoundSymbols,
    ) -> BTreeMap<ServerCoverage, String> {
        let mut others: BTreeMap<(String, ServerCoverage), LanguageFile> = BTreeMap::new();
        for symbol in &text.symbols {
            let FileRef::Inside(path) = &symbol.location.file else { continue };
            if has_symbol_at(&search.found.symbols, symbol) {
                continue;
            }
            let Some((subject, there)) = self.text_coverage(search, path) else { continue };
            let language = subject.language.clone().unwrap_or_default();
            let own = search.answered.get(&language).and_then(|answered| answered.own.as_ref());
            if own != Some(&there) {
                others.entry((language, there)).or_insert(subject);
            }
        }
        let mut unknown = BTreeMap::new();
        for (number, ((language, coverage), subject)) in others.into_iter().enumerate() {
            let failure = match number < MAX_NAME_SEARCH_COVERAGES {
                true => self.ask_language(search, &language, &subject).await,
                false => Some(format!("{MAX_NAME_SEARCH_COVERAGES} others were asked")),
            };
            if let Some(reason) = failure {
                unknown.insert(coverage, reason);
            }
        }
        unknown
    }

    /// The file at `path`, and the coverage there of the server that responded for its language;
    /// `None` if none did.
    fn text_coverage(
        &self,
        search: &mut NameSearch<'_>,
        path: &WorkspacePath,
    ) -> Option<(LanguageFile, ServerCoverage)> {
        let subject = self.language_file_unchecked(path.clone()).ok()?;
        let session = &search.answered.get(subject.language.as_ref()?)?.session;
        let of_project = session.knows_some_projects();
        let known = search.coverages.entry((session.server().to_owned(), path.parent()));
        let coverage =
            known.or_insert_with(|| self.server_coverage(session.server(), of_project, path)).clone();
        Some((subject, coverage?))
    }

    async fn symbols_of(
        &self,
        server: &str,
        subject: &LanguageFile,
        query: &str,
        deadline: Instant,
    ) -> SymbolSearchAnswer {
        let started = Instant::now();
        let mut has_crashed = false;
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
                        (left_out > 0).then(|| format!("{server} lists {left_out} symbols above the limit"))
                    };
                    let shortfall =
                        unknown.or_else(|| session.shortfall_reason(&subject.path)).or_else(too_many);
                    let whole = working.is_none() && shortfall.is_none();
                    let verdict = if whole { Verdict::Complete } else { Verdict::Partial };
                    let mut status = self.status(server, subject, state, started);
                    status.detail = shortfall;
                    if let Some(busy) = &working {
                        self.note_busy(&mut status, busy, false);
                    }
                    return SymbolSearchAnswer::By { session, symbols, left_out, status, verdict };
                }
                // A crash is often caused by a single request.
                Err(error) if error.is_closed() && !has_crashed => has_crashed = true,
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
        // Many servers load the workspace only once one of its files is open.
        session.sync_if_readable(&subject.path).await;
        let _view_guard = viewing?;
        let mut unknown = None;
        if session.knows_open_files(&subject.path) {
            let unopened = self.open_mentioning_files(session, subject, query, deadline).await;
            unknown = unopened.map(|doubt| doubt.to_string());
        }
        if session.lists_symbols_of_last_file()
            && let Err(error) = session.document_symbols(&subject.path, deadline).await
        {
            unknown.get_or_insert_with(|| format!("its symbols may belong to another project: {error}"));
        }
        let (symbols, working, left_out) = session.workspace_symbols(query, deadline).await?;
        Ok((symbols, working, unknown, left_out))
    }

    /// The symbols with exactly the name `name` (`Class.method` within `Class`). The flag is true
    /// if the time was up before all files were searched.
    pub(crate) async fn exact_symbols(
        &self,
        name: &str,
        deadline: Instant,
    ) -> Result<(Vec<ExactSymbol>, bool), ToolError> {
        let parts: Vec<&str> = name.split(['.', '#']).flat_map(|part| part.split("::")).collect();
        let Some((last, containers)) = parts.split_last() else { return Ok((Vec::new(), false)) };
        let found = self.find_symbols(last, SymbolMatchMode::Named, deadline).await?;
        let fits = |symbol: &&WorkspaceSymbol| {
            // The names in a hidden file are part of its content.
            let is_shown = !is_hidden(&self.workspace, &symbol.location.file);
            is_shown && bare_name(symbol) == *last
        };
        let mut fitting: Vec<WorkspaceSymbol> = found.symbols.iter().filter(fits).cloned().collect();
        if fitting.len() > 1 || !containers.is_empty() {
            self.add_containers(last, &mut fitting);
        }
        let direct = |symbol: &WorkspaceSymbol| {
            let parts = container_parts(symbol);
            parts.len() >= containers.len()
                && parts.iter().rev().zip(containers.iter().rev()).all(|(part, wanted)| part == wanted)
        };
        match fitting.iter().any(direct) {
            true => fitting.retain(direct),
            // Symbols at a deeper level, if none is directly in the container.
            false => fitting.retain(|symbol| {
                let parts = container_parts(symbol);
                containers.iter().all(|container| parts.iter().any(|part| part == container))
            }),
        }
        let exact = without_overloads(&fitting);
        match found.statuses.first().filter(|_| exact.is_empty() && !found.timed_out) {
            Some(status) if found.verdict == Verdict::Hints && status.state == ServerState::Missing => {
                Err(fallback::nothing_found_error(
                    status,
                    &format!("the text has no symbol with the name `{name}`"),
                ))
            }
            _ => Ok((exact, found.timed_out)),
        }
    }

    /// Adds the types and functions around symbols called `name`, by the syntax trees of their
    /// files: some servers give no container, others only the file's module.
    fn add_containers(&self, name: &str, symbols: &mut [WorkspaceSymbol]) {
        let until = std::time::Instant::now() + syntax::DEADLINE;
        for symbol in symbols.iter_mut().take(MAX_CONTAINER_CHECKED_SYMBOLS) {
            let FileRef::Inside(path) = &symbol.location.file else { continue };
            let place = DeclarationPlace::Listed(symbol.location.range.start);
            let declared = self.declared_at(path, place, name, until);
            let around = declared.map(|declared| declared.containers).unwrap_or_default();
            if !around.is_empty() && !container_parts(symbol).ends_with(&around) {
                let within = symbol.container.iter().chain(&around).map(String::as_str);
                symbol.container = Some(within.collect::<Vec<_>>().join("."));
            }
        }
    }

    /// Removes symbols that are only imported or re-exported at their place.
    fn drop_imports(&self, symbols: &mut Vec<WorkspaceSymbol>, name: &str) {
        if symbols.iter().filter(|symbol| bare_name(symbol) == name).count() < 2 {
            return;
        }
        let until = std::time::Instant::now() + syntax::DEADLINE;
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
            let line = symbol.location.range.start.line;
            let stamp = self.workspace.stamp(path).ok();
            let key = format!("import of {name} at {}:{line} {stamp:?}", path.display());
            let is_import = self.while_tree_is_unchanged(key, || {
                let text = self.text(path)?.to_string();
                let is_import = syntax::is_import(&language, path, &text, line, name, until);
                let is_late = std::time::Instant::now() >= until;
                Ok::<_, ToolError>((is_import, (!is_late).then_some(1)))
            });
            !is_import.unwrap_or(false)
        });
    }
}
