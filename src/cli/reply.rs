//! The reply of a command: stdout, lines for stderr, and the exit status.

use super::exit::CliExitStatus;

/// What a command came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reply {
    /// For stdout, as it is.
    pub(crate) out: String,
    /// For stderr.
    pub(crate) lines: Vec<String>,
    /// The exit status.
    pub(crate) status: CliExitStatus,
}
