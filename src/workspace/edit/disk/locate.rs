//! Resolution of a path for editing, name by name from the root's descriptor, so that no link can
//! lead out.
//!
//! Each name is opened beneath the descriptor of the one before it and never followed by the kernel
//! if it is a link; the target of a link is walked in the same way. `..` is never passed to the
//! kernel: it returns to a descriptor that was opened on the way.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::platform::OsStringExt;
use crate::platform::files::{AsFd, BorrowedFd, Errno, Mode, OFlags, OwnedFd, openat, readlinkat};
use crate::platform::jail::location_flags;
use crate::workspace::Workspace;

/// The maximum number of links in one path, as in the kernel.
const MAX_LOCATE_SYMLINKS: usize = 40;

/// The directory tree of a workspace.
#[derive(Debug, Clone)]
pub(crate) struct WorkspaceTree {
    workspace: Workspace,
    root: Arc<OwnedFd>,
}

/// The treatment of a link in the last component of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FinalLinkMode {
    /// The link is followed.
    Follow,
    /// The link itself is meant.
    Keep,
}

/// An open folder of the workspace.
#[derive(Debug, Clone)]
pub(crate) struct FolderHandle(Arc<OwnedFd>);

impl AsFd for FolderHandle {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl FolderHandle {
    /// Opens the folder `name` in this one, if it is a folder and no link.
    pub(super) fn open_subfolder(&self, name: &OsStr) -> Result<FolderHandle, Errno> {
        open_folder(self.as_fd(), name, OFlags::RDONLY).map(|fd| FolderHandle(Arc::new(fd)))
    }
}

/// The walk to one path.
struct PathResolution<'a> {
    tree: &'a WorkspaceTree,
    /// The folders entered so far, below the root.
    entered: Vec<(OsString, OwnedFd)>,
    /// The remaining names, the next one last.
    ahead: Vec<OsString>,
    links: usize,
}

impl WorkspaceTree {
    /// Opens the present tree.
    pub(crate) fn open(workspace: &Workspace) -> Self {
        Self { workspace: workspace.clone(), root: workspace.jail().root_fd() }
    }

    /// Resolves `path`, relative to the root, to a path without any link (except for the last name,
    /// with [`FinalLinkMode::Keep`]). Names that do not exist are kept. Empty for the root. Returns
    /// `EXDEV` if the path leads out.
    pub(crate) fn resolve(&self, path: &Path, last: FinalLinkMode) -> Result<PathBuf, Errno> {
        let mut walk = PathResolution { tree: self, entered: Vec::new(), ahead: Vec::new(), links: 0 };
        walk.push(path)?;
        walk.run(last)
    }

    /// Opens the folder at `path`, in which no name may be a link.
    pub(crate) fn open_folder_at(&self, path: &Path) -> Result<FolderHandle, Errno> {
        let mut fd: Option<OwnedFd> = None;
        for component in path.components() {
            let Component::Normal(name) = component else { return Err(Errno::XDEV) };
            let from = fd.as_ref().map_or(self.root.as_fd(), AsFd::as_fd);
            fd = Some(open_folder(from, name, location_flags())?);
        }
        let from = fd.as_ref().map_or(self.root.as_fd(), AsFd::as_fd);
        let readable = open_folder(from, OsStr::new("."), OFlags::RDONLY)?;
        Ok(FolderHandle(Arc::new(readable)))
    }

    /// Returns the folder of the last name of `path`, and that name; `EISDIR` for the root.
    pub(crate) fn folder_of<'p>(&self, path: &'p Path) -> Result<(FolderHandle, &'p OsStr), Errno> {
        let name = path.file_name().ok_or(Errno::ISDIR)?;
        Ok((self.open_folder_at(path.parent().unwrap_or(Path::new("")))?, name))
    }
}

impl PathResolution<'_> {
    fn run(mut self, last: FinalLinkMode) -> Result<PathBuf, Errno> {
        while let Some(name) = self.ahead.pop() {
            if name == ".." {
                self.entered.pop().ok_or(Errno::XDEV)?;
                continue;
            }
            let at_end = self.ahead.is_empty();
            if at_end && last == FinalLinkMode::Keep {
                return Ok(self.current_path().join(name));
            }
            // A last name need not be a folder; any other must be one or a link to one.
            let opened = if at_end { Err(Errno::NOTDIR) } else { self.open(&name) };
            match opened {
                Ok(fd) => self.entered.push((name, fd)),
                Err(Errno::NOTDIR | Errno::LOOP) => match readlinkat(self.current_fd(), &name, Vec::new()) {
                    Ok(target) => self.follow_link(OsString::from_vec(target.into_bytes()))?,
                    Err(Errno::INVAL) if at_end => return Ok(self.current_path().join(name)),
                    Err(Errno::INVAL) => return Err(Errno::NOTDIR),
                    Err(Errno::NOENT) => return self.missing_path(name),
                    Err(errno) => return Err(errno),
                },
                Err(Errno::NOENT) => return self.missing_path(name),
                Err(errno) => return Err(errno),
            }
        }
        Ok(self.current_path())
    }

    /// Returns the path of `name`, which does not exist, with the remaining names; no link can be
    /// among them.
    fn missing_path(&self, name: OsString) -> Result<PathBuf, Errno> {
        if self.ahead.iter().any(|name| name == "..") {
            return Err(Errno::NOENT);
        }
        let mut path = self.current_path().join(name);
        path.extend(self.ahead.iter().rev());
        Ok(path)
    }

    fn follow_link(&mut self, target: OsString) -> Result<(), Errno> {
        self.links += 1;
        if self.links > MAX_LOCATE_SYMLINKS {
            return Err(Errno::LOOP);
        }
        let target = Path::new(&target);
        if target.is_absolute() {
            let inside = self.tree.workspace.workspace_path(target).ok_or(Errno::XDEV)?;
            self.entered.clear();
            return self.push(inside.as_path());
        }
        self.push(target)
    }

    /// Puts `path` in front of the remaining names.
    fn push(&mut self, path: &Path) -> Result<(), Errno> {
        for component in path.components().rev() {
            match component {
                Component::Normal(name) => self.ahead.push(name.to_owned()),
                Component::ParentDir => self.ahead.push(OsString::from("..")),
                Component::CurDir => {}
                Component::RootDir | Component::Prefix(_) => return Err(Errno::XDEV),
            }
        }
        Ok(())
    }

    fn current_fd(&self) -> BorrowedFd<'_> {
        self.entered.last().map_or(self.tree.root.as_fd(), |(_, fd)| fd.as_fd())
    }

    fn current_path(&self) -> PathBuf {
        self.entered.iter().map(|(name, _)| name).collect()
    }

    fn open(&self, name: &OsStr) -> Result<OwnedFd, Errno> {
        open_folder(self.current_fd(), name, location_flags())
    }
}

fn open_folder(from: BorrowedFd<'_>, name: &OsStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(from, name, flags, Mode::empty())
}
