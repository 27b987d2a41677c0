//! Errors of the Copilot language server and of the connection to it.

use std::time::Duration;

use crate::analysis::error::{ErrorCode, ToolError};
use crate::lsp::servers::manager::SessionUnavailable;
use crate::rpc::RequestError;

/// The server's own code for "not signed in".
const COPILOT_NOT_AUTHENTICATED_CODE: i64 = 1000;

/// Reasons for a failed operation.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CopilotError {
    /// The program was not found.
    #[error("the Copilot language server is not installed: {searched}")]
    Missing {
        /// The searched places.
        searched: String,
    },
    /// The server cannot be started, or its handshake failed.
    #[error("the Copilot language server cannot be started: {detail}")]
    Start {
        /// The reason, with the last line of its standard error.
        detail: String,
    },
    /// The server exited before its response.
    #[error("the Copilot language server ended: {detail}")]
    Ended {
        /// The exit status and the last line of its standard error.
        detail: String,
    },
    /// Chats require a signed-in user (code 1000).
    #[error("you are not signed in to GitHub Copilot ({message})")]
    NotSignedIn {
        /// The server's message.
        message: String,
    },
    /// The server responded with an error.
    #[error("{method} failed: {message} (code {code})")]
    Refused {
        /// The request's method.
        method: String,
        /// JSON-RPC's code, or the server's own.
        code: i64,
        /// The server's message.
        message: String,
    },
    /// The server's response cannot be parsed.
    #[error("the response to {method} cannot be decoded: {what}")]
    Malformed {
        /// The request's method.
        method: String,
        /// The problem.
        what: String,
    },
    /// The server did not respond in time.
    #[error("no response to {method} within {} s", waited.as_secs())]
    Timeout {
        /// The request's method.
        method: String,
        /// The time limit.
        waited: Duration,
    },
    /// The number of tools exceeds the limit of a model.
    #[error("{ours} tools of lsp-tools and {others} others exceed the limit of {most} for a model")]
    TooManyTools {
        /// The number of our tools.
        ours: usize,
        /// The number of the server's own and other clients' tools.
        others: usize,
        /// The limit.
        most: usize,
    },
    /// The tools cannot be put into a list.
    #[error("{0}")]
    Tools(ToolError),
    /// The server offers no model for the turn.
    #[error("no model is offered for this{}", wanted.as_ref().map(|id| format!(": `{id}` is not among {known}")).unwrap_or_default())]
    NoModel {
        /// The requested model.
        wanted: Option<String>,
        /// The available models.
        known: String,
    },
    /// Another turn is running; only one runs at a time.
    #[error("a turn is running already")]
    Busy,
}

impl CopilotError {
    /// Converts an error of the connection.
    pub(super) fn from_request_error(error: RequestError) -> Self {
        match error {
            RequestError::Refused { code: COPILOT_NOT_AUTHENTICATED_CODE, message, .. } => {
                Self::NotSignedIn { message }
            }
            RequestError::Refused { method, code, message, .. } => Self::Refused { method, code, message },
            RequestError::Timeout { method, waited } => Self::Timeout { method, waited },
            RequestError::Malformed { method, what } => Self::Malformed { method, what },
            RequestError::Closed { reason } => Self::Ended { detail: reason },
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Missing { .. } => "run: lsp-tools install copilot".to_owned(),
            Self::NotSignedIn { .. } => "run: lsp-tools copilot sign-in".to_owned(),
            Self::TooManyTools { .. } => {
                "choose fewer by `--profile`, or by `available` and `excluded` in lsp-tools.toml".to_owned()
            }
            Self::Tools(error) => return error.hint.clone(),
            Self::NoModel { .. } => "`copilot status` lists the models; choose one by `--model`".to_owned(),
            _ => return None,
        })
    }
}

impl From<SessionUnavailable> for CopilotError {
    fn from(reason: SessionUnavailable) -> Self {
        match reason {
            SessionUnavailable::Missing { searched, .. } => Self::Missing { searched },
            SessionUnavailable::Failed { detail, .. } => Self::Start { detail },
            other => Self::Start { detail: other.to_string() },
        }
    }
}

impl From<CopilotError> for ToolError {
    fn from(error: CopilotError) -> Self {
        let code = match &error {
            CopilotError::Missing { .. } => ErrorCode::ServerMissing,
            CopilotError::Timeout { .. } => ErrorCode::Timeout,
            CopilotError::TooManyTools { .. } => ErrorCode::TooLarge,
            CopilotError::Tools(error) => error.code,
            CopilotError::NoModel { .. } => ErrorCode::InvalidArgs,
            CopilotError::Busy => ErrorCode::Conflict,
            CopilotError::Start { .. }
            | CopilotError::Ended { .. }
            | CopilotError::NotSignedIn { .. }
            | CopilotError::Refused { .. }
            | CopilotError::Malformed { .. } => ErrorCode::ServerFailed,
        };
        let failure = Self::new(code, error.to_string());
        match error.hint() {
            Some(hint) => failure.with_hint(hint),
            None => failure,
        }
    }
}
