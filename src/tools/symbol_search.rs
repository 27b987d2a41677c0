//! Symbols of the workspace by name, from servers and from the text. The servers are those of its main languages; the text
//! counts where they do not answer or do not list what it defines.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::answer::{ServerState, ServerStatus, Verdict};
use super::context::{Context, LanguageFile};
use super::error::ToolError;
use super::fallback;
use crate::hints::{self, FoundSymbols};
use crate::lsp::ask::AskError;
use crate::lsp::model::{FileRef, WorkspaceSymbol};
use crate::lsp::readiness::UnfinishedWork;
use crate::lsp::session::Session;
use crate::text::Position;
use crate::workspace::WorkspacePath;

/// How many languages of a workspace are asked for a bare name, those with the most files first.
const MAX_NAME_SEARCH_LANGUAGES: usize = 4;
/// So many symbols of the name are looked at for whether they are imports.
const MAX_IMPORT_CHECKED_SYMBOLS: usize = 20;
/// The longest search of the text for a name.
const NAME_SEARCH_TIMEOUT: Duration = Duration::from_secs(10);

/// Symbols of the workspace, best first, and what became of each server asked.
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

impl Context {
    /// Asks the servers of the workspace's main languages for `query`; text search answers for those that cannot. Where no server
    /// lists a symbol of that very name, the text is searched before that is believed.
    pub(crate) async fn find_symbols(
        &self,
        query: &str,
        wanted: SymbolMatchMode,
        deadline: Instant,
    ) -> Result<NameMatches, ToolError> {
        self.manager.refresh().await;
        let mut found = NameMatches {
            symbols: Vec::new(),
            left_out: 0,
            statuses: Vec::new(),
            verdict: Verdict::Complete,
            sessions: Vec::new(),
            notes: Vec::new(),
            timed_out: false,
        };
        let (mut answered, mut unanswered) = (BTreeSet::new(), BTreeSet::new());
        let mut asked: Vec<(String, ServerStatus, Verdict)> = Vec::new();
        for language in self.present_languages().into_iter().take(MAX_NAME_SEARCH_LANGUAGES) {
            let subject =
                LanguageFile { path: language.example.clone(), language: Some(language.language.clone()) };
            let servers = self.servers_for(&subject, |features| features.navigation);
            let Some((server, _)) = servers.first() else { continue };
            match self.symbols_of(server, &subject, query, deadline).await {
                SymbolSearchAnswer::By { session, symbols, left_out, status, verdict } => {
                    found.left_out += left_out;
                    found.sessions.push(session);
                    found.symbols.extend(symbols);
                    answered.insert(language.language.clone());
                    asked.push((language.language, status, verdict));
                }
                SymbolSearchAnswer::Not(status) => {
                    unanswered.insert(language.language.clone());
                    asked.push((language.language, status, Verdict::Hints));
                }
            }
        }
        self.drop_imports(&mut found.symbols, query);
        let text = self.symbols_of_text(&found, (query, wanted), &answered, &unanswered, deadline).await?;
        if let Some(occurs_in) = text.as_ref().and_then(|text| text.occurs_in.as_ref())
            && !answered.is_empty()
        {
            let concerned = self.languages_of(occurs_in);
            // What no file of a language has is no symbol of it, whatever its server would say.
            asked.retain(|(language, ..)| answered.contains(language) || concerned.contains(language));
        }
        found.verdict = match asked.as_slice() {
            [] => Verdict::Hints,
            [(.., first), rest @ ..] if rest.iter().all(|(.., verdict)| verdict == first) => *first,
            _ => Verdict::Partial,
        };
        found.statuses = asked.into_iter().map(|(_, status, _)| status).collect();
        if let Some(text) = text {
            self.add_from_text(&mut found, text, query, &answered, &unanswered)?;
        }
        sort_by_relevance(&mut found.symbols, query);
        found.symbols.dedup_by(|a, b| {
            a.location.file == b.location.file
                && a.location.range.start.line == b.location.range.start.line
                && a.name == b.name
        });
        Ok(found)
    }

    /// What the text defines; `None` where servers answered for every language and list the name.
    async fn symbols_of_text(
        &self,
        found: &NameMatches,
        (query, wanted): (&str, SymbolMatchMode),
        answered: &BTreeSet<String>,
        unanswered: &BTreeSet<String>,
        deadline: Instant,
    ) -> Result<Option<FoundSymbols>, ToolError> {
        if unanswered.is_empty() && (answered.is_empty() || is_listed(found, query)) {
            return Ok(None);
        }
        let until = deadline.min(Instant::now() + NAME_SEARCH_TIMEOUT);
        Ok(Some(match wanted {
            // Of languages whose servers answered, the text is only asked for the name itself.
            SymbolMatchMode::Like if !unanswered.is_empty() => {
                fallback::workspace_symbols(self, query, until.into_std()).await?
            }
            _ => fallback::workspace_symbols_named(self, query, until.into_std()).await?,
        }))
    }

    /// The languages of these files.
    fn languages_of(&self, paths: &BTreeSet<WorkspacePath>) -> BTreeSet<String> {
        let language = |path: &WorkspacePath| self.language_file_unchecked(path.clone()).ok()?.language;
        paths.iter().filter_map(language).collect()
    }

