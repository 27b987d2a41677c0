//! Errors of the Copilot command line and of the connection to it.

use std::time::Duration;

use crate::analysis::error::{ErrorCode, ToolError};
use crate::lsp::servers::install::InstallError;
use crate::process::SpawnError;

/// Reasons for a session's failure.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HostError {
    /// The command line was not found.
    #[error("the Copilot command line is {searched}")]
    Missing {
        /// The searched places.
        searched: String,
    },
    /// The installation failed.
    #[error(transparent)]
    Install(#[from] InstallError),
    /// The start failed.
    #[error(transparent)]
    Start(#[from] SpawnError),
    /// The command line uses another protocol version.
    #[error("the Copilot command line {version} speaks protocol {}, and 3 is needed", protocol.map_or_else(|| "unknown".to_owned(), |protocol| protocol.to_string()))]
    Protocol {
        /// The command line's version.
        version: String,
        /// The reported protocol version.
        protocol: Option<u64>,
    },
    /// The command line sent an invalid message.
    #[error("the Copilot command line wrote an invalid message: {0}")]
    Garbage(String),
    /// The command line exited.
    #[error("the Copilot command line ended in the middle of a session{}", last_words_text(last))]
    Ended {
        /// The last lines of its standard error.
        last: Vec<String>,
    },
    /// The command line refused a request.
    #[error("the Copilot command line refused {method} ({code}): {message}")]
    Refused {
        /// The request's method.
        method: &'static str,
        /// The error code.
        code: i64,
        /// The error message.
        message: String,
    },
    /// The response lacks a required value.
    #[error("the response of the Copilot command line to {method} lacks required fields")]
    Answer {
        /// The request's method.
        method: &'static str,
    },
    /// The command line did not respond in time.
    #[error("the Copilot command line did not answer {method} within {} s", within.as_secs())]
    Silent {
        /// The request's method.
        method: &'static str,
        /// The time limit.
        within: Duration,
    },
    /// The session reported a failure.
    #[error("the session failed ({kind}): {message}")]
    Session {
        /// The kind of failure, by the command line's name.
        kind: String,
        /// The error message.
        message: String,
    },
    /// The time limit for the whole session has passed.
    #[error("the session was ended because it took longer than {} s", limit.as_secs())]
    TooLong {
        /// The time limit.
        limit: Duration,
    },
    /// The session was stopped before its start.
    #[error("the session was stopped before it began")]
    Stopped,
    /// The environment names an invalid provider.
    #[error("{0}")]
    Provider(String),
    /// A requested option cannot be satisfied.
    #[error("{0}")]
    Wish(String),
    /// The tools cannot be offered.
    #[error(transparent)]
    Tools(#[from] ToolError),
}

fn last_words_text(last: &[String]) -> String {
    if last.is_empty() { String::new() } else { format!("; its last words: {}", last.join(" | ")) }
}

impl HostError {
    /// Adds the last lines of the standard error if they explain the failure.
    pub(super) fn with_stderr_tail(self, tail: Vec<String>) -> Self {
        match self {
            Self::Ended { .. } => Self::Ended { last: tail },
            other => other,
        }
    }
}

impl From<HostError> for ToolError {
    fn from(error: HostError) -> Self {
        let (code, hint) = match &error {
            HostError::Tools(error) => return error.clone(),
            HostError::Missing { .. } => (
                ErrorCode::ServerMissing,
                Some("run: npm install -g @github/copilot, or add --install for the private prefix"),
            ),
            HostError::Protocol { .. } => (ErrorCode::Unsupported, Some("run: copilot update")),
            HostError::Session { message, .. } if message.contains("No GitHub OAuth token") => (
                ErrorCode::ServerFailed,
                Some(
                    "sign in with `copilot login`, or set COPILOT_PROVIDER_BASE_URL and COPILOT_MODEL to a provider of your own",
                ),
            ),
            HostError::Silent { .. } | HostError::TooLong { .. } => (ErrorCode::Timeout, None),
            HostError::Stopped => (ErrorCode::Cancelled, None),
            HostError::Provider(_) => (ErrorCode::Unsupported, None),
            HostError::Wish(_) => (ErrorCode::InvalidArgs, None),
            HostError::Install(_)
            | HostError::Start(_)
            | HostError::Garbage(_)
            | HostError::Ended { .. }
            | HostError::Refused { .. }
            | HostError::Answer { .. }
            | HostError::Session { .. } => (ErrorCode::ServerFailed, None),
        };
        let failure = Self::new(code, error.to_string());
        hint.map_or(failure.clone(), |hint| failure.with_hint(hint))
    }
}
