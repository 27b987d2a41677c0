//! Answers without a server: ranked text search, marked as such, with install advice.

use std::collections::BTreeSet;
use std::time::Instant;

use serde::Serialize;

use super::unanswered_question::UnansweredQuestion;
use crate::analysis::answer::{
    Answer, DiagnosticItem, HoverOutput, LocationsOutput, ServerState, ServerStatus, Verdict,
};
use crate::analysis::code_index::indexed_symbol;
use crate::analysis::code_index::indexed_symbol::IndexedSymbol;
use crate::analysis::context::{Context, LanguageFile, from_read_error};
use crate::analysis::error::{ErrorCode, ToolError};
use crate::analysis::items::answer_places::to_place;
use crate::analysis::items::budget;
use crate::analysis::items::diagnostic_item::to_item;
use crate::analysis::items::place::{Place, Places};
use crate::lsp::documents::view::View;
use crate::lsp::model::{Location, Symbol};
use crate::lsp::servers::install_advice;
use crate::lsp::session::operations::Navigation;
use crate::syntax;
use crate::syntax::{Candidate, FoundSymbols, HintError, Hints, ImplementationHints, SyntaxCheck};
use crate::workspace::SearchError;

/// The most symbols of a search for a name.
const MAX_NAME_SEARCH_SYMBOLS: usize = 1_000;

/// A hover from the likely definition: its signature and its documentation.
pub(crate) async fn hover(
    context: &Context,
    unanswered: UnansweredQuestion,
) -> Result<Answer<HoverOutput>, ToolError> {
    let indexed = indexed_symbol::find(context, &unanswered).await;
    if let Ok(Some(symbol)) = indexed.as_ref()
        && !symbol.documentation.is_empty()
    {
        let contents = budget::cut_page(context, symbol.documentation.clone());
        let output = HoverOutput { contents, range: None, candidates: Places::default() };
        return Ok(indexed_answer(unanswered, output, symbol));
    }
    let hints = definition_hints(context, &unanswered).await?;
    let language = unanswered.subject.language.as_deref().unwrap_or_default();
    let language_id =
        context.catalogue().language_id(language, unanswered.subject.path.extension()).to_owned();
    let (contents, range) = syntax::hover(&hints, &language_id)
        .map_or((String::new(), None), |hover| (hover.contents, hover.range));
    let mut notes = notes(hints.timed_out);
    notes.extend(indexed.err());
    let candidates = Places(candidate_places(context, hints.candidates, usize::MAX));
    Ok(hints_answer(unanswered, HoverOutput { contents, range, candidates }, notes))
}

/// The likely definitions, or the likely references, best first.
pub(crate) async fn locations(
    context: &Context,
    unanswered: UnansweredQuestion,
    navigation: Navigation,
    limit: usize,
) -> Result<Answer<LocationsOutput>, ToolError> {
    let indexed = indexed_symbol::find(context, &unanswered).await;
    if let Ok(Some(symbol)) = indexed.as_ref()
        && let Some(places) = indexed_places(symbol, navigation)
    {
        let locations =
            Vec::from_iter(places.iter().take(limit).map(|place| to_place(context, place.clone())));
        let (count, has_more) = (places.len(), places.len() > locations.len());
        let output =
            LocationsOutput { locations: locations.into(), count, has_more, ..LocationsOutput::default() };
        return Ok(indexed_answer(unanswered, output, symbol));
    }
    let (locations, count, cut, mut notes) = match navigation {
        Navigation::References => references(context, &unanswered, limit).await?,
        Navigation::Implementation => {
            let found = implementation_hints(context, &unanswered).await?;
            match found.implementations.candidates.is_empty() {
                true => with_definition_note(places_of(context, found.definition, limit)),
                false => places_of(context, found.implementations, limit),
            }
        }
        Navigation::TypeDefinition => {
            let found = definition_hints(context, &unanswered).await?;
            with_definition_note(places_of(context, found, limit))
        }
        Navigation::Definition | Navigation::Declaration => {
            places_of(context, definition_hints(context, &unanswered).await?, limit)
        }
    };
    notes.extend(indexed.err());
    let has_more = cut || count > locations.len();
    let output =
        LocationsOutput { locations: locations.into(), count, has_more, ..LocationsOutput::default() };
    Ok(hints_answer(unanswered, output, notes))
}

