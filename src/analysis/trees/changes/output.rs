//! The output types of a comparison of two trees.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::analysis::answer::DiagnosticsOutput;
use crate::analysis::items::short_range;
use crate::analysis::items::short_range::ShortRange;
use crate::text::Position;

/// The name of the files on disk in answers.
pub(crate) const WORK_TREE: &str = "work tree";

/// The output of `lsp_changes` and `check --against`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ChangesOutput {
    /// The compared trees: `1a2b3c4 → work tree`.
    pub compared: String,
    /// The number of files that differ.
    pub changed_files: usize,
    /// The findings that the difference adds, anywhere in the project.
    #[serde(flatten)]
    pub found: DiagnosticsOutput,
    /// Declarations that were removed, renamed or changed, with their users.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interfaces: Vec<InterfaceChange>,
    /// Files that could not be judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unjudged: Vec<UnjudgedFile>,
    /// For a merge: its branches, and the findings of each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge: Option<MergeReport>,
}

/// A file that could not be judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct UnjudgedFile {
    /// Relative to the workspace.
    pub path: String,
    /// The reason.
    pub why: String,
}

/// The kind of change to a declaration.
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

/// A changed declaration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct InterfaceChange {
    /// The current or former path, relative to the workspace.
    pub path: String,
    /// The position of its name; the former position if it was removed.
    #[serde(with = "short_range::position")]
    #[schemars(with = "ShortRange")]
    pub at: Position,
    /// The qualified former name (`Class.method`).
    pub name: String,
    /// LSP's symbol kind.
    pub kind: String,
    /// The kind of change.
    pub change: InterfaceChangeKind,
    /// The new name of a renamed declaration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
    /// The signature before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The signature now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Current uses as `path:line:column`; at most a few.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub users: Vec<String>,
    /// The total number of uses; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_count: Option<usize>,
}

/// The branches of a merge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct MergeReport {
    /// The merged branches, in the given order.
    pub branches: Vec<String>,
    /// Files with merge conflicts, with the branch where the conflict appeared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<MergeConflict>,
    /// The number of findings that each branch adds by itself.
    pub by_branch: Vec<BranchFindings>,
    /// The number of findings that only the combination adds.
    pub by_combination: usize,
    /// For each of these, the branches that changed the file or a declaration that it uses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub combined: Vec<CombinedFinding>,
}

/// A file with a merge conflict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct MergeConflict {
    /// Relative to the workspace.
    pub path: String,
    /// The branch that conflicts with the earlier ones.
    pub branch: String,
}

/// The findings that one branch adds by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct BranchFindings {
    /// The branch, as given.
    pub branch: String,
    /// The number of findings; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub findings: Option<usize>,
}

/// A finding that no branch has alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct CombinedFinding {
    /// Relative to the workspace.
    pub path: String,
    /// The start position.
    #[serde(with = "short_range::position")]
    #[schemars(with = "ShortRange")]
    pub at: Position,
    /// The branches that changed this file.
    pub changed_by: Vec<String>,
    /// The branches that changed a declaration which the finding's line names.
    pub used_from: Vec<String>,
}
