//! The repository of a folder, with a check that its pointers lead to no other repository.
//!
//! The `.git` of a hostile folder may point at any repository of the user: as a link, as a file
//! that names a directory, by a `commondir`, by links among its data. Each such pointer is followed
//! only if its target points back, or is within the workspace.

use std::fs;
use std::path::{Path, PathBuf};

use super::GitError;
use crate::platform::{canonicalize, user};
use crate::workspace::{ReadError, Workspace};

/// The largest pointer, reference or configuration file of a repository, in bytes.
const MAX_GIT_METADATA_BYTES: u64 = 8 << 20;

/// A repository with a work tree. All paths are canonical.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repository {
    /// The top of the work tree.
    pub top: PathBuf,
    /// The directory of this work tree's own data: `HEAD`, the index.
    pub git_dir: PathBuf,
    /// The directory that all work trees share: objects, references, configuration.
    /// Usually the same as `git_dir`.
    pub common_dir: PathBuf,
    /// The root of the workspace. Links among the data may lead there.
    workspace: PathBuf,
}

/// The commit or branch of HEAD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum GitHead {
    /// A commit, as hexadecimal digits.
    Commit(String),
    /// A branch without a commit.
    Unborn,
}

impl GitHead {
    fn commit(self) -> Option<String> {
        match self {
            Self::Commit(id) => Some(id),
            Self::Unborn => None,
        }
    }
}

impl Repository {
    /// The repository that contains the canonical directory `start`; `workspace` is the canonical
    /// root of the workspace.
    ///
    /// # Errors
    /// [`GitError::NoRepository`] (`shown` names the folder), and an error if the repository leads
    /// elsewhere.
    pub(crate) fn find(start: &Path, workspace: &Path, shown: &str) -> Result<Self, GitError> {
        for top in start.ancestors() {
            let dot_git = top.join(".git");
            let Ok(metadata) = fs::symlink_metadata(&dot_git) else { continue };
            if !top.starts_with(workspace) && !user::is_own(&metadata) {
                return Err(GitError::refused("it is above the workspace and belongs to another user"));
            }
            let found = if metadata.is_file() {
                Some(Self::from_git_file(top, &dot_git, workspace)?)
            } else {
                Self::from_dot_git(top, &dot_git, workspace)?
            };
            if let Some(found) = found {
                return Ok(found);
            }
        }
        Err(GitError::NoRepository { path: shown.to_owned() })
    }

    /// The repository in the directory `.git`; `None` without a `HEAD`, as in git.
    fn from_dot_git(top: &Path, dot_git: &Path, workspace: &Path) -> Result<Option<Self>, GitError> {
        let git_dir = canonical(dot_git)?;
        if git_dir != dot_git && !git_dir.starts_with(workspace) {
            return Err(GitError::refused("its `.git` is a link that leads out of the workspace"));
        }
        if fs::symlink_metadata(git_dir.join("HEAD")).is_err() {
            return Ok(None);
        }
        if fs::symlink_metadata(git_dir.join("commondir")).is_ok() {
            return Err(GitError::refused("its `.git` directory names another as its `commondir`"));
        }
        let (top, workspace) = (top.to_owned(), workspace.to_owned());
        Ok(Some(Self { top, common_dir: git_dir.clone(), git_dir, workspace }))
    }

    /// The repository of a file `.git` that names a directory: of an additional work tree
    /// (`git worktree add`), or of a submodule.
    fn from_git_file(top: &Path, dot_git: &Path, workspace: &Path) -> Result<Self, GitError> {
        let text = read_text(dot_git)?;
        let target = text.trim_end().strip_prefix("gitdir:").map(str::trim_start);
        let target =
            target.ok_or_else(|| GitError::refused("its `.git` is a file that names no `gitdir:`"))?;
        let git_dir = canonical(&top.join(target))?;
        let (top, workspace) = (top.to_owned(), workspace.to_owned());
        let common = git_dir.join("commondir");
        if fs::symlink_metadata(&common).is_err() {
            // A submodule's configuration names its work tree; see `is_work_tree`.
            return Ok(Self { top, common_dir: git_dir.clone(), git_dir, workspace });
        }
        let common_dir = canonical(&git_dir.join(read_text(&common)?.trim_end()))?;
        let back = read_text(&git_dir.join("gitdir"))?;
        let registered = git_dir.parent() == Some(&common_dir.join("worktrees"));
        if !registered || canonical(&git_dir.join(back.trim_end()))? != dot_git {
            return Err(GitError::refused(
                "its `.git` file points at a repository that knows of no such work tree (git worktree repair mends a moved one)",
            ));
        }
        Ok(Self { top, git_dir, common_dir, workspace })
    }

