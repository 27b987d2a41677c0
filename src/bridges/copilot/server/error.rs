//! Errors between us and the Copilot language server.

use std::time::Duration;

use crate::lsp::manager::SessionUnavailable;
use crate::rpc::RequestError;
use crate::tools::error::{ErrorCode, ToolError};

/// The server's own code for "not signed in".
const COPILOT_NOT_AUTHENTICATED_CODE: i64 = 1000;

/// Why something did not work.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CopilotError {
    /// The program is nowhere.
    #[error("the Copilot language server is not there: {searched}")]
    Missing {
        /// Where it was looked for.
        searched: String,
    },
    /// It cannot be started, or did not get through its handshake.
    #[error("the Copilot language server cannot be started: {detail}")]
    Start {
        /// Why, with its last words.
        detail: String,
    },
    /// It ended while something was waited for.
    #[error("the Copilot language server ended: {detail}")]
    Ended {
        /// Its exit status and last words.
        detail: String,
    },
    /// Chatting needs a user whom the server knows (code 1000).
    #[error("you are not signed in to GitHub Copilot ({message})")]
    NotSignedIn {
        /// The server's words.
        message: String,
    },
    /// The server answered with an error.
    #[error("{method} failed: {message} (code {code})")]
    Refused {
        /// The request.
        method: String,
        /// JSON-RPC's code, or the server's own.
        code: i64,
        /// The server's words.
        message: String,
    },
    /// The server's answer is none that we understand.
    #[error("the answer to {method} cannot be understood: {what}")]
    Malformed {
        /// The request.
        method: String,
        /// What is wrong with it.
        what: String,
    },
    /// The server did not answer.
    #[error("no answer to {method} within {} s", waited.as_secs())]
    Timeout {
        /// The request.
        method: String,
        /// How long it was waited for.
        waited: Duration,
    },
    /// More tools than a model is given.
    #[error("{ours} tools of ours and {others} others are more than the {most} that a model is given")]
    TooManyTools {
        /// Ours.
        ours: usize,
        /// The server's own and other clients'.
        others: usize,
        /// The most.
        most: usize,
    },
    /// The tools cannot be put into a list at all.
    #[error("{0}")]
    Tools(ToolError),
    /// The server offers no model for the turn.
    #[error("no model is offered for this{}", wanted.as_ref().map(|id| format!(": `{id}` is not among {known}")).unwrap_or_default())]
    NoModel {
        /// The one that was asked for.
        wanted: Option<String>,
        /// Those that there are.
        known: String,
    },
    /// A turn runs already: there is one at a time.
    #[error("a turn runs already")]
    Busy,
}

impl CopilotError {
    /// An error of the connection, in the words of this bridge.
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
    fn from(why: SessionUnavailable) -> Self {
        match why {
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
        let told = Self::new(code, error.to_string());
        match error.hint() {
            Some(hint) => told.with_hint(hint),
            None => told,
        }
    }
}
