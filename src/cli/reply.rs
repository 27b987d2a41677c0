//! The reply of a command: stdout, lines for stderr, and the exit status.

use super::exit::CliExitStatus;

/// The reply of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reply {
    /// The text for stdout, unchanged.
    pub(crate) out: String,
    /// The lines for stderr.
    pub(crate) lines: Vec<String>,
    /// The exit status.
    pub(crate) status: CliExitStatus,
}
