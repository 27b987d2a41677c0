//! The shape of hints: candidates for a definition, best first.

use crate::lsp::model::{Location, SymbolKind};
use crate::text::Range;
use crate::workspace::{ReadError, SearchError};

/// A likely definition.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The position of its name.
    pub location: Location,
    /// The kind of the symbol; absent if only the text is known.
    pub(crate) kind: Option<SymbolKind>,
    /// The type or module that contains it as a member.
    pub(crate) container: Option<String>,
    /// The reason for its rank, in a few words.
    pub why: String,
    /// The likelihood, comparable within one answer only; higher is likelier.
    pub(crate) score: i32,
    /// Its first lines up to its body.
    pub(crate) signature: Option<String>,
    /// Its documentation as written, without comment markers.
    pub(crate) documentation: Option<String>,
}

/// The definitions that the text suggests for a name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Hints {
    /// The queried name; absent if the line has none.
    pub(crate) identifier: Option<(String, Option<Range>)>,
    /// Best first.
    pub candidates: Vec<Candidate>,
    /// True if there are more.
    pub(crate) truncated: bool,
    /// True if the deadline passed before everything was searched.
    pub(crate) timed_out: bool,
}

/// The reasons why there are no hints.
#[derive(Debug, thiserror::Error)]
pub enum HintError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The workspace cannot be searched.
    #[error(transparent)]
    Search(#[from] SearchError),
}
