//! The output types of a comparison of two trees.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::Position;
use crate::tools::answer::DiagnosticsOutput;
use crate::tools::short_range::{self, ShortRange};

/// The name of the files on disk in answers.
pub(crate) const WORK_TREE: &str = "work tree";

/// `lsp_changes`, and `check --against`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ChangesOutput {
    /// What was compared: `1a2b3c4 → work tree`.
    pub compared: String,
    /// How many files differ.
    pub changed_files: usize,
    /// The findings that the difference brings, anywhere in the project.
    #[serde(flatten)]
    pub found: DiagnosticsOutput,
    /// Declarations that were removed, renamed or changed, with who uses them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interfaces: Vec<InterfaceChange>,
    /// Files that could not be judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unjudged: Vec<UnjudgedFile>,
    /// Of a merge: what its sides are, and whose the findings are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge: Option<MergeReport>,
}

/// A file of which nothing can be said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct UnjudgedFile {
    /// Relative to the workspace.
    pub path: String,
    /// Why.
    pub why: String,
}

/// What happened to a declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum InterfaceChangeKind {
    #[allow(missing_docs)] // a doc comment would turn the schema's short `enum` into a long `oneOf`
    Removed,
    #[allow(missing_docs)] // as above
    Renamed,
    #[allow(missing_docs)] // as above
    Changed,
}

impl InterfaceChangeKind {
    /// The keyword of the kind.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Removed => "removed",
            Self::Renamed => "renamed",
            Self::Changed => "changed",
        }
    }
}

/// A declaration that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct InterfaceChange {
    /// Relative to the workspace; where it stands now, or stood.
    pub path: String,
    /// Its name: now, or before where it is gone.
    #[serde(with = "short_range::position")]
    #[schemars(with = "ShortRange")]
    pub at: Position,
    /// With what it lies in (`Class.method`), as it was called.
    pub name: String,
    /// What it is, in LSP's words.
    pub kind: String,
    /// What happened to it.
    pub change: InterfaceChangeKind,
    /// Its name now, where it was renamed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
    /// Its head before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Its head now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// The places that use it now, `path:line:column`; at most a few.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub users: Vec<String>,
    /// How many there are in all; not there where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_count: Option<usize>,
}

/// The sides of a merge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct MergeReport {
    /// What was merged into what, in this order, as it was given.
    pub branches: Vec<String>,
    /// Files that git cannot merge, with the branch at which that showed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<MergeConflict>,
    /// How many of the findings each branch brings by itself.
    pub by_branch: Vec<BranchFindings>,
    /// How many only the combination brings.
    pub by_combination: usize,
    /// For each of those the branches that changed the file, or what it uses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub combined: Vec<CombinedFinding>,
}

/// A file that cannot be merged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct MergeConflict {
    /// Relative to the workspace.
    pub path: String,
    /// The branch that did not fit to those before it.
    pub branch: String,
}

/// What one branch brings by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct BranchFindings {
    /// As it was given.
    pub branch: String,
    /// How many findings; nothing where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub findings: Option<usize>,
}

/// A finding of no branch alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct CombinedFinding {
    /// Relative to the workspace.
    pub path: String,
    /// Where it begins.
    #[serde(with = "short_range::position")]
    #[schemars(with = "ShortRange")]
    pub at: Position,
    /// The branches that changed this file.
    pub changed_by: Vec<String>,
    /// The branches that changed a declaration which the finding's line names.
    pub used_from: Vec<String>,
}
