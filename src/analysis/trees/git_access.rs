//! The git repository of a folder of the workspace, opened for a tool.

use crate::platform::canonicalize;

use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::analysis::state_files::run_blocking;
use crate::process::RunError;
use crate::process::git::GitError;
use crate::process::git::repository::Repository;
use crate::process::git::shadow::{GitDeadline, GitRunner, ShadowRepository};
use crate::workspace::WorkspacePath;

/// A repository, and the shadow repository that git commands run on.
#[derive(Debug)]
pub(crate) struct OpenRepository {
    /// The repository.
    pub repository: Repository,
    /// A repository with this program's configuration and the original's data.
    pub shadow: ShadowRepository,
}

impl OpenRepository {
    /// The repository that contains `folder`. Git commands are ended at `deadline`.
    ///
    /// # Errors
    /// If there is no repository, or it may not be accessed.
    pub(crate) async fn open(
        context: &Context,
        folder: WorkspacePath,
        deadline: impl Into<GitDeadline>,
    ) -> Result<Self, ToolError> {
        let repository = find_repository(context, folder).await?;
        let shadow = async {
            let git = GitRunner::find(&context.workspace, context.manager.spawner(), deadline.into())?;
            ShadowRepository::create(&repository, git, &context.folders.cache).await
        };
        let shadow = shadow.await.map_err(from_git_error)?;
        Ok(Self { repository, shadow })
    }
}

/// The repository of `given`, which must be a folder of the workspace even after links are
/// followed.
async fn find_repository(context: &Context, given: WorkspacePath) -> Result<Repository, ToolError> {
    let (root, start) = (context.workspace.root().to_owned(), context.workspace.absolute(&given));
    run_blocking(move || {
        let shown = given.display();
        let real = canonicalize(&start)
            .ok()
            .filter(|real| real.is_dir())
            .ok_or_else(|| ToolError::new(ErrorCode::NotFound, format!("there is no folder `{shown}`")))?;
        if !real.starts_with(&root) {
            let what = format!("`{shown}` leads out of the workspace through a symbolic link");
            return Err(ToolError::new(ErrorCode::OutsideWorkspace, what));
        }
        Repository::find(&real, &root, &shown).map_err(from_git_error)
    })
    .await
}

/// The tool error for a failure of git.
pub(crate) fn from_git_error(error: GitError) -> ToolError {
    let (code, hint) = match &error {
        GitError::NoRepository { .. } => (ErrorCode::NotFound, None),
        GitError::UnknownRevision { shallow: true, .. } | GitError::NoMergeBase { shallow: true, .. } => {
            (ErrorCode::NotFound, Some("fetch it: git fetch --unshallow, or git fetch origin REF"))
        }
        GitError::UnknownRevision { .. } => {
            (ErrorCode::NotFound, Some("name a branch, a tag or a commit; git fetch gets those of a remote"))
        }
        GitError::NoMergeBase { .. } => (ErrorCode::NotFound, Some("compare with `REF` instead of `REF...`")),
        GitError::InvalidRevision { .. } => (ErrorCode::InvalidArgs, None),
        GitError::Refused { .. } => (ErrorCode::Denied, None),
        GitError::Unsupported { .. } | GitError::NoGit => (ErrorCode::Unsupported, None),
        GitError::Run(RunError::TooLong { .. }) => {
            (ErrorCode::Timeout, Some("request one state only, or allow more time"))
        }
        GitError::Io { .. } | GitError::Run(_) | GitError::Failed { .. } => (ErrorCode::Internal, None),
    };
    // Paths of programs and folders of the machine are in the log, not in the answer.
    tracing::info!("git failed: {error:?}");
    let what = match &error {
        GitError::Run(RunError::TooLong { .. }) => {
            "git was ended because its time limit was reached".to_owned()
        }
        GitError::Run(RunError::Start(_)) => "git cannot be started; the reason is in the log".to_owned(),
        GitError::Failed { exit, .. } => format!("git failed with {exit}; its output is in the log"),
        other => other.to_string(),
    };
    let failed = ToolError::new(code, what);
    match hint {
        Some(hint) => failed.with_hint(hint),
        None => failed,
    }
}