/// The places in an index that answer a question; `None` if it has none.
fn indexed_places(symbol: &IndexedSymbol, navigation: Navigation) -> Option<&BTreeSet<Location>> {
    let places = match navigation {
        Navigation::References => &symbol.occurrences,
        Navigation::Implementation => &symbol.implementations,
        Navigation::Definition | Navigation::Declaration => &symbol.definitions,
        Navigation::TypeDefinition => return None,
    };
    (!places.is_empty()).then_some(places)
}

/// Places, their number, true if there may be more, and notes.
type FallbackPlaces = (Vec<Place>, usize, bool, Vec<String>);

fn places_of(context: &Context, hints: Hints, limit: usize) -> FallbackPlaces {
    let count = hints.candidates.len();
    let notes = notes(hints.timed_out);
    (candidate_places(context, hints.candidates, limit), count, hints.truncated, notes)
}

fn with_definition_note((places, count, cut, mut notes): FallbackPlaces) -> FallbackPlaces {
    notes.push("these are candidates for the definition of the name, not answers to the question".to_owned());
    (places, count, cut, notes)
}

async fn references(
    context: &Context,
    unanswered: &UnansweredQuestion,
    limit: usize,
) -> Result<FallbackPlaces, ToolError> {
    let subject = hint_subject(unanswered);
    let found = run_in_background(context, move |workspace, catalogue| {
        syntax::references(workspace, catalogue, &subject, limit, deadline())
    });
    let found = found.await?;
    let definition = found.definition.map(|candidate| candidate.location);
    let places = found.locations.into_iter().map(|location| {
        let reason =
            if definition.as_ref() == Some(&location) { "the likely definition" } else { "the same name" };
        let mut place = to_place(context, location);
        place.why = Some(reason.to_owned());
        place
    });
    let places: Vec<Place> = places.collect();
    Ok((places.clone(), places.len(), found.truncated, notes(found.timed_out)))
}

/// The syntax errors of a file according to tree-sitter, and notes on skipped parts; `None` if its
/// language has no grammar.
pub(crate) async fn syntax_errors(
    context: &Context,
    subject: &LanguageFile,
    view: &View,
) -> Result<Option<(Vec<DiagnosticItem>, Vec<String>)>, ToolError> {
    let path = subject.path.clone();
    let unsaved = view.unsaved(&path).map(|unsaved| unsaved.text().clone());
    let language = subject.language.clone();
    let found = run_in_background(context, move |workspace, catalogue| match unsaved {
        Some(text) => Ok(syntax::syntax_errors_in(language.as_deref(), &path, &text, deadline())),
        None => syntax::syntax_errors(workspace, catalogue, &path, deadline()),
    });
    let path = subject.path.display();
    Ok(match found.await? {
        SyntaxCheck::Checked { errors, .. } => {
            Some((errors.iter().map(|error| to_item(context, &subject.path, error)).collect(), Vec::new()))
        }
        SyntaxCheck::NoGrammar => None,
        SyntaxCheck::NotParsed(reason) => {
            Some((Vec::new(), vec![format!("{path} was not parsed: {reason}")]))
        }
    })
}

/// The outline of a file, and notes on skipped parts.
pub(crate) async fn outline(
    context: &Context,
    subject: &LanguageFile,
) -> Result<(Vec<Symbol>, Vec<String>), ToolError> {
    let path = subject.path.clone();
    let found = run_in_background(context, move |workspace, catalogue| {
        syntax::symbols(workspace, catalogue, &path, deadline())
    });
    Ok(match found.await? {
        Some(symbols) => (symbols, Vec::new()),
        None => (
            Vec::new(),
            vec![format!("{} was not parsed: no grammar for its language", subject.path.display())],
        ),
    })
}

