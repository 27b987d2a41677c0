//! The merge of commits, made by git's own merge without touching the repository.

use std::ffi::OsString;
use std::path::PathBuf;

use super::GitError;
use super::difference::nul_paths;
use super::repository::Repository;
use super::revision::first_line;
use super::shadow::ShadowRepository;
use crate::process::Exit;

/// The author of the intermediate commits, which are never shown.
const IDENTITY: &[(&str, &str)] = &[
    ("GIT_AUTHOR_NAME", "lsp-tools"),
    ("GIT_AUTHOR_EMAIL", "lsp-tools@localhost"),
    ("GIT_AUTHOR_DATE", "2000-01-01T00:00:00Z"),
    ("GIT_COMMITTER_NAME", "lsp-tools"),
    ("GIT_COMMITTER_EMAIL", "lsp-tools@localhost"),
    ("GIT_COMMITTER_DATE", "2000-01-01T00:00:00Z"),
];

/// The outcome of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MergeOutcome {
    /// The id of a commit that holds both sides.
    Clean(String),
    /// Paths that cannot be merged, relative to the top of the work tree.
    Conflict(Vec<PathBuf>),
}

/// Merges two commits, given by their ids. `shadow` must keep objects apart.
///
/// # Errors
/// If git fails, or is too old to merge without a work tree (before 2.38).
pub(crate) async fn merge(
    shadow: &ShadowRepository,
    repository: &Repository,
    one: &str,
    other: &str,
) -> Result<MergeOutcome, GitError> {
    let args = ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", one, other];
    let done = shadow.run_to_end(repository, &args.map(OsString::from)).await?;
    match done.exit {
        Exit::Code(0) => {
            let tree = String::from_utf8_lossy(&done.output);
            let tree = tree.split('\0').next().unwrap_or_default().trim();
            let args = ["commit-tree", tree, "-p", one, "-p", other, "-m", "merge"].map(OsString::from);
            let env: Vec<(&str, OsString)> =
                IDENTITY.iter().map(|(name, value)| (*name, (*value).into())).collect();
            let done = shadow.run_with(&repository.top, &args, &[], &env).await?;
            Ok(MergeOutcome::Clean(first_line(&done.output)))
        }
        // The first entry is the tree, the others are the paths.
        Exit::Code(1) if !done.output.is_empty() => {
            Ok(MergeOutcome::Conflict(nul_paths(&done.output).skip(1).collect()))
        }
        exit => Err(GitError::Unsupported {
            why: format!("git merge-tree ended with {exit}; branches are merged by git 2.38 or later"),
        }),
    }
}
