//! A tree of a repository, written out to a folder of our own.

use std::ffi::OsString;
use std::path::Path;

use super::GitError;
use super::repository::Repository;
use super::shadow::ShadowRepository;
use crate::workspace::private;

/// Writes the tree of a commit (or a tree's own id) into the folder `target`, which is made. The repository's index and work tree are not
/// touched, and no program that the repository names is run.
///
/// # Errors
/// Where git fails or takes too long, or the folder cannot be made.
pub(crate) async fn check_out(
    shadow: &ShadowRepository,
    repository: &Repository,
    tree: &str,
    target: &Path,
) -> Result<(), GitError> {
    let env = [("GIT_INDEX_FILE", shadow.scratch("checkout-index").into())];
    let read = ["read-tree", tree].map(OsString::from);
    shadow.run_with(&repository.top, &read, &[], &env).await?;
    write_index(shadow, target, &env).await
}

/// As [`check_out`], of what is staged.
///
/// # Errors
/// As there.
pub(crate) async fn check_out_index(shadow: &ShadowRepository, target: &Path) -> Result<(), GitError> {
    write_index(shadow, target, &[]).await
}

async fn write_index(
    shadow: &ShadowRepository,
    target: &Path,
    env: &[(&str, OsString)],
) -> Result<(), GitError> {
    private::make_folder(target).map_err(|error| GitError::io(target, error))?;
    let args = ["checkout-index", "--all", "--force", "--quiet"].map(OsString::from);
    shadow.run_with(target, &args, &[], env).await.map(drop)
}
