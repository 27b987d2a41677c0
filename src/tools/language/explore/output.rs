//! The answer of `explore`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::analysis::answer::Verdict;
use crate::analysis::items::short_range;
use crate::analysis::items::short_range::ShortRange;
use crate::lsp::model::Severity;
use crate::text::{Position, Range};

/// The output of `explore`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExploreOutput {
    /// The qualified symbol (`Class.method`).
    pub symbol: String,
    /// LSP's symbol kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The file that defines it: relative to the workspace, absolute outside.
    pub path: String,
    /// The position of its name.
    #[serde(rename = "at", with = "short_range::position")]
    #[schemars(with = "ShortRange")]
    pub name_start: Position,
    /// The range of the whole definition.
    #[serde(with = "short_range")]
    #[schemars(with = "ShortRange")]
    pub range: Range,
    /// Signature and documentation, Markdown.
    pub about: String,
    /// The source; the middle of a long one is omitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Diagnostics within the symbol.
    #[serde(skip_serializing_if = "ExploreList::is_empty")]
    #[serde(default)]
    pub errors: ExploreList<ExploreFinding>,
    /// Callers and other users, most frequent first.
    pub callers: ExploreList<ExploreItem>,
    /// Implementations and overrides.
    #[serde(skip_serializing_if = "ExploreList::is_empty")]
    #[serde(default)]
    pub implementations: ExploreList<ExploreItem>,
    /// Tests that use it.
    pub tests: ExploreList<ExploreItem>,
    /// Callees.
    #[serde(skip_serializing_if = "ExploreList::is_empty")]
    #[serde(default)]
    pub callees: ExploreList<ExploreItem>,
}

/// A part of the answer, shortened to the budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExploreList<T> {
    /// The total number.
    pub count: usize,
    /// The first items.
    pub items: Vec<T>,
    /// The number of items shown, and the way to see the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more: Option<String>,
    /// The reliability of this part, if not complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
}

impl<T> ExploreList<T> {
    fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl<T> Default for ExploreList<T> {
    fn default() -> Self {
        Self { count: 0, items: Vec::new(), more: None, verdict: None }
    }
}

/// A function, a type, or the top level of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExploreItem {
    /// Relative to the workspace.
    pub path: String,
    /// The qualified symbol; absent for the top level of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// LSP's symbol kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The first relevant positions in it.
    #[serde(with = "short_range::positions")]
    #[schemars(with = "Vec<ShortRange>")]
    pub at: Vec<Position>,
    /// The total number of positions, if `at` omits some.
    #[serde(skip_serializing_if = "is_one", default = "one")]
    pub places: usize,
    /// The source at the first position.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// A diagnostic within the symbol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExploreFinding {
    /// The start position.
    #[serde(with = "short_range::position")]
    #[schemars(with = "ShortRange")]
    pub at: Position,
    /// The severity.
    pub severity: Severity,
    /// The rule's code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The message.
    pub message: String,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_one(places: &usize) -> bool {
    *places == 1
}

fn one() -> usize {
    1
}
