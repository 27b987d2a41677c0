//! A tree of a repository, written out to a separate folder.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::GitError;
use super::difference::{SUBMODULE_MODE, nul_paths, whole_entries};
use super::repository::Repository;
use super::revision::{ComparedTree, first_line};
use super::shadow::ShadowRepository;
use crate::platform::private;

/// The most files of a tree that is written out.
const MAX_TREE_FILES: usize = 100_000;
/// The most bytes of its files in total.
const MAX_TREE_BYTES: u64 = 2 << 30;
/// Disables the user's git settings, which name filters that attributes of the tree would select
/// (Git LFS downloads missing files). Files are written as git stores them.
const WITHOUT_FILTERS: [(&str, &str); 2] = [("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")];
/// The files that make a folder the top of a repository for git and for servers, so that they do
/// not look above it.
const EMPTY_REPOSITORY: [(&str, &str); 2] = [
    ("HEAD", "ref: refs/heads/tree\n"),
    ("config", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"),
];

/// A tree that was written out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CheckedOutTree {
    /// The folders of submodules, which are empty, relative to the top.
    pub submodules: Vec<PathBuf>,
}

/// Writes `tree` into the new folder `target`. The repository's index and work tree are not
/// touched, and no program from its or the user's settings is run. `shadow` must keep objects apart
/// if the tree is the index.
///
/// # Errors
/// If git fails or takes too long, the tree is too large, or the folder cannot be created.
pub(crate) async fn check_out(
    shadow: &ShadowRepository,
    repository: &Repository,
    tree: &ComparedTree,
    target: &Path,
) -> Result<CheckedOutTree, GitError> {
    let tree = match tree {
        ComparedTree::Object(id) => id.clone(),
        ComparedTree::Index => tree_of_index(shadow, repository).await?,
        ComparedTree::WorkTree => return Err(GitError::refused("the work tree is on disk already")),
    };
    let submodules = measure(shadow, repository, &tree).await?;
    let index = shadow.scratch("checkout-index");
    // The index of a previous checkout.
    let _absent = fs::remove_file(&index);
    let mut env = vec![("GIT_INDEX_FILE", index.into())];
    env.extend(WITHOUT_FILTERS.map(|(name, value)| (name, OsString::from(value))));
    // With `-m`, folders that the user excluded (sparse checkout) are left out here as well.
    let read = ["read-tree", "-m", &tree].map(OsString::from);
    shadow.run_with(&repository.top, &read, &[], &env).await?;
    private::make_folder(target).map_err(|error| GitError::io(target, error))?;
    let args = ["checkout-index", "--all", "--force", "--quiet"].map(OsString::from);
    shadow.run_with(target, &args, &[], &env).await?;
    make_repository(&target.join(".git")).map_err(|error| GitError::io(target, error))?;
    Ok(CheckedOutTree { submodules })
}

/// The tree of the index. Git checks the names in it only here, and not when it writes files from
/// an index.
async fn tree_of_index(shadow: &ShadowRepository, repository: &Repository) -> Result<String, GitError> {
    let copy = shadow.scratch("index-copy");
    let own = shadow.scratch("index");
    if own.exists() {
        fs::copy(&own, &copy).map_err(|error| GitError::io(&own, error))?;
    }
    let env = [("GIT_INDEX_FILE", copy.into())];
    let args = [OsString::from("write-tree")];
    let done = shadow.run_with(&repository.top, &args, &[], &env).await?;
    Ok(first_line(&done.output))
}

/// Rejects a tree that would fill the disk, and returns the folders of its submodules.
async fn measure(
    shadow: &ShadowRepository,
    repository: &Repository,
    tree: &str,
) -> Result<Vec<PathBuf>, GitError> {
    let args = ["ls-tree", "-r", "-l", "-z", "--full-tree", tree].map(OsString::from);
    let done = shadow.run(repository, &args).await?;
    let (mut files, mut bytes, mut submodules) = (0_usize, 0_u64, Vec::new());
    // `MODE TYPE ID SIZE`, a tab, and the name.
    for entry in whole_entries(&done.output) {
        let Some(tab) = entry.iter().position(|byte| *byte == b'\t') else { continue };
        let head = String::from_utf8_lossy(&entry[..tab]);
        files += 1;
        bytes = bytes
            .saturating_add(head.split_whitespace().nth(3).and_then(|size| size.parse().ok()).unwrap_or(0));
        if head.starts_with(SUBMODULE_MODE) {
            submodules.extend(nul_paths(&[&entry[tab + 1..], b"\0"].concat()));
        }
    }
    if done.cut || files > MAX_TREE_FILES || bytes > MAX_TREE_BYTES {
        let why = format!(
            "a tree of more than {MAX_TREE_FILES} files or {} GiB is not checked out",
            MAX_TREE_BYTES >> 30
        );
        return Err(GitError::Unsupported { why });
    }
    Ok(submodules)
}

fn make_repository(folder: &Path) -> std::io::Result<()> {
    // A tree cannot have an entry with that name.
    for name in ["objects", "refs"] {
        private::make_folder(&folder.join(name))?;
    }
    EMPTY_REPOSITORY.iter().try_for_each(|(name, text)| private::write(&folder.join(name), text.as_bytes()))
}
