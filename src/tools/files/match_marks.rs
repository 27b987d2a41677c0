//! Marks of running language servers on hits of `grep`: a use of a symbol, or mere text. Uses that
//! the text does not show are listed as well. No server is started for the marks, and the wait is
//! bounded.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::analysis::context::{Context, LanguageFile};
use crate::analysis::error::{ErrorCode, ToolError};
use crate::lsp::documents::view::View;
use crate::lsp::model::{FileRef, Location};
use crate::lsp::session::live_session::Session;
use crate::lsp::session::operations::Navigation;
use crate::text::{Position, identifiers_in, is_identifier_char};
use crate::workspace::{CaseMode, GrepQuery, LineMatch, LineMatcher, WorkspacePath};

/// The longest wait for servers after the text search.
const MARKS_SERVER_TIMEOUT: Duration = Duration::from_millis(400);

/// The most requests: one for each symbol with the name, and one for each mention that is no
/// symbol.
const MAX_MARK_QUERIES: usize = 64;

/// The server's verdict on a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MatchMark {
    /// A symbol's name, or a use of it.
    Confirmed,
    /// No symbol: a comment, a string, a part of another name.
    Text,
    /// A use of a symbol with that name in a line that the pattern does not match.
    Added,
}

/// Matches with their marks.
#[derive(Debug, Default)]
pub(crate) struct MarkedMatches {
    /// The matches, by path and line.
    pub matches: Vec<MarkedMatch>,
    /// The servers that were asked.
    pub by: Vec<String>,
}

/// A match with its mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MarkedMatch {
    /// The file.
    pub path: WorkspacePath,
    /// The line.
    pub line: LineMatch,
    /// The server's mark; `None` if no server was asked or answered in time.
    pub mark: Option<MatchMark>,
}

impl MarkedMatches {
    /// Matches without marks.
    pub(crate) fn unmarked(found: impl IntoIterator<Item = (WorkspacePath, LineMatch)>) -> Self {
        let matches = found.into_iter().map(|(path, line)| MarkedMatch { path, line, mark: None }).collect();
        Self { matches, by: Vec::new() }
    }
}

/// The start of an occurrence.
type OccurrenceStart = (WorkspacePath, Position);

/// Requests marks from the running servers, if the pattern is a name.
///
/// # Errors
/// Only those that the search with the same query also has.
pub(crate) async fn mark_matches(
    context: &Context,
    query: &GrepQuery,
    marked: &mut MarkedMatches,
    notes: &mut Vec<String>,
) -> Result<(), ToolError> {
    if !is_name(query) {
        return Ok(());
    }
    let sessions = sessions(context, &marked.matches);
    if sessions.is_empty() {
        return Ok(());
    }
    let deadline = Instant::now() + MARKS_SERVER_TIMEOUT;
    let name = &SearchedName::from_query(query);
    let mut uses = ClassifiedOccurrences::default();
    if tokio::time::timeout_at(deadline, context.manager.refresh()).await.is_ok() {
        uses.query_servers(&sessions, &marked.matches, name, deadline).await;
    }
    for one in &mut marked.matches {
        if sessions.contains_key(&one.path) {
            one.mark = uses.match_mark(&one.path, &one.line, name);
        }
    }
    let added = uses.additional_matches(context, query, &marked.matches)?;
    marked.matches.extend(added);
    marked.matches.sort_by(|a, b| (&a.path, a.line.start).cmp(&(&b.path, b.line.start)));
    let names: BTreeSet<&str> = sessions.values().map(|session| session.server()).collect();
    marked.by = names.into_iter().map(str::to_owned).collect();
    if marked.matches.iter().any(|one| one.mark.is_none() && sessions.contains_key(&one.path)) {
        notes.push(
            "the language server did not check all matches in time; those without a mark were not checked"
                .to_owned(),
        );
    }
    Ok(())
}

/// Returns true if the pattern is a single name and matching lines are requested.
fn is_name(query: &GrepQuery) -> bool {
    let pattern = &query.pattern;
    let is_plain = |character: char| is_identifier_char(character) && (pattern.fixed || character != '$');
    !pattern.invert
        && !pattern.multiline
        && pattern.text.chars().all(is_plain)
        && pattern.text.starts_with(|first: char| !first.is_numeric())
}

/// The running, ready sessions that navigate in the files of `matches`.
fn sessions(context: &Context, matches: &[MarkedMatch]) -> HashMap<WorkspacePath, Arc<Session>> {
    let mut sessions = HashMap::new();
    let mut previous: Option<&WorkspacePath> = None;
    for one in matches {
        if previous.replace(&one.path) == Some(&one.path) {
            continue;
        }
        let name = one.path.file_name().unwrap_or_default();
        let language = context.catalogue().language_of(name, None).map(str::to_owned);
        let subject = LanguageFile { path: one.path.clone(), language };
        let servers = context.servers_for(&subject, |features| features.navigation);
        let running =
            servers.iter().find_map(|(server, _)| context.manager.running_session(server, &one.path));
        let method = Navigation::References.method();
        if let Some(session) =
            running.filter(|session| session.unfinished_work().is_none() && session.offers_anywhere(method))
        {
            sessions.insert(one.path.clone(), session);
        }
    }
    sessions
}

/// Occurrences classified by responses of servers.
#[derive(Default)]
struct ClassifiedOccurrences {
    /// Uses of symbols, with their lines.
    known: BTreeMap<OccurrenceStart, Option<String>>,
    /// Occurrences that are not symbols.
    others: BTreeSet<OccurrenceStart>,
}

