//! Errors between us and the Copilot command line.

use std::time::Duration;

use crate::lsp::install::InstallError;
use crate::process::SpawnError;
use crate::tools::error::{ErrorCode, ToolError};

/// A session that did not come to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HostError {
    /// There is no command line.
    #[error("the Copilot command line is {searched}")]
    Missing {
        /// Where it was looked for.
        searched: String,
    },
    /// It could not be installed.
    #[error(transparent)]
    Install(#[from] InstallError),
    /// It could not be started.
    #[error(transparent)]
    Start(#[from] SpawnError),
    /// It speaks another protocol.
    #[error("the Copilot command line {version} speaks protocol {}, and 3 is needed", protocol.map_or_else(|| "unknown".to_owned(), |protocol| protocol.to_string()))]
    Protocol {
        /// Its version.
        version: String,
        /// What it says.
        protocol: Option<u64>,
    },
    /// It wrote what is no message.
    #[error("the Copilot command line wrote what is no message: {0}")]
    Garbage(String),
    /// It ended.
    #[error("the Copilot command line ended in the middle of a session{}", last_words_text(last))]
    Ended {
        /// The last lines of its standard error.
        last: Vec<String>,
    },
    /// It refused a request.
    #[error("the Copilot command line refused {method} ({code}): {message}")]
    Refused {
        /// What was asked.
        method: &'static str,
        /// Its code.
        code: i64,
        /// Its words.
        message: String,
    },
    /// Its answer lacks what it must hold.
    #[error("the answer of the Copilot command line to {method} lacks what it must hold")]
    Answer {
        /// What was asked.
        method: &'static str,
    },
    /// It did not answer.
    #[error("the Copilot command line did not answer {method} within {} s", within.as_secs())]
    Silent {
        /// What was asked.
        method: &'static str,
        /// How long it had.
        within: Duration,
    },
    /// The session says that it failed.
    #[error("the session failed ({kind}): {message}")]
    Session {
        /// What kind, in the command line's word.
        kind: String,
        /// Its words.
        message: String,
    },
    /// The time for the whole is up.
    #[error("the session was ended because it took longer than {} s", limit.as_secs())]
    TooLong {
        /// What it had.
        limit: Duration,
    },
    /// It was stopped before it had begun.
    #[error("the session was stopped before it began")]
    Stopped,
    /// The environment names a provider that cannot be used.
    #[error("{0}")]
    Provider(String),
    /// A wish that cannot be fulfilled.
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
    /// The same with what the command line said last, where that explains it.
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
                Some(
                    "run: npm install -g @github/copilot, or add --install to have it in the private prefix",
                ),
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
        let told = Self::new(code, error.to_string());
        hint.map_or(told.clone(), |hint| told.with_hint(hint))
    }
}
