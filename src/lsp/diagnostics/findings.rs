//! The findings of one server in one file, and their completeness.

use std::sync::Arc;

use serde_json::Value;

use crate::lsp::documents::open_documents::Snapshot;
use crate::lsp::model::Diagnostic;
use crate::text::Buffer;

/// One server's findings in one file.
#[derive(Debug, Clone)]
pub(crate) struct ServerFileDiagnostics {
    /// The findings, in the server's order.
    pub(crate) items: Vec<Diagnostic>,
    /// The completeness of the findings.
    pub(crate) known: DiagnosticsCompleteness,
    /// The text they are about.
    pub(crate) text: Buffer,
    /// Further notes on them.
    pub(crate) notes: Vec<String>,
    /// The findings that come from the server's background check.
    pub(crate) background: BackgroundFindings,
}

/// The background check's part in the findings of a file: the findings, or their number, counted
/// from the last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum BackgroundFindings<T = Vec<Diagnostic>> {
    /// The server runs no background check.
    #[default]
    None,
    /// The check has not ended. Its findings so far are here; others are missing.
    Missing(T),
    /// All findings of the check.
    Whole(T),
}

impl<T> BackgroundFindings<T> {
    pub(super) fn map<U>(self, change: impl FnOnce(T) -> U) -> BackgroundFindings<U> {
        match self {
            Self::None => BackgroundFindings::None,
            Self::Missing(part) => BackgroundFindings::Missing(change(part)),
            Self::Whole(part) => BackgroundFindings::Whole(change(part)),
        }
    }
}

/// The completeness of findings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DiagnosticsCompleteness {
    /// The findings for this text are complete.
    Complete,
    /// More may come; with the reason.
    Partial(String),
    /// No findings came in time; with the reason. Not to be read as clean.
    NoData(String),
    /// The server checks nothing in this file, by the project's settings; with the reason.
    Skipped(String),
}

impl DiagnosticsCompleteness {
    /// Returns true if findings may be missing.
    pub(crate) fn lacks_findings(&self) -> bool {
        matches!(self, Self::Partial(_) | Self::NoData(_))
    }

    /// Returns true if the server does not check the file.
    pub(crate) fn is_skip(&self) -> bool {
        matches!(self, Self::Skipped(_))
    }

    /// The reason that findings may be missing.
    pub(crate) fn reason(&self) -> Option<&String> {
        match self {
            Self::Complete => None,
            Self::Partial(why) | Self::NoData(why) | Self::Skipped(why) => Some(why),
        }
    }
}

/// Findings in the server's form, with their completeness.
pub(crate) struct RawDiagnostics {
    pub(crate) items: Arc<Vec<Value>>,
    pub(crate) snapshot: Snapshot,
    pub(crate) known: DiagnosticsCompleteness,
    pub(super) notes: Vec<String>,
    pub(super) background: BackgroundFindings<usize>,
}

impl RawDiagnostics {
    /// Creates an empty list of findings with its completeness.
    pub(super) fn without_findings(snapshot: Snapshot, known: DiagnosticsCompleteness) -> Self {
        let background = BackgroundFindings::None;
        Self { items: Arc::default(), snapshot, known, notes: Vec::new(), background }
    }
}

/// Findings in the form in which the server sends them.
pub(crate) enum CollectedDiagnostics {
    Raw(RawDiagnostics),
    Decoded(ServerFileDiagnostics),
}