/// Symbols of the workspace that match `query`, found before `deadline`.
pub(crate) async fn workspace_symbols(
    context: &Context,
    query: &str,
    deadline: Instant,
) -> Result<FoundSymbols, ToolError> {
    let (query, key) = (query.to_owned(), format!("symbols like {query}"));
    run_until_changed(context, key, symbols_to_keep, move |workspace, catalogue| {
        syntax::workspace_symbols(workspace, catalogue, &query, MAX_NAME_SEARCH_SYMBOLS, deadline)
    })
    .await
}

/// The number of items of a result that may be kept.
fn symbols_to_keep(found: &FoundSymbols) -> Option<usize> {
    let files = found.occurs_in.as_ref().map_or(0, BTreeSet::len);
    (!found.timed_out).then_some(found.symbols.len() + files)
}

/// Symbols of the workspace with exactly the name `name`. The search gets half the time.
pub(crate) async fn workspace_symbols_named(
    context: &Context,
    name: &str,
    deadline: Instant,
) -> Result<FoundSymbols, ToolError> {
    let (name, key) = (name.to_owned(), format!("symbols named {name}"));
    run_until_changed(context, key, symbols_to_keep, move |workspace, catalogue| {
        syntax::workspace_symbols_named(workspace, catalogue, &name, deadline)
    })
    .await
}

/// The error of a request that only a server can answer: its state, the command that installs it,
/// and alternatives without it.
pub(crate) fn refusal_error(status: &ServerStatus) -> ToolError {
    let mut error = state_error(status);
    if let Some(advice) = search_advice(status) {
        error.hint = Some(error.hint.map_or_else(|| advice.clone(), |hint| format!("{hint}; {advice}")));
    }
    error
}

/// Advice on alternatives without a server, if it is missing.
fn search_advice(status: &ServerStatus) -> Option<String> {
    let advice = install_advice::SEARCH_ADVICE;
    (status.state == ServerState::Missing).then(|| {
        match status.installer.is_some() || status.install.is_some() {
            true => format!("until then {advice}"),
            false => advice.to_owned(),
        }
    })
}

/// Adds advice on a better answer to `answer`. It becomes an error if a server is missing and the
/// text search found nothing, because a program would read the empty answer as "none exist".
pub(crate) fn advised_answer<T: Serialize>(
    mut answer: Answer<T>,
    is_found: impl FnOnce(&T) -> bool,
) -> Result<Answer<T>, ToolError> {
    let status = &mut answer.server_status;
    if answer.verdict != Verdict::Hints || status.state != ServerState::Missing {
        return Ok(answer);
    }
    status.hint = search_advice(status);
    if is_found(&answer.output) {
        return Ok(answer);
    }
    Err(nothing_found_error(&answer.server_status, "the text search found nothing").with_details(&answer))
}

/// The error of a request whose server is missing and for which the text search found nothing.
pub(crate) fn nothing_found_error(status: &ServerStatus, nothing: &str) -> ToolError {
    let error = refusal_error(status);
    ToolError { error: format!("{}, and {nothing}", error.error), ..error }
}

/// The state of a server as an error, with the command that installs it.
pub(crate) fn state_error(status: &ServerStatus) -> ToolError {
    let code = match status.state {
        ServerState::Missing => ErrorCode::ServerMissing,
        ServerState::Disabled => ErrorCode::Denied,
        ServerState::Timeout | ServerState::Starting | ServerState::Indexing => ErrorCode::Timeout,
        ServerState::Unsupported => ErrorCode::Unsupported,
        ServerState::Crashed | ServerState::Failed | ServerState::Ready => ErrorCode::ServerFailed,
    };
    let detail = match &status.detail {
        Some(_) if status.state == ServerState::Missing && !status.server.is_empty() => {
            status.absence_sentence()
        }
        Some(detail) => detail.clone(),
        None => format!("{} did not answer", status.server),
    };
    let error = ToolError::new(code, detail);
    match (status.install_commands(), &status.hint) {
        (Some(install), _) => error.with_hint(format!("install it with: {install}")),
        (None, Some(hint)) => error.with_hint(hint.clone()),
        (None, None) => error,
    }
}

fn deadline() -> Instant {
    Instant::now() + syntax::DEADLINE
}

