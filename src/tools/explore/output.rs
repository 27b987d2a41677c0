//! The answer of `explore`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::lsp::model::Severity;
use crate::text::{Position, Range};
use crate::tools::answer::Verdict;
use crate::tools::short_range::{self, ShortRange};

/// `explore`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExploreOutput {
    /// The symbol, with what it lies in (`Class.method`).
    pub symbol: String,
    /// What it is, in LSP's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The file that defines it: relative to the workspace, absolute outside.
    pub path: String,
    /// Its name.
    #[serde(rename = "at", with = "short_range::position")]
    #[schemars(with = "ShortRange")]
    pub name_start: Position,
    /// The whole definition.
    #[serde(with = "short_range")]
    #[schemars(with = "ShortRange")]
    pub range: Range,
    /// Signature and documentation, Markdown.
    pub about: String,
    /// Its source; of a long one the middle is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Errors in it.
    #[serde(skip_serializing_if = "ExploreList::is_empty")]
    #[serde(default)]
    pub errors: ExploreList<ExploreFinding>,
    /// What calls or names it, the most frequent first.
    pub callers: ExploreList<ExploreItem>,
    /// What implements or overrides it.
    #[serde(skip_serializing_if = "ExploreList::is_empty")]
    #[serde(default)]
    pub implementations: ExploreList<ExploreItem>,
    /// Tests that name it.
    pub tests: ExploreList<ExploreItem>,
    /// What it calls.
    #[serde(skip_serializing_if = "ExploreList::is_empty")]
    #[serde(default)]
    pub callees: ExploreList<ExploreItem>,
}

/// One part, as far as there was room.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExploreList<T> {
    /// How many there are in all.
    pub count: usize,
    /// The first of them.
    pub items: Vec<T>,
    /// How many are shown, and what shows the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more: Option<String>,
    /// How far to rely on this part, where it is not complete.
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
    /// With what it lies in; absent for the top level of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// What it is, in LSP's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The first places in it that matter.
    #[serde(with = "short_range::positions")]
    #[schemars(with = "Vec<ShortRange>")]
    pub at: Vec<Position>,
    /// How many places there are, where `at` leaves some out.
    #[serde(skip_serializing_if = "is_one", default = "one")]
    pub places: usize,
    /// The source at the first of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// A diagnostic within the symbol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExploreFinding {
    /// Where it begins.
    #[serde(with = "short_range::position")]
    #[schemars(with = "ShortRange")]
    pub at: Position,
    /// How bad.
    pub severity: Severity,
    /// The rule's code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// What is wrong.
    pub message: String,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_one(places: &usize) -> bool {
    *places == 1
}

fn one() -> usize {
    1
}