impl ClassifiedOccurrences {
    /// Sends a request for each occurrence that no earlier response contains.
    async fn query_servers(
        &mut self,
        sessions: &HashMap<WorkspacePath, Arc<Session>>,
        matches: &[MarkedMatch],
        name: &SearchedName,
        deadline: Instant,
    ) {
        let mut queries = 0;
        for one in matches {
            let Some(session) = sessions.get(&one.path).filter(|_| !is_cut(&one.line)) else { continue };
            for position in name.occurrences(&one.line.text, one.line.start.line) {
                let spot = (one.path.clone(), position);
                if self.known.contains_key(&spot) {
                    continue;
                }
                if queries == MAX_MARK_QUERIES || Instant::now() >= deadline {
                    return;
                }
                queries += 1;
                // The search covers the disk.
                let answer = match session.enter_view(&View::disk(), deadline).await {
                    Ok(_view_guard) => {
                        session.navigate(Navigation::References, &one.path, &position, deadline).await
                    }
                    Err(error) => Err(error),
                };
                match answer {
                    Ok(answer) if answer.unfinished_work.is_none() => self.record_answer(spot, answer.value),
                    // A response during indexing may be incomplete.
                    Ok(_) => return,
                    Err(error) => {
                        tracing::debug!(server = session.server(), "no marks: {error}");
                        return;
                    }
                }
            }
        }
    }

    /// Records a response for `spot`. If the response does not contain `spot` itself, the
    /// occurrence is not a use.
    fn record_answer(&mut self, spot: OccurrenceStart, answer: Vec<Location>) {
        let inside = answer.into_iter().filter_map(|location| match location.file {
            FileRef::Inside(path) => Some(((path, location.range.start), location.text)),
            FileRef::Outside(_) | FileRef::Virtual(_) => None,
        });
        let found: Vec<(OccurrenceStart, Option<String>)> = inside.collect();
        if found.iter().any(|(place, _)| *place == spot) {
            self.known.extend(found);
        } else {
            self.others.insert(spot);
        }
    }

    /// The mark of a match. If a line has several occurrences of the name, one symbol is enough.
    fn match_mark(&self, path: &WorkspacePath, line: &LineMatch, name: &SearchedName) -> Option<MatchMark> {
        let occurrences = name.occurrences(&line.text, line.start.line);
        let spots: Vec<OccurrenceStart> = occurrences.map(|position| (path.clone(), position)).collect();
        if is_cut(line) {
            return None;
        }
        if spots.iter().any(|spot| self.known.contains_key(spot)) {
            return Some(MatchMark::Confirmed);
        }
        spots.iter().all(|spot| self.others.contains(spot)).then_some(MatchMark::Text)
    }

    /// Uses in lines that the pattern does not match, within the searched files.
    fn additional_matches(
        &self,
        context: &Context,
        query: &GrepQuery,
        matches: &[MarkedMatch],
    ) -> Result<Vec<MarkedMatch>, ToolError> {
        let invalid =
            |error: &dyn std::fmt::Display| ToolError::new(ErrorCode::InvalidArgs, error.to_string());
        let matcher = LineMatcher::new(&query.pattern).map_err(|error| invalid(&error))?;
        let is_selected = query.select.path_matcher(&context.workspace).map_err(|error| invalid(&error))?;
        let mut lines: BTreeSet<(&WorkspacePath, u32)> =
            matches.iter().map(|one| (&one.path, one.line.start.line)).collect();
        let mut added = Vec::new();
        for ((path, start), text) in &self.known {
            let Some(text) = text.as_ref().filter(|text| !matcher.is_match(text, &query.deadline)) else {
                continue;
            };
            let is_below = path.as_path().starts_with(query.under.as_path());
            if is_below
                && is_selected(path)
                && !context.workspace.is_path_hidden(path)
                && lines.insert((path, start.line))
            {
                let line = LineMatch::from_line(*start, text.trim_end());
                added.push(MarkedMatch { path: path.clone(), line, mark: Some(MatchMark::Added) });
            }
        }
        Ok(added)
    }
}

/// The name that is searched for.
struct SearchedName {
    name: String,
    ignores_case: bool,
}

impl SearchedName {
    fn from_query(query: &GrepQuery) -> Self {
        let pattern = &query.pattern;
        let ignores_case = match pattern.case {
            CaseMode::Sensitive => false,
            CaseMode::Insensitive => true,
            CaseMode::Smart => !pattern.text.chars().any(char::is_uppercase),
        };
        let name = if ignores_case { pattern.text.to_lowercase() } else { pattern.text.clone() };
        Self { name, ignores_case }
    }

    /// The positions of the name as a whole word in the 0-based `line`.
    fn occurrences(&self, text: &str, line: u32) -> impl Iterator<Item = Position> {
        let found = identifiers_in(text, line).into_iter();
        found.filter(|one| self.equals(&one.name)).map(|one| one.range.start)
    }

    fn equals(&self, other: &str) -> bool {
        if self.ignores_case { other.to_lowercase() == self.name } else { other == self.name }
    }
}

/// Returns true if the shown text is an excerpt, so that its positions differ from those in the
/// line.
fn is_cut(line: &LineMatch) -> bool {
    line.text.starts_with('…') || line.text.ends_with('…')
}
