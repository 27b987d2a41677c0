//! Answers without a server: ranked text search, named as such, and how to get the server.

use std::time::Instant;

use super::answer::{
    Answer, DiagnosticItem, HoverOutput, LocationsOutput, Place, ServerState, ServerStatus, Verdict,
};
use super::context::{Context, Subject, from_read_error};
use super::error::{ErrorCode, ToolError};
use super::lsp_navigate;
use super::question::Unanswered;
use crate::hints::{self, Candidate, HintError, Hints};
use crate::lsp::model::{Symbol, WorkspaceSymbol};
use crate::lsp::operations::Navigation;

/// Hover from the likely definition: its signature and its documentation.
pub async fn hover(context: &Context, unanswered: Unanswered) -> Result<Answer<HoverOutput>, ToolError> {
    let hints = definition_hints(context, &unanswered).await?;
    let contents = hints.candidates.first().map(hints::markdown).unwrap_or_default();
    let notes = notes(&hints);
    let candidates = places(context, hints.candidates, usize::MAX);
    Ok(answer(unanswered, HoverOutput { contents, range: None, candidates }, notes))
}

/// The likely definitions, or the likely references, best first.
pub async fn locations(
    context: &Context,
    unanswered: Unanswered,
    navigation: Navigation,
    limit: usize,
) -> Result<Answer<LocationsOutput>, ToolError> {
    let hints = match navigation {
        Navigation::References => blocking(context, &unanswered, hints::references).await?,
        _ => definition_hints(context, &unanswered).await?,
    };
    let mut notes = notes(&hints);
    if matches!(navigation, Navigation::TypeDefinition | Navigation::Implementation) {
        notes.push("these are candidates for the definition of the name, not for what was asked".to_owned());
    }
    let (count, cut) = (hints.candidates.len(), hints.truncated);
    let locations = places(context, hints.candidates, limit);
    let has_more = cut || count > locations.len();
    let output = LocationsOutput { location: locations.first().cloned(), locations, count, has_more };
    Ok(answer(unanswered, output, notes))
}

/// The syntax errors of a file, as tree-sitter sees them.
pub async fn syntax_errors(context: &Context, subject: &Subject) -> Result<Vec<DiagnosticItem>, ToolError> {
    let path = subject.path.clone();
    let found = in_background(context, move |workspace, catalogue| {
        hints::syntax_errors(workspace, catalogue, &path, deadline())
    });
    let item = |found: hints::SyntaxError| DiagnosticItem {
        path: subject.path.display(),
        range: found.range,
        severity: crate::lsp::model::Severity::Error,
        code: None,
        source: Some("tree-sitter".to_owned()),
        server: "syntax".to_owned(),
        message: found.message,
        related: Vec::new(),
    };
    Ok(found.await?.into_iter().map(item).collect())
}

/// The outline of a file.
pub async fn outline(context: &Context, subject: &Subject) -> Result<Vec<Symbol>, ToolError> {
    let path = subject.path.clone();
    in_background(context, move |workspace, catalogue| hints::symbols(workspace, catalogue, &path, deadline())).await
}

/// Symbols of the workspace that match `query`, in files of the subject's language.
pub async fn workspace_symbols(
    context: &Context,
    subject: &Subject,
    query: &str,
) -> Result<Vec<WorkspaceSymbol>, ToolError> {
    let (language, query) = (subject.language.clone(), query.to_owned());
    in_background(context, move |workspace, catalogue| {
        hints::workspace_symbols(workspace, catalogue, language.as_deref(), &query, deadline())
    })
    .await
}

/// What can only be answered by a server is refused with its state.
pub fn refusal(status: &ServerStatus) -> ToolError {
    let code = match status.state {
        ServerState::Missing => ErrorCode::ServerMissing,
        ServerState::Disabled => ErrorCode::Denied,
        ServerState::Timeout | ServerState::Starting => ErrorCode::Timeout,
        ServerState::Unsupported => ErrorCode::Unsupported,
        ServerState::Crashed | ServerState::Ready | ServerState::Indexing => ErrorCode::ServerFailed,
    };
    let detail = status.detail.clone().unwrap_or_else(|| format!("{} did not answer", status.server));
    let error = ToolError::new(code, detail);
    match &status.install {
        Some(install) => error.with_hint(format!("install it with: {install}")),
        None => error,
    }
}

fn deadline() -> Instant {
    Instant::now() + hints::DEADLINE
}

async fn definition_hints(context: &Context, unanswered: &Unanswered) -> Result<Hints, ToolError> {
    blocking(context, unanswered, hints::definition).await
}

type Search = fn(
    &crate::workspace::Workspace,
    &crate::config::Catalogue,
    &hints::Subject,
    Instant,
) -> Result<Hints, HintError>;

async fn blocking(context: &Context, unanswered: &Unanswered, search: Search) -> Result<Hints, ToolError> {
    let path = unanswered.subject.path.clone();
    let position = unanswered.place.position;
    in_background(context, move |workspace, catalogue| {
        search(workspace, catalogue, &hints::Subject::Position { path, position }, deadline())
    })
    .await
}

/// Searching takes processor time, which the threads that talk to servers must not lose.
async fn in_background<T: Send + 'static>(
    context: &Context,
    work: impl FnOnce(&crate::workspace::Workspace, &crate::config::Catalogue) -> Result<T, HintError> + Send + 'static,
) -> Result<T, ToolError> {
    let (workspace, config) = (context.workspace.clone(), context.config.clone());
    let done = tokio::task::spawn_blocking(move || work(&workspace, &config.catalogue)).await;
    let failed = |error: &dyn std::fmt::Display| ToolError::new(ErrorCode::Internal, format!("the search failed: {error}"));
    match done {
        Ok(Ok(found)) => Ok(found),
        Ok(Err(HintError::Read(error))) => Err(from_read_error(error)),
        Ok(Err(HintError::Search(error))) => Err(failed(&error)),
        Err(error) => Err(failed(&error)),
    }
}

fn notes(hints: &Hints) -> Vec<String> {
    let late = hints.timed_out.then(|| "the search ran out of time; there may be better candidates".to_owned());
    late.into_iter().collect()
}

fn places(context: &Context, candidates: Vec<Candidate>, limit: usize) -> Vec<Place> {
    let place = |candidate: Candidate| {
        let mut place = lsp_navigate::place(context, candidate.location);
        place.why = Some(candidate.why);
        place
    };
    candidates.into_iter().take(limit).map(place).collect()
}

fn answer<T>(unanswered: Unanswered, output: T, notes: Vec<String>) -> Answer<T> {
    Answer {
        ok: true,
        output,
        resolved: unanswered.place.resolved,
        server_status: unanswered.status,
        servers: Vec::new(),
        verdict: Verdict::Hints,
        notes,
    }
}
