//! One finding of a delta.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::analysis::items::short_range;
use crate::analysis::items::short_range::ShortRange;
use crate::lsp::model::Severity;
use crate::text::Range;

/// A finding that an edit added or removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct DeltaItem {
    /// Relative to the workspace.
    pub path: String,
    /// The range: after the edit for an added finding, before it for a removed one.
    #[serde(rename = "at", with = "short_range")]
    #[schemars(with = "ShortRange")]
    pub range: Range,
    /// The severity.
    pub severity: Severity,
    /// The rule's code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The server's key; "syntax" if no server was asked.
    pub server: String,
    /// The message.
    pub message: String,
    /// Help: the signature of the called function, related locations, quick fixes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub help: Vec<String>,
}
