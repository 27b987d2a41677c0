//! Git queries that do not trust the repository's configuration.
//!
//! A repository's configuration names programs: filters, a file system monitor, hooks, difference and fetch programs, and
//! those of its submodules. A list of all such keys would be out of date with the next git. So git never sees that
//! configuration: it runs on a directory of our own ([`shadow`]), which has a configuration that we wrote, and of the
//! repository only its data (objects, index, exclude patterns). The user's own configuration counts as always; what it
//! names are the user's programs.
//!
//! How data passes: a folder → [`repository::Repository`] (which is it, and does it lead elsewhere) → [`shadow::ShadowRepository`] →
//! [`status::GitStatus`], or [`revision::Comparison`] → [`difference::TreeDifference`]; [`checkout`] writes a tree out, [`merge`] makes one of several.

pub(crate) mod checkout;
pub(crate) mod difference;
pub(crate) mod merge;
pub(crate) mod repository;
pub(crate) mod revision;
pub(crate) mod shadow;
pub(crate) mod status;

use std::path::PathBuf;

use crate::process::RunError;

/// Git's data could not be asked for.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GitError {
    /// No repository is there.
    #[error("`{path}` lies in no git repository")]
    NoRepository {
        /// What was given, relative to the workspace.
        path: String,
    },
    /// It is put together so that it may show what belongs to another.
    #[error("the git repository is not looked into: {why}")]
    Refused {
        /// What is wrong with it.
        why: String,
    },
    /// It is of a kind that is not read here.
    #[error("the git repository cannot be read: {why}")]
    Unsupported {
        /// What kind.
        why: String,
    },
    /// No commit is called so.
    #[error("there is no commit `{name}` in the repository{}", if *shallow { ", which is a shallow clone" } else { "" })]
    UnknownRevision {
        /// As it was given.
        name: String,
        /// The repository holds the latest commits only.
        shallow: bool,
    },
    /// Two commits have no common ancestor here.
    #[error("`{one}` and `{other}` have no common ancestor in the repository{}", if *shallow { ", which is a shallow clone" } else { "" })]
    NoMergeBase {
        /// As it was given.
        one: String,
        /// As it was given.
        other: String,
        /// The repository holds the latest commits only.
        shallow: bool,
    },
    /// What was given is no name of a commit.
    #[error("`{name}` is no name of a commit that is looked up here: {why}")]
    InvalidRevision {
        /// As it was given.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Git itself is not there.
    #[error("git is not on PATH; install it")]
    NoGit,
    /// The system refused.
    #[error("{} cannot be read: {source}", path.file_name().unwrap_or_default().display())]
    Io {
        /// What was to be read.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Git was not started or did not come to its end.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Git ended with a failure.
    #[error("git failed with {exit}: {said}")]
    Failed {
        /// How it ended.
        exit: crate::process::Exit,
        /// Its last line.
        said: String,
    },
}

impl GitError {
    fn refused(why: impl Into<String>) -> Self {
        Self::Refused { why: why.into() }
    }

    fn io(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::Io { path: path.into(), source }
    }
}
