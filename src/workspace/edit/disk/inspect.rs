//! The object at a path: identity, metadata and content, for comparison, change and restoration.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::locate::FolderHandle;
use crate::platform::files::{
    Access, AsFd, AtFlags, Errno, FileType, Mode, OFlags, OwnedFd, Stat, accessat, entries, fstat, openat,
    readlinkat, statat, to_errno,
};
use crate::platform::inode::InodeIdentity;
use crate::platform::jail::READ;
use crate::platform::xattr;
use crate::workspace::edit::ContentHash;
use crate::workspace::read::FileStamp;

/// The number of attempts to read a file that changes while it is read.
const MAX_SURVEY_READ_ATTEMPTS: usize = 4;

/// The object at a place.
#[derive(Debug, Clone)]
pub(crate) enum SeenObject {
    Absent,
    File(SeenFile),
    Directory(InodeIdentity),
    Link(SeenLink),
    Special(&'static str),
}

#[derive(Debug, Clone)]
pub(crate) struct SeenFile {
    pub(crate) identity: InodeIdentity,
    pub(crate) stamp: FileStamp,
    /// The number of its names.
    pub(crate) names: u64,
    pub(crate) metadata: FileMetadata,
    /// True if the user may write to it.
    pub(crate) writable: bool,
    /// `None` if it is larger than the limit.
    pub(crate) content: Option<SeenContent>,
}

#[derive(Debug, Clone)]
pub(crate) struct SeenContent {
    pub(crate) bytes: Arc<[u8]>,
    pub(crate) hash: ContentHash,
}

#[derive(Debug, Clone)]
pub(crate) struct SeenLink {
    pub(crate) identity: InodeIdentity,
    pub(crate) target: Vec<u8>,
}

/// The attributes of a file beside its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileMetadata {
    /// The permission bits, set-id bits and sticky bit.
    pub(crate) mode: u32,
    pub(crate) user: u32,
    pub(crate) group: u32,
    pub(crate) attributes: Vec<xattr::Attribute>,
}

/// Inspects `name` in `folder`; links are not followed. The content of a file larger than `limit`
/// bytes is left out.
pub(crate) fn inspect_object(folder: &FolderHandle, name: &OsStr, limit: u64) -> Result<SeenObject, Errno> {
    let stat = match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(SeenObject::Absent),
        Err(errno) => return Err(errno),
    };
    Ok(match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {
            inspect_file(folder, name, limit)?.map_or(SeenObject::Absent, SeenObject::File)
        }
        FileType::Directory => SeenObject::Directory(InodeIdentity::from_stat(&stat)),
        FileType::Symlink => {
            // An object that is no longer a link is an invalid argument.
            let gone = |errno| if errno == Errno::INVAL { Errno::STALE } else { errno };
            let target = readlinkat(folder, name, Vec::new()).map_err(gone)?.into_bytes();
            SeenObject::Link(SeenLink { identity: InodeIdentity::from_stat(&stat), target })
        }
        FileType::Fifo => SeenObject::Special("a named pipe (FIFO)"),
        FileType::Socket => SeenObject::Special("a socket"),
        FileType::CharacterDevice | FileType::BlockDevice => SeenObject::Special("a device"),
        FileType::Unknown => SeenObject::Special("of an unknown kind"),
    })
}

/// Reads the regular file `name` until it stays unchanged; `None` if it no longer exists.
fn inspect_file(folder: &FolderHandle, name: &OsStr, limit: u64) -> Result<Option<SeenFile>, Errno> {
    for _ in 0..MAX_SURVEY_READ_ATTEMPTS {
        let fd = match openat(folder, name, READ | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(fd) => fd,
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(errno),
        };
        let before = fstat(&fd)?;
        if FileType::from_raw_mode(before.st_mode) != FileType::RegularFile {
            return Err(Errno::STALE);
        }
        let metadata = FileMetadata::from_fd(&fd, &before)?;
        let stamp = FileStamp::from_stat(&before);
        let content = if stamp.size > limit { None } else { read(&fd, limit)? };
        if FileStamp::from_stat(&fstat(&fd)?) == stamp {
            let identity = InodeIdentity::from_stat(&before);
            #[allow(clippy::unnecessary_cast)] // field types differ between systems
            let names = before.st_nlink as u64;
            let writable = accessat(folder, name, Access::WRITE_OK, AtFlags::EACCESS).is_ok();
            return Ok(Some(SeenFile { identity, stamp, names, metadata, writable, content }));
        }
    }
    Err(Errno::STALE)
}

fn read(fd: &OwnedFd, limit: u64) -> Result<Option<SeenContent>, Errno> {
    let file = File::from(fd.try_clone().map_err(to_errno)?);
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(to_errno)?;
    if bytes.len() as u64 > limit {
        return Ok(None);
    }
    let hash = ContentHash::compute(&bytes);
    Ok(Some(SeenContent { bytes: Arc::from(bytes), hash }))
}

/// The names in `folder`, sorted.
pub(super) fn names_in(folder: &FolderHandle) -> Result<Vec<OsString>, Errno> {
    let names: Result<Vec<_>, Errno> = entries(folder)?.map(|entry| entry.map(|(name, _)| name)).collect();
    let mut names = names?;
    names.sort_unstable();
    Ok(names)
}

/// Returns the identity of the object `name` in `folder`, of any kind; `None` if there is none.
pub(crate) fn identity_at(folder: &FolderHandle, name: &OsStr) -> Result<Option<InodeIdentity>, Errno> {
    match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(InodeIdentity::from_stat(&stat))),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno),
    }
}

impl FileMetadata {
    fn from_fd(fd: impl AsFd, stat: &Stat) -> Result<Self, Errno> {
        #[allow(clippy::unnecessary_cast)] // field types differ between systems
        let mode = stat.st_mode as u32 & 0o7777;
        Ok(Self { mode, user: stat.st_uid, group: stat.st_gid, attributes: xattr::read_all(fd)? })
    }
}
