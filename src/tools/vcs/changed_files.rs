//! `changed_files`: the staged, changed and untracked files of the workspace, as git sees them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::analysis::context::Context;
use crate::analysis::error::ToolError;
use crate::analysis::trees::git_access::{OpenRepository, from_git_error};
use crate::policy::request::CallSubjects;
use crate::process::git::repository::Repository;
use crate::process::git::status;
use crate::process::git::status::{GitChange, GitChangeKind};
use crate::tools::api::tool::{Call, Card, Tool};
use crate::workspace::WorkspacePath;

/// The default timeout of git.
const DEFAULT_GIT_CHANGES_TIMEOUT: Duration = Duration::from_secs(15);

/// The arguments of `changed_files`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChangedFilesArgs {
    /// A folder in the repository (the workspace).
    pub repository_path: Option<PathBuf>,
    /// Default `all`.
    pub source_control_state: Option<SourceControlState>,
}

/// The selection of lists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum SourceControlState {
    #[default]
    #[allow(missing_docs)] // a doc comment would turn the schema's short `enum` into a long `oneOf`
    All,
    #[allow(missing_docs)] // as above
    Staged,
    #[allow(missing_docs)] // as above
    Unstaged,
    #[allow(missing_docs)] // as above
    Untracked,
}

/// A tracked file that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ChangedFile {
    /// Relative to the workspace.
    pub path: String,
    /// The kind of change.
    pub change: GitChangeKind,
    /// The former path of a renamed or copied file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

/// The changed files; lists that were not requested are absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ChangedFilesOutput {
    /// The top of the repository's work tree, relative to the workspace (`.`, `sub`, `..`).
    pub repository: String,
    /// Between the last commit and the index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub staged: Option<Vec<ChangedFile>>,
    /// Between the index and the files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unstaged: Option<Vec<ChangedFile>>,
    /// Neither tracked nor ignored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub untracked: Option<Vec<String>>,
    /// The number of entries in all these lists, omitted ones included.
    pub count: usize,
    /// True if entries are omitted.
    pub has_more: bool,
}

/// The `changed_files` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChangedFiles;

impl Tool for ChangedFiles {
    type Args = ChangedFilesArgs;
    type Output = ChangedFilesOutput;

    fn card(&self) -> Card {
        Card::reading(
            "changed_files",
            "Changed files",
            "Staged, unstaged and untracked files according to git. Ignored files and insides of submodules are left out.",
        ).beyond_core()
    }

    fn subjects(&self, context: &Context, args: &ChangedFilesArgs) -> Result<CallSubjects, ToolError> {
        Ok(CallSubjects { paths: vec![folder(context, args)?], ..CallSubjects::default() })
    }

    async fn run(&self, call: Call<'_>, args: ChangedFilesArgs) -> Result<ChangedFilesOutput, ToolError> {
        let context = call.context;
        let wanted = args.source_control_state.unwrap_or_default();
        let given = folder(context, &args)?;
        let deadline = context.deadline(DEFAULT_GIT_CHANGES_TIMEOUT);
        let opened = OpenRepository::open(context, given, deadline).await?;
        let OpenRepository { repository, shadow } = &opened;
        let root = context.workspace.root();
        let below = root.strip_prefix(&repository.top).unwrap_or(Path::new("")).to_owned();
        let untracked = matches!(wanted, SourceControlState::All | SourceControlState::Untracked);
        let found = status::status(shadow, repository, &below, untracked).await.map_err(from_git_error)?;
        Ok(output(context, repository, found, wanted))
    }
}

fn folder(context: &Context, args: &ChangedFilesArgs) -> Result<WorkspacePath, ToolError> {
    match &args.repository_path {
        Some(given) => context.path(given),
        None => Ok(WorkspacePath::root()),
    }
}

fn output(
    context: &Context,
    repository: &Repository,
    found: status::GitStatus,
    wanted: SourceControlState,
) -> ChangedFilesOutput {
    let limit = context.config.settings.limits.answer_items;
    let shown = |path: &Path| display_path(context, repository, path);
    let file = |change: GitChange| ChangedFile {
        path: shown(&change.path),
        change: change.change,
        from: change.from.as_deref().map(shown),
    };
    let wants = |state| wanted == SourceControlState::All || wanted == state;
    let staged = wants(SourceControlState::Staged).then_some(found.staged);
    let unstaged = wants(SourceControlState::Unstaged).then_some(found.unstaged);
    let untracked = wants(SourceControlState::Untracked).then_some(found.untracked);
    let sizes =
        [staged.as_ref().map(Vec::len), unstaged.as_ref().map(Vec::len), untracked.as_ref().map(Vec::len)];
    let count = sizes.iter().flatten().sum();
    ChangedFilesOutput {
        repository: top_path(context, repository),
        staged: staged.map(|files| files.into_iter().take(limit).map(file).collect()),
        unstaged: unstaged.map(|files| files.into_iter().take(limit).map(file).collect()),
        untracked: untracked.map(|paths| paths.iter().take(limit).map(|path| shown(path)).collect()),
        count,
        has_more: found.cut || sizes.iter().flatten().any(|size| *size > limit),
    }
}

/// A path below the top of the work tree, in the form of answers.
fn display_path(context: &Context, repository: &Repository, path: &Path) -> String {
    let inside = context.workspace.path(&repository.top.join(path));
    inside.map_or_else(|_| path.display().to_string().escape_debug().to_string(), |path| path.display())
}

fn top_path(context: &Context, repository: &Repository) -> String {
    match context.workspace.path(&repository.top) {
        Ok(path) => path.display(),
        Err(_) => {
            let depth = context.workspace.root().strip_prefix(&repository.top);
            vec![".."; depth.map_or(0, |below| below.components().count())].join("/")
        }
    }
}
