//! What a command came to.

use super::exit::Status;

/// What a command came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// For stdout, as it is.
    pub out: String,
    /// For stderr.
    pub lines: Vec<String>,
    /// The exit status.
    pub status: Status,
}
