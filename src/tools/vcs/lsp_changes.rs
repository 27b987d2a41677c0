//! `lsp_changes`: new errors that a difference between git trees causes anywhere, and conflicts of
//! a merge of branches.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::analysis::answer::Answer;
use crate::analysis::check::checked_files::CheckRequest;
use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::analysis::trees::changes::judge::{JudgeOptions, compare_with};
use crate::analysis::trees::changes::merge_check::check_merge;
use crate::analysis::trees::changes::output::ChangesOutput;
use crate::lsp::model::Severity;
use crate::policy::request::CallSubjects;
use crate::tools::api::tool::{Call, Card, Tool};
use crate::workspace::WorkspacePath;

/// The arguments of `lsp_changes`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ChangesArgs {
    /// Commit (HEAD), `A..B`, or `A...`: where the branch left A.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// Compare with the index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<bool>,
    /// Simulate merging these; `against` is their base.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge_branches: Option<Vec<String>>,
    /// Default: warning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_severity: Option<Severity>,
    /// Default: 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub limit: Option<usize>,
    /// Options for callers in this process only.
    #[serde(skip)]
    pub in_process: ChangesInProcess,
}

/// Options of a comparison for callers in this process, beside the tool's arguments.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChangesInProcess {
    /// True if the caller does not need the changed declarations.
    pub without_interfaces: bool,
    /// True if servers may run code of the compared trees wherever they may run the project's.
    pub trusts_trees: bool,
    /// True if the answer store is not used.
    pub asks_anew: bool,
    /// The path of an index file to use instead of the repository's index.
    pub index_file: Option<PathBuf>,
}

/// The `lsp_changes` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LspChanges;

impl Tool for LspChanges {
    type Args = ChangesArgs;
    type Output = Answer<ChangesOutput>;

    fn card(&self) -> Card {
        Card::reading(
            "lsp_changes",
            "What a change breaks",
            "New errors anywhere, and changed declarations with their users, from the difference between a git commit and the work tree or a merge of branches. For a whole change before commit or merge; single edits report by themselves.",
        )
        .long().beyond_core().in_lsp_profile()
    }

    fn subjects(&self, _context: &Context, _args: &ChangesArgs) -> Result<CallSubjects, ToolError> {
        Ok(CallSubjects { paths: vec![WorkspacePath::root()], ..CallSubjects::default() })
    }

    async fn run(&self, call: Call<'_>, args: ChangesArgs) -> Result<Answer<ChangesOutput>, ToolError> {
        let options = JudgeOptions {
            findings: CheckRequest {
                min_severity: Some(args.min_severity.unwrap_or(Severity::Warning)),
                limit: args.limit,
                asks_anew: args.in_process.asks_anew,
                ..CheckRequest::default()
            },
            interfaces: !args.in_process.without_interfaces,
            trusts_trees: args.in_process.trusts_trees,
            index_file: args.in_process.index_file,
        };
        let branches = args.merge_branches.unwrap_or_default();
        if branches.is_empty() {
            let given = args.against.as_deref().unwrap_or("HEAD");
            let index = args.index.unwrap_or_default();
            return Box::pin(compare_with(call.context, given, index, &options)).await;
        }
        if args.index == Some(true) {
            let what = "a merge compares branches, not the index";
            return Err(ToolError::new(ErrorCode::InvalidArgs, what));
        }
        Box::pin(check_merge(call.context, &branches, args.against.as_deref(), &options)).await
    }
}
