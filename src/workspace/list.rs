//! The `list` query: the entries of a directory.

use std::ffi::{OsStr, OsString};

use super::read::{from_errno, special_kind};
use super::walk::select::{SelectError, Selection};
use super::{ReadError, WorkDeadline, Workspace, WorkspacePath};
use crate::platform::canonicalize;
use crate::platform::files::{AsFd, AtFlags, Errno, FileType, OwnedFd, entries, fstat, statat};

/// The parameters of a listing.
#[derive(Debug, Clone)]
pub(crate) struct ListQuery {
    /// The directory.
    pub under: WorkspacePath,
    /// True to list everything below its directories, without hidden and ignored files. Otherwise
    /// everything directly in it is listed.
    pub recursive: bool,
    /// The maximum number of entries: the first ones by path.
    pub max: usize,
    /// The time at which the listing ends in any case.
    pub deadline: WorkDeadline,
}

/// Something in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DirectoryEntry {
    /// The path of the entry.
    pub path: WorkspacePath,
    /// The kind of the entry.
    pub kind: EntryKind,
    /// Bytes in a regular file; 0 for anything else.
    pub size: u64,
}

/// The kind of a directory entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink(LinkTarget),
    /// A named pipe, socket or device, with its article.
    Special(&'static str),
}

/// The target of a symbolic link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LinkTarget {
    /// The target is in the workspace.
    Inside {
        /// The target's path, without links.
        path: WorkspacePath,
        /// True if the target is a directory.
        is_dir: bool,
    },
    /// The target is outside the workspace.
    Outside,
    /// The target does not exist, or the links form a circle.
    Nothing,
}

/// The entries of a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct DirectoryListing {
    /// Sorted by path.
    pub entries: Vec<DirectoryEntry>,
    /// True if there are more than `max`.
    pub(crate) has_more: bool,
    /// True if the deadline ended the listing; there may be others.
    pub(crate) timed_out: bool,
    /// The number of entries left out because they are hidden.
    pub(crate) hidden: usize,
    /// The omitted or unknown parts with the reasons; in sentences.
    pub(crate) gaps: Vec<String>,
}

impl Workspace {
    /// Lists the content of a directory. Links are listed, not followed, apart from `under` itself.
    ///
    /// # Errors
    /// [`ReadError`] if the path is missing, is not a directory, or leads out.
    pub(crate) fn list(&self, query: &ListQuery) -> Result<DirectoryListing, ReadError> {
        if query.recursive { self.list_below(query) } else { self.list_directly(query) }
    }

    fn list_directly(&self, query: &ListQuery) -> Result<DirectoryListing, ReadError> {
        let under = &query.under;
        let failed = |errno| from_errno(under.display(), errno);
        self.stat_directory(under)?;
        let directory = self.jail().open(under.as_path()).map_err(failed)?;
        let real =
            self.resolve_links(under).map_or_else(|| self.absolute(under), |real| self.absolute(&real));
        let mut listing = DirectoryListing::default();
        let mut names: Vec<OsString> = Vec::new();
        for entry in entries(&directory).map_err(failed)? {
            if names.len().is_multiple_of(1024) && query.deadline.is_over() {
                listing.timed_out = true;
                break;
            }
            let (name, _) = entry.map_err(failed)?;
            if self.hides_entry(&under.as_path().join(&name), &real.join(&name)) {
                listing.hidden += 1;
            } else {
                names.push(name);
            }
        }
        names.sort_unstable();
        listing.has_more = names.len() > query.max;
        for name in names.into_iter().take(query.max) {
            let path = WorkspacePath::new(under.as_path().join(&name));
            // An entry deleted since it was read is left out.
            listing.entries.extend(self.stat_entry(&directory, &name, path));
        }
        Ok(listing)
    }

    fn list_below(&self, query: &ListQuery) -> Result<DirectoryListing, ReadError> {
        self.stat_directory(&query.under)?;
        let selected = match Selection::default().prepare_walk(self, &query.under) {
            Ok(selected) => selected,
            Err(SelectError::Place(error)) => return Err(error),
            // Without globs and types, no other error is possible.
            Err(other) => {
                let source = std::io::Error::other(other.to_string());
                return Err(ReadError::Io { path: query.under.display(), source });
            }
        };
        let mut walk = selected.walk;
        walk.sort_by_file_name(|a, b| a.cmp(b));
        let mut listing = DirectoryListing::default();
        for entry in walk.build() {
            if query.deadline.is_over() {
                listing.timed_out = true;
                break;
            }
            let Ok(entry) = entry else { continue };
            let Some(path) = selected.start.path_of(entry.path()) else { continue };
            if path == query.under {
                continue;
            }
            if self.hides_entry(path.as_path(), entry.path()) {
                listing.hidden += 1;
                continue;
            }
            if listing.entries.len() >= query.max {
                listing.has_more = true;
                break;
            }
            let (Some(folder), Some(name)) = (path.parent(), path.as_path().file_name()) else { continue };
            let Ok(directory) = self.jail().locate(folder.as_path()) else { continue };
            let name = name.to_owned();
            listing.entries.extend(self.stat_entry(&directory, &name, path));
        }
        listing.gaps = selected.gaps.notes();
        Ok(listing)
    }

    /// Returns the entry `name` of `directory`; `None` if there is none.
    fn stat_entry(&self, directory: &OwnedFd, name: &OsStr, path: WorkspacePath) -> Option<DirectoryEntry> {
        let stat = statat(directory.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        // Sizes are never negative.
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        let (kind, size) = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => (EntryKind::File, size),
            FileType::Directory => (EntryKind::Directory, 0),
            FileType::Symlink => (EntryKind::Symlink(self.target_of(&path)), 0),
            other => (EntryKind::Special(special_kind(other)), 0),
        };
        Some(DirectoryEntry { path, kind, size })
    }

    fn target_of(&self, link: &WorkspacePath) -> LinkTarget {
        let handle = match self.jail().locate(link.as_path()) {
            Ok(handle) => handle,
            Err(Errno::XDEV) => return LinkTarget::Outside,
            Err(_) => return LinkTarget::Nothing,
        };
        let is_dir =
            fstat(&handle).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory);
        let canonical = canonicalize(self.absolute(link));
        let inside = canonical.ok().and_then(|target| self.workspace_path(&target));
        inside.map_or(LinkTarget::Nothing, |path| LinkTarget::Inside { path, is_dir })
    }

    /// Fails unless `path` is a directory inside the workspace.
    pub(super) fn stat_directory(&self, path: &WorkspacePath) -> Result<(), ReadError> {
        let failed = |errno| from_errno(path.display(), errno);
        let handle = self.jail().locate(path.as_path()).map_err(failed)?;
        let stat = fstat(&handle).map_err(failed)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => Ok(()),
            _ => Err(ReadError::NotADirectory { path: path.display() }),
        }
    }
}

#[cfg(all(test, unix))]
mod tests;
