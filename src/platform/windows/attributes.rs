//! Attributes of objects, in the fields of stat(2), and the flags of opening them.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;

use cap_primitives::fs::{_WindowsByHandle as _, Metadata, MetadataExt as _};

use super::errno::Result;

/// Permits handles of folders (`CreateFileW`).
pub(super) const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;
/// Opens a link itself.
pub(super) const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;

/// Opens the object at `path` to read its attributes alone.
pub(super) fn open_to_inspect(path: impl AsRef<Path>, flags: u32) -> io::Result<File> {
    OpenOptions::new().access_mode(0).custom_flags(FILE_FLAG_BACKUP_SEMANTICS | flags).open(path)
}

/// The type of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(dead_code, reason = "Unix has more types of files")]
pub(crate) enum FileType {
    RegularFile,
    Directory,
    Symlink,
    Fifo,
    Socket,
    CharacterDevice,
    BlockDevice,
    Unknown,
}

const KIND: u32 = 0o170_000;
const KIND_FILE: u32 = 0o100_000;
const KIND_FOLDER: u32 = 0o040_000;
const KIND_LINK: u32 = 0o120_000;

impl FileType {
    pub(crate) fn from_raw_mode(mode: u32) -> Self {
        match mode & KIND {
            KIND_FILE => Self::RegularFile,
            KIND_FOLDER => Self::Directory,
            KIND_LINK => Self::Symlink,
            _ => Self::Unknown,
        }
    }

    pub(crate) fn is_file(self) -> bool {
        self == Self::RegularFile
    }
}

/// Attributes of an object. Owner and group are 0, and the time of the last change of any kind is
/// that of the content.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stat {
    pub(crate) st_dev: u64,
    pub(crate) st_ino: u64,
    pub(crate) st_mode: u32,
    pub(crate) st_nlink: u64,
    pub(crate) st_uid: u32,
    pub(crate) st_gid: u32,
    pub(crate) st_size: i64,
    pub(crate) st_mtime: i64,
    pub(crate) st_mtime_nsec: i64,
    pub(crate) st_ctime: i64,
    pub(crate) st_ctime_nsec: i64,
}

impl Stat {
    /// Reads the attributes of an open object.
    ///
    /// # Errors
    /// The system refuses.
    pub(super) fn of(open: &File) -> Result<Self> {
        Ok(Self::new(&Metadata::from_file(open)?))
    }

    pub(super) fn new(metadata: &Metadata) -> Self {
        let kind = kind_of(metadata);
        let permissions = match (kind, metadata.permissions().readonly()) {
            (KIND_FOLDER | KIND_LINK, _) => 0o777,
            (_, true) => 0o444,
            (_, false) => 0o666,
        };
        let (seconds, nanoseconds) = unix_time(metadata.last_write_time());
        Self {
            st_dev: metadata.volume_serial_number().unwrap_or(0).into(),
            st_ino: metadata.file_index().unwrap_or(0),
            st_mode: kind | permissions,
            st_nlink: metadata.number_of_links().unwrap_or(1).into(),
            st_uid: 0,
            st_gid: 0,
            st_size: metadata.file_size().cast_signed(),
            st_mtime: seconds,
            st_mtime_nsec: nanoseconds,
            st_ctime: seconds,
            st_ctime_nsec: nanoseconds,
        }
    }
}

fn kind_of(metadata: &Metadata) -> u32 {
    match () {
        () if metadata.is_symlink() => KIND_LINK,
        () if metadata.is_dir() => KIND_FOLDER,
        () if metadata.is_file() => KIND_FILE,
        () => 0,
    }
}

/// Converts a time of the file system (100 ns since 1601) to seconds and nanoseconds since 1970.
pub(crate) fn unix_time(ticks: u64) -> (i64, i64) {
    const TICKS_PER_SECOND: i64 = 10_000_000;
    const SECONDS_UNTIL_1970: i64 = 11_644_473_600;
    let ticks = ticks.cast_signed();
    (ticks / TICKS_PER_SECOND - SECONDS_UNTIL_1970, ticks % TICKS_PER_SECOND * 100)
}
