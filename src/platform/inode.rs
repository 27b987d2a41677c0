//! Device and inode number: the identity that distinguishes a file from a replacement.

use std::fs::{DirEntry, Metadata};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::files::{AsFd, FileType, Stat, fstat, lstat, stat};

/// The identity of a file, independent of its name. It is valid as long as the file exists: the
/// number may be reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct InodeIdentity {
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

impl InodeIdentity {
    #[allow(clippy::unnecessary_cast, reason = "the types of the fields differ between systems")]
    pub(crate) fn from_stat(stat: &Stat) -> Self {
        Self { device: stat.st_dev as u64, inode: stat.st_ino as u64 }
    }

    /// Returns the identity of an open file or folder; `None` if the system does not report it.
    pub(crate) fn of(open: impl AsFd) -> Option<Self> {
        fstat(open).ok().as_ref().map(Self::from_stat)
    }

    /// Returns the identity of the target of `path`; links are followed.
    ///
    /// # Errors
    /// The system cannot read it.
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        Ok(Self::from_stat(&stat(path)?))
    }

    /// Like [`read`](Self::read); `None` if it cannot be read.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        Self::read(path).ok()
    }

    /// Returns the identity of the object at `path`; a link is not followed. `None` if there is
    /// none.
    pub(crate) fn at_name(path: &Path) -> Option<Self> {
        lstat(path).ok().as_ref().map(Self::from_stat)
    }

    /// Returns the identity of the folder at `path`; links are followed. `None` if it is not a
    /// folder.
    pub(crate) fn of_folder(path: &Path) -> Option<Self> {
        stat(path).ok().as_ref().and_then(Self::from_folder)
    }

    /// Like [`of_folder`](Self::of_folder), but `None` for a link.
    pub(crate) fn of_real_folder(path: &Path) -> Option<Self> {
        lstat(path).ok().as_ref().and_then(Self::from_folder)
    }

    fn from_folder(stat: &Stat) -> Option<Self> {
        (FileType::from_raw_mode(stat.st_mode) == FileType::Directory).then(|| Self::from_stat(stat))
    }
}

/// Returns a number that is unique among the entries of a folder.
pub(crate) fn number_of(entry: &DirEntry) -> u64 {
    #[cfg(unix)]
    return std::os::unix::fs::DirEntryExt::ino(entry);
    #[cfg(windows)]
    return InodeIdentity::at_name(&entry.path()).map_or(0, |identity| identity.inode);
}

/// The parts of a file's metadata that differ after each change of it, as far as the system has
/// them.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct ChangeMarks {
    /// The time of the last change of the content: seconds and nanoseconds since 1970.
    modified: (i64, i64),
    /// The time of the last change of any kind, in the same form.
    changed: (i64, i64),
    inode: u64,
}

impl ChangeMarks {
    #[cfg(unix)]
    pub(crate) fn new(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self {
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
        }
    }

    /// The time of creation stands for the number, which a listing does not have.
    #[cfg(windows)]
    pub(crate) fn new(metadata: &Metadata) -> Self {
        use std::os::windows::fs::MetadataExt;
        let modified = super::windows::files::unix_time(metadata.last_write_time());
        Self { modified, changed: modified, inode: metadata.creation_time() }
    }

    /// The time of the last change of any kind.
    pub(crate) fn changed(&self) -> SystemTime {
        UNIX_EPOCH + Duration::new(self.changed.0.max(0) as u64, self.changed.1.max(0) as u32)
    }
}