fn hint_subject(unanswered: &UnansweredQuestion) -> syntax::HintSubject {
    syntax::HintSubject::Position {
        path: unanswered.subject.path.clone(),
        position: unanswered.place.position,
    }
}

async fn implementation_hints(
    context: &Context,
    unanswered: &UnansweredQuestion,
) -> Result<ImplementationHints, ToolError> {
    let subject = hint_subject(unanswered);
    run_in_background(context, move |workspace, catalogue| {
        syntax::implementations(workspace, catalogue, &subject, deadline())
    })
    .await
}

async fn definition_hints(context: &Context, unanswered: &UnansweredQuestion) -> Result<Hints, ToolError> {
    let subject = hint_subject(unanswered);
    run_in_background(context, move |workspace, catalogue| {
        syntax::definition(workspace, catalogue, &subject, deadline())
    })
    .await
}

/// Runs a search on a blocking thread: it takes processor time, which the threads that talk to
/// servers need.
pub(crate) async fn run_in_background<T: Send + 'static>(
    context: &Context,
    work: impl FnOnce(&crate::workspace::Workspace, &crate::config::Catalogue) -> Result<T, HintError>
    + Send
    + 'static,
) -> Result<T, ToolError> {
    let (workspace, config) = (context.overlaid_workspace(), context.config.clone());
    let done = tokio::task::spawn_blocking(move || work(&workspace, &config.catalogue)).await;
    let failed = |error: &dyn std::fmt::Display| {
        ToolError::new(ErrorCode::Internal, format!("the search failed: {error}"))
    };
    match done {
        Ok(Ok(found)) => Ok(found),
        Ok(Err(HintError::Read(error))) => Err(from_read_error(error)),
        Ok(Err(HintError::Search(SearchError::Place(error)))) => Err(from_read_error(error)),
        // The pattern is the name from the request.
        Ok(Err(HintError::Search(error))) => {
            let what = format!("the name is invalid: {error}");
            Err(ToolError::new(ErrorCode::InvalidArgs, what))
        }
        Err(error) => Err(failed(&error)),
    }
}

/// Like [`run_in_background`], for work whose result depends on the files that the workspace lists
/// and on `key`: a result is kept until one of them changes. `items` returns the size of a result
/// that may be kept.
pub(crate) async fn run_until_changed<T: Clone + Send + Sync + 'static>(
    context: &Context,
    key: String,
    items: impl FnOnce(&T) -> Option<usize>,
    work: impl FnOnce(&crate::workspace::Workspace, &crate::config::Catalogue) -> Result<T, HintError>
    + Send
    + 'static,
) -> Result<T, ToolError> {
    let revision = context.tree_revision();
    if let Some(known) = context.manager.kept_result(revision, &key) {
        return Ok(known);
    }
    let found = run_in_background(context, work).await?;
    // Not before the first search, which would take turns with the setup of the watches.
    context.manager.watch_tree();
    context.manager.keep_result(revision, key, &found, items(&found));
    Ok(found)
}

fn notes(timed_out: bool) -> Vec<String> {
    let late = timed_out.then(|| "the search ran out of time; there may be better candidates".to_owned());
    late.into_iter().collect()
}

fn candidate_places(context: &Context, candidates: Vec<Candidate>, limit: usize) -> Vec<Place> {
    let place = |candidate: Candidate| {
        let mut place = to_place(context, candidate.location);
        place.why = Some(candidate.why);
        place
    };
    candidates.into_iter().take(limit).map(place).collect()
}

/// An answer from an index: partial, because files that are not in it may have uses.
fn indexed_answer<T>(unanswered: UnansweredQuestion, output: T, symbol: &IndexedSymbol) -> Answer<T> {
    let verdict = if symbol.is_current() { Verdict::Partial } else { Verdict::Hints };
    let notes = symbol.notes().chain(unanswered.place.notes()).collect();
    Answer::new(output, unanswered.place.resolved, unanswered.status, verdict, notes)
}

fn hints_answer<T>(unanswered: UnansweredQuestion, output: T, mut notes: Vec<String>) -> Answer<T> {
    notes.extend(unanswered.place.notes());
    Answer::new(output, unanswered.place.resolved, unanswered.status, Verdict::Hints, notes)
}
