//! Git queries that do not trust the repository's configuration.
//!
//! A repository's configuration names programs: filters, a file system monitor, hooks, difference
//! and fetch programs, and those of its submodules. A list of all such keys would be out of date
//! with the next git. So git never sees that configuration: it runs on a separate directory
//! ([`shadow`]) with a configuration written here, and uses only the data of the repository
//! (objects, index, exclude patterns). The user's own configuration applies, including its
//! programs.
//!
//! A folder leads to a [`repository::Repository`], which is checked for links elsewhere, and to a
//! [`shadow::ShadowRepository`]. From it come a [`status::GitStatus`], or a
//! [`revision::Comparison`] and its [`difference::TreeDifference`]. [`checkout`] writes a tree out,
//! [`merge`] makes one of several.

pub(crate) mod checkout;
pub(crate) mod difference;
pub(crate) mod merge;
pub(crate) mod repository;
pub(crate) mod revision;
pub(crate) mod shadow;
pub(crate) mod status;

use std::path::PathBuf;

use crate::process::RunError;

/// An error of a git query.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GitError {
    /// The folder is in no repository.
    #[error("`{path}` is not in a git repository")]
    NoRepository {
        /// The given path, relative to the workspace.
        path: String,
    },
    /// The repository is built so that it may expose data of another one.
    #[error("the git repository is not read: {why}")]
    Refused {
        /// The problem.
        why: String,
    },
    /// The kind of repository is not supported.
    #[error("the git repository cannot be read: {why}")]
    Unsupported {
        /// The kind.
        why: String,
    },
    /// The commit does not exist.
    #[error("there is no commit `{name}` in the repository{}", if *shallow { ", which is a shallow clone" } else { "" })]
    UnknownRevision {
        /// The given name.
        name: String,
        /// True if the repository is a shallow clone.
        shallow: bool,
    },
    /// Two commits have no common ancestor here.
    #[error("`{one}` and `{other}` have no common ancestor in the repository{}", if *shallow { ", which is a shallow clone" } else { "" })]
    NoMergeBase {
        /// The given name.
        one: String,
        /// The given name.
        other: String,
        /// True if the repository is a shallow clone.
        shallow: bool,
    },
    /// The given name is not a valid name of a commit.
    #[error("`{name}` is not an accepted commit name: {why}")]
    InvalidRevision {
        /// The given name.
        name: String,
        /// The problem.
        why: &'static str,
    },
    /// Git is not installed.
    #[error("git is not on PATH; install it")]
    NoGit,
    /// A file could not be read.
    #[error("{} cannot be read: {source}", path.file_name().unwrap_or_default().display())]
    Io {
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// Git could not be started, or was ended.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Git exited with a failure.
    #[error("git failed with {exit}: {said}")]
    Failed {
        /// The exit status.
        exit: crate::process::Exit,
        /// The last line of its output.
        said: String,
    },
}

impl GitError {
    fn refused(reason: impl Into<String>) -> Self {
        Self::Refused { why: reason.into() }
    }

    fn io(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::Io { path: path.into(), source }
    }
}
