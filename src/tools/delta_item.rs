//! One finding of a delta.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::short_range::{self, ShortRange};
use crate::lsp::model::Severity;
use crate::text::Range;

/// A finding that an edit brought or took away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct DeltaItem {
    /// Relative to the workspace.
    pub path: String,
    /// Where: after the edit for one that it brought, before it for one that it took away.
    #[serde(rename = "at", with = "short_range")]
    #[schemars(with = "ShortRange")]
    pub range: Range,
    /// How bad.
    pub severity: Severity,
    /// The rule's code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The server's key; "syntax" where no server was asked.
    pub server: String,
    /// What is wrong.
    pub message: String,
    /// What mends it: the signature that is called, places that explain it, quick fixes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub help: Vec<String>,
}
