//! The tests that reach a change, as answers give them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a test is connected with what changed: by the weakest link of its way. The stronger come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReachKind {
    /// The test itself is changed.
    Changed,
    /// Every link is a call.
    Calls,
    /// Every link is a use that a server knows, or a rule of the test runner (a fixture, a set-up).
    References,
    /// A link is only a name: a member of a value whose type no server knows, or a method that a library calls.
    Names,
    /// The file imports what changed, and no use is known.
    Imports,
}

/// A test that reaches a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ReachedTest {
    /// Relative to the workspace.
    pub path: String,
    /// The test with what it lies in (`TestCart.test_add`, or titles joined by a space); without it, the file is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// 0-based line of its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Whether its runner knows it by just this name.
    #[serde(skip)]
    pub is_exact: bool,
    /// The weakest link.
    pub how: ReachKind,
    /// What lies between, as `path:symbol`, from what the test uses to what changed; empty for a changed test.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub way: Vec<String>,
}

/// A command that runs tests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct TestRun {
    /// For a shell at the root of the workspace.
    pub command: String,
    /// Which file of the project says so.
    pub why: String,
    /// What it does not do of what was wanted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The tests that reach a change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct TestReachOutput {
    /// What changed, as `path:symbol`.
    pub changed: Vec<String>,
    /// The tests, those with the strongest links first.
    pub tests: Vec<ReachedTest>,
    /// How many tests there are, without files that only import what changed.
    pub count: usize,
    /// How many files only import what changed.
    pub importing_files: usize,
    /// Whether `tests` or `changed` leaves some out.
    pub has_more: bool,
    /// What runs the tests; of files that only import what changed where there are no others.
    pub runs: Vec<TestRun>,
    /// Files of tests that none of the commands runs, since no project says how.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without_run: Vec<String>,
}
