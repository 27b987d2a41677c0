//! Opening of files beneath a directory, name by name, without following a link that leads out.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_primitives::ambient_authority;
use cap_primitives::fs::{OpenOptions, OpenOptionsExt, open_ambient_dir};
use parking_lot::RwLock;

use super::attributes::FILE_FLAG_BACKUP_SEMANTICS;
use super::errno::unless_in_use;
use super::files::{Errno, OFlags, OwnedFd};
use crate::platform::files::to_errno;
use crate::platform::inode::InodeIdentity;
use crate::platform::paths::{canonicalize, is_usable_path};

/// A directory outside of which nothing is opened. While it is open, it cannot be renamed.
#[derive(Debug)]
pub(crate) struct Jail {
    folder: RwLock<Arc<OwnedFd>>,
    /// Canonical.
    root: PathBuf,
}

/// The flags of every opening for reading.
pub(crate) const READ: OFlags = OFlags::RDONLY;

/// The flags of an opening that reads nothing.
pub(crate) fn location_flags() -> OFlags {
    OFlags::PATH
}

impl Jail {
    /// Creates the jail whose root is the canonical directory `root`.
    pub(crate) fn new(root: PathBuf) -> Result<Self, Errno> {
        Ok(Self { folder: RwLock::new(Arc::new(open_root(&root)?)), root })
    }

    fn folder(&self) -> Arc<OwnedFd> {
        Arc::clone(&self.folder.read())
    }

    /// Reopens the root if it was removed and made again since it was opened. Returns true if it
    /// was.
    fn reopen_if_replaced(&self) -> bool {
        let Ok(new) = open_root(&self.root) else { return false };
        if InodeIdentity::of(&new) == InodeIdentity::of(&*self.folder()) {
            return false;
        }
        *self.folder.write() = Arc::new(new);
        true
    }

    /// Returns the root itself, for a walk name by name; the present one, if it was made again.
    pub(crate) fn root_fd(&self) -> Arc<OwnedFd> {
        self.reopen_if_replaced();
        self.folder()
    }

    /// Returns a handle of the object at `relative`. Returns `XDEV` if the path leads out.
    pub(crate) fn locate(&self, relative: &Path) -> Result<OwnedFd, Errno> {
        self.open(relative)
    }

    /// Like [`locate`](Self::locate), for paths that mostly do not exist: the root is not checked
    /// again.
    pub(crate) fn locate_known(&self, relative: &Path) -> Result<OwnedFd, Errno> {
        self.open_once(relative)
    }

    /// The system cannot answer this in one call.
    pub(crate) fn is_unlinked(&self, _: &Path) -> bool {
        false
    }

    /// Opens `relative` for reading. Returns `XDEV` if it leads out.
    pub(crate) fn open(&self, relative: &Path) -> Result<OwnedFd, Errno> {
        match self.open_once(relative) {
            Err(Errno::NOENT) if self.reopen_if_replaced() => self.open_once(relative),
            opened => opened,
        }
    }

    fn open_once(&self, relative: &Path) -> Result<OwnedFd, Errno> {
        match open_beneath(&self.folder(), relative) {
            // An absolute link may lead back into the workspace.
            Err(Errno::XDEV) => open_beneath(&self.folder(), &self.resolve_relative(relative)?),
            opened => opened,
        }
    }

    /// Returns `relative` without any link in it, if that is still beneath the root.
    fn resolve_relative(&self, relative: &Path) -> Result<PathBuf, Errno> {
        let target = canonicalize(self.root.join(relative)).map_err(to_errno)?;
        target.strip_prefix(&self.root).map(Path::to_owned).map_err(|_| Errno::XDEV)
    }
}

fn open_root(root: &Path) -> Result<OwnedFd, Errno> {
    Ok(open_ambient_dir(root, ambient_authority())?.into())
}

fn open_beneath(folder: &Arc<OwnedFd>, relative: &Path) -> Result<OwnedFd, Errno> {
    let relative = if relative.as_os_str().is_empty() { Path::new(".") } else { relative };
    if !is_usable_path(relative) {
        return Err(Errno::NOENT);
    }
    let start = File::from(folder.try_clone()?);
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(FILE_FLAG_BACKUP_SEMANTICS);
    unless_in_use(|| Ok(cap_primitives::fs::open(&start, relative, &options)?.into()))
}

/// Returns a handle of the object at `path`, like [`Jail::locate`] but anywhere.
pub(crate) fn locate_anywhere(path: &Path) -> Result<OwnedFd, Errno> {
    open_anywhere(path)
}

/// Opens `path` for reading, like [`Jail::open`] but anywhere.
pub(crate) fn open_anywhere(path: &Path) -> Result<OwnedFd, Errno> {
    use std::os::windows::fs::OpenOptionsExt as _;
    let name = path.file_name().map_or(Path::new(""), Path::new);
    if !is_usable_path(name) {
        return Err(Errno::NOENT);
    }
    let file = std::fs::OpenOptions::new().read(true).custom_flags(FILE_FLAG_BACKUP_SEMANTICS).open(path)?;
    Ok(file.into())
}