    /// Adds what the text defines, in files of languages that no server answered for; and in those of others the name itself, if
    /// no server lists it.
    fn add_from_text(
        &self,
        found: &mut NameMatches,
        text: FoundSymbols,
        query: &str,
        answered: &BTreeSet<String>,
        unanswered: &BTreeSet<String>,
    ) -> Result<(), ToolError> {
        let doubtful = !answered.is_empty() && !is_listed(found, query);
        found.timed_out = text.timed_out;
        let mut unlisted = false;
        for symbol in text.symbols {
            let FileRef::Inside(path) = &symbol.location.file else { continue };
            let Some(language) = self.language_file(path.clone())?.language else { continue };
            if doubtful && answered.contains(&language) && symbol.name == query {
                unlisted = true;
            } else if !unanswered.contains(&language) {
                continue;
            }
            found.symbols.push(symbol);
        }
        if unlisted {
            let servers: Vec<&str> = found.sessions.iter().map(|session| session.server()).collect();
            let servers = servers.join(" and ");
            found.notes.push(format!("{servers} did not list `{query}`, which the text defines"));
            found.verdict = if found.verdict == Verdict::Hints { Verdict::Hints } else { Verdict::Partial };
        }
        if text.timed_out {
            found.notes.push("the time was up before all files were searched for the name".to_owned());
            found.verdict = if found.verdict == Verdict::Complete { Verdict::Partial } else { found.verdict };
        }
        Ok(())
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

/// Whether a server lists a symbol that is called just so.
fn is_listed(found: &NameMatches, name: &str) -> bool {
    found.symbols.iter().any(|symbol| bare_name(symbol) == name)
}

/// One symbol for each function, whose overloads stand in one file, in one container.
fn without_overloads(symbols: &[&WorkspaceSymbol]) -> Vec<ExactSymbol> {
    let mut found: Vec<ExactSymbol> = Vec::new();
    let mut functions: HashMap<(&FileRef, &Option<String>), usize> = HashMap::new();
    for symbol in symbols {
        let (file, position) = (&symbol.location.file, symbol.location.range.start);
        let place = (file, &symbol.container);
        let known = functions.get(&place).filter(|_| symbol.kind.is_callable()).copied();
        match known.and_then(|known| found.get_mut(known)) {
            Some(known) if known.position.line == position.line => {}
            Some(known) => known.overloads.push(position.line),
            None => {
                if symbol.kind.is_callable() {
                    functions.insert(place, found.len());
                }
                found.push(ExactSymbol { file: file.clone(), position, overloads: Vec::new() });
            }
        }
    }
    found
}

/// The names of what it lies in, the outermost first: from its container (`ns::Type<T>`, `impl Trait for Type`) and its own name.
fn container_parts(symbol: &WorkspaceSymbol) -> Vec<String> {
    let within = without_arguments(symbol.container.as_deref().unwrap_or_default());
    let own = without_arguments(&symbol.name);
    let before = own.strip_suffix(bare_name(symbol)).unwrap_or_default();
    let is_break = |character: char| !(character.is_alphanumeric() || character == '_' || character == '$');
    let parts = within.split(is_break).chain(before.split(is_break));
    parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// `name` without what stands in `<…>` and `(…)`.
fn without_arguments(name: &str) -> String {
    let mut depth = 0_usize;
    name.chars()
        .filter(|character| match character {
            '<' | '(' => {
                depth += 1;
                false
            }
            '>' | ')' => {
                depth = depth.saturating_sub(1);
                false
            }
            _ => depth == 0,
        })
        .collect()
}

/// The name alone, without parameters and what it is a part of.
fn bare_name(symbol: &WorkspaceSymbol) -> &str {
    let name = symbol.name.split('(').next().unwrap_or_default();
    name.rsplit(['.', ':']).next().unwrap_or_default()
}

/// Own code before libraries; exact names, then exact but for case, then starts, then the rest; shorter names first.
fn sort_by_relevance(symbols: &mut [WorkspaceSymbol], query: &str) {
    let lower = query.to_lowercase();
    symbols.sort_by_cached_key(|symbol| {
        let outside = !matches!(symbol.location.file, FileRef::Inside(_));
        let name = symbol.name.to_lowercase();
        let grade = match () {
            () if symbol.name == query => 0,
            () if name == lower => 1,
            () if name.starts_with(&lower) => 2,
            () if name.contains(&lower) => 3,
            () => 4,
        };
        (outside, grade, symbol.name.len(), symbol.location.file.clone(), symbol.location.range)
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lsp::model::{Location, SymbolKind};
    use crate::text::Range;

    fn parts(container: Option<&str>, name: &str) -> Vec<String> {
        let location =
            Location { file: FileRef::Virtual(String::new()), range: Range::default(), text: None };
        container_parts(&WorkspaceSymbol {
            name: name.to_owned(),
            kind: SymbolKind::from_name("method").unwrap(),
            container: container.map(str::to_owned),
            location,
        })
    }

    #[test]
    fn container_parts_are_names_without_type_arguments() {
        assert_eq!(parts(Some("Session"), "request"), ["Session"]);
        assert_eq!(parts(Some("Session.prepare_request"), "request"), ["Session", "prepare_request"]);
        assert_eq!(parts(Some("ns::Cart<T, Vec<U>>"), "total(int)"), ["ns", "Cart"]);
        assert_eq!(parts(Some("impl<T> Shape for Circle<T>"), "area"), ["impl", "Shape", "for", "Circle"]);
        assert_eq!(parts(None, "Cart.total"), ["Cart"]);
        assert_eq!(parts(None, "total"), Vec::<String>::new());
    }
}