    /// Checks that the repository itself names `top` as its work tree. `core_worktree` is the value
    /// in its configuration.
    ///
    /// # Errors
    /// If it names another one.
    pub(crate) fn is_work_tree(&self, core_worktree: Option<&str>) -> Result<(), GitError> {
        let is_pointed_at = self.git_dir == self.common_dir && self.git_dir != self.top.join(".git");
        if !is_pointed_at || self.git_dir.starts_with(&self.workspace) {
            return Ok(());
        }
        let says = core_worktree.and_then(|path| canonicalize(self.git_dir.join(path)).ok());
        match says {
            Some(says) if says == self.top => Ok(()),
            _ => Err(GitError::refused(
                "its `.git` file points out of the workspace at a repository whose work tree is another",
            )),
        }
    }

    /// The canonical path of an entry of the repository's data; `None` if it does not exist.
    ///
    /// # Errors
    /// If a link leads out of the repository and the workspace.
    pub(crate) fn data_path(&self, folder: &Path, name: &str) -> Result<Option<PathBuf>, GitError> {
        let path = folder.join(name);
        let real = match canonicalize(&path) {
            Ok(real) => real,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(GitError::io(path, error)),
        };
        let inside = [&self.git_dir, &self.common_dir, &self.workspace];
        if inside.into_iter().any(|folder| real.starts_with(folder)) {
            return Ok(Some(real));
        }
        Err(GitError::refused(format!("`{name}` in it is a link that leads elsewhere")))
    }

    /// The text of the repository's configuration.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn configuration(&self) -> Result<String, GitError> {
        self.data_path(&self.common_dir, "config")?.map_or_else(|| Ok(String::new()), |path| read_text(&path))
    }

    /// The commit that is checked out. References are read here and not by git, which would follow
    /// links among them.
    ///
    /// # Errors
    /// If it is invalid, or a link leads elsewhere.
    pub(crate) fn head(&self) -> Result<GitHead, GitError> {
        let head =
            self.data_path(&self.git_dir, "HEAD")?.ok_or_else(|| GitError::refused("it has no HEAD"))?;
        self.follow(read_text(&head)?)
    }

    /// The object of the reference `name`, searched for in git's order: `HEAD` and similar names,
    /// then tags, branches, and branches of remotes. `None` if there is none.
    ///
    /// # Errors
    /// If the reference is invalid, or a link leads elsewhere.
    pub(crate) fn reference(&self, name: &str) -> Result<Option<String>, GitError> {
        let is_special = name.ends_with("HEAD") && name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
        if is_special && let Some(path) = self.data_path(&self.git_dir, name)? {
            // The line of `FETCH_HEAD` has further fields.
            let text = read_text(&path)?;
            let first = text.split('\t').next().unwrap_or_default().to_owned();
            return Ok(self.follow(first)?.commit());
        }
        let forms = ["", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/"];
        let names = forms.iter().map(|form| format!("{form}{name}"));
        for name in names.chain([format!("refs/remotes/{name}/HEAD")]).filter(|name| is_reference(name)) {
            let found = self.follow(format!("ref: {name}"))?.commit();
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Follows the text of a reference to a commit.
    fn follow(&self, mut text: String) -> Result<GitHead, GitError> {
        // Git itself follows at most five.
        for _ in 0..5 {
            let value = text.trim_end();
            if is_commit(value) {
                return Ok(GitHead::Commit(value.to_owned()));
            }
            let name = value.strip_prefix("ref:").map(str::trim_start).filter(|name| is_reference(name));
            let name = name.ok_or_else(|| GitError::refused("its HEAD is neither a commit nor a branch"))?;
            match self.data_path(&self.common_dir, name)? {
                Some(path) if path.is_file() => text = read_text(&path)?,
                _ => return self.packed_reference(name),
            }
        }
        Err(GitError::refused("its HEAD is an endless chain of references"))
    }

    fn packed_reference(&self, name: &str) -> Result<GitHead, GitError> {
        let Some(path) = self.data_path(&self.common_dir, "packed-refs")? else { return Ok(GitHead::Unborn) };
        let text = read_text(&path)?;
        let mut lines = text.lines().filter_map(|line| line.split_once(' '));
        let commit = lines.find(|(commit, reference)| *reference == name && is_commit(commit));
        Ok(commit.map_or(GitHead::Unborn, |(commit, _)| GitHead::Commit(commit.to_owned())))
    }
}

fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_reference(name: &str) -> bool {
    name.starts_with("refs/") && name.split('/').all(|part| !part.is_empty() && !part.starts_with('.'))
}

fn canonical(path: &Path) -> Result<PathBuf, GitError> {
    canonicalize(path).map_err(|error| GitError::io(path, error))
}

/// The text of a small regular file. Other kinds of files are not opened, so no pipe can block.
fn read_text(path: &Path) -> Result<String, GitError> {
    let failed = |error: ReadError| GitError::io(path, std::io::Error::other(error.reason()));
    Workspace::read_outside(path, MAX_GIT_METADATA_BYTES).map_err(failed)
}
