//! Text files with the stamp that they were read at, and the errors of reading them.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::path::escape_unprintable;
use super::{Workspace, WorkspacePath};
use crate::platform::files::{AsFd, Errno, FileType, OwnedFd, Stat, fstat};
use crate::platform::jail::{locate_anywhere, open_anywhere};

mod decode;
mod page;

pub(super) use decode::decode_utf16;
pub(crate) use page::{FilePage, PageQuery};

/// The largest file, in bytes, that [`Workspace::read_text`] reads: 64 MiB.
pub(crate) const DEFAULT_MAX_READ_BYTES: u64 = 64 * 1024 * 1024;

/// The number of attempts to read a file that changes while it is read.
const MAX_FILE_READ_ATTEMPTS: usize = 4;

/// The attributes that distinguish two states of a file without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct FileStamp {
    /// Length in bytes.
    pub(crate) size: u64,
    /// The time of the last change of its content, in nanoseconds since 1970; can be set by
    /// programs.
    pub(crate) mtime_ns: i64,
    /// The time of the last change of the file in any way, in nanoseconds since 1970; set by the
    /// kernel alone.
    pub(crate) ctime_ns: i64,
    /// The inode of the file; a replaced file has another one.
    pub(crate) inode: u64,
}

/// A text file as it was at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextFile {
    /// The text, line ends as in the file, without a byte order mark.
    pub text: String,
    /// The state of the file that contains `text`.
    pub(crate) stamp: FileStamp,
    /// True if the file begins with a UTF-8 byte order mark.
    pub(crate) bom: bool,
}

/// The byte order of UTF-16.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteOrder {
    /// The low byte first.
    Little,
    /// The high byte first.
    Big,
}

/// The reasons why a file could not be read as text. `path` is relative to the workspace and
/// printable.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The path does not exist, or no longer.
    #[error("`{path}` does not exist")]
    NotFound {
        /// The path.
        path: String,
    },
    /// A symbolic link on the way leads elsewhere.
    #[error("`{path}` leads out of the workspace through a symbolic link; only what lies inside can be read")]
    Outside {
        /// The path.
        path: String,
    },
    /// Symbolic links on the way lead in a circle.
    #[error("`{path}` cannot be followed: its symbolic links form a loop; remove or correct one of them")]
    LinkLoop {
        /// The path.
        path: String,
    },
    /// The path is longer than file systems allow.
    #[error("`{path}` is too long for the system, or one of its names is; give a shorter one")]
    TooLong {
        /// The path.
        path: String,
    },
    /// The path is a directory.
    #[error("`{path}` is a directory; give a file in it")]
    Directory {
        /// The path.
        path: String,
    },
    /// The path is not a directory, as the caller expected.
    #[error("`{path}` is not a directory; give the directory it lies in")]
    NotADirectory {
        /// The path.
        path: String,
    },
    /// The path is neither a file nor a directory.
    #[error("`{path}` is {kind}, not a regular file, and is never opened")]
    Special {
        /// The path.
        path: String,
        /// The kind of the object, with its article.
        kind: &'static str,
    },
    /// The file is larger than the limit.
    #[error("`{path}` has {}, more than the limit of {}; raise the limit or search in it instead", decode::ByteSize(*size), decode::ByteSize(*limit))]
    TooLarge {
        /// The path.
        path: String,
        /// Its length in bytes; the number of bytes read so far if the system does not know it.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The file is text in UTF-16.
    #[error("`{path}` seems to be UTF-16 ({}), not UTF-8; convert it to UTF-8", match order { ByteOrder::Little => "little endian", ByteOrder::Big => "big endian" })]
    Utf16 {
        /// The path.
        path: String,
        /// The byte order.
        order: ByteOrder,
    },
    /// The file contains NUL bytes.
    #[error("`{path}` is binary (a NUL byte at offset {offset}), not text")]
    Binary {
        /// The path.
        path: String,
        /// 0-based offset of the first NUL byte.
        offset: u64,
    },
    /// The file contains a byte that UTF-8 does not allow there.
    #[error(
        "`{path}` is not UTF-8 (byte 0x{byte:02X} at line {line}, column {column}; perhaps Latin-1 or Windows-1252); convert it to UTF-8"
    )]
    NotUtf8 {
        /// The path.
        path: String,
        /// The byte.
        byte: u8,
        /// 1-based line.
        line: u64,
        /// 1-based column in Unicode scalar values.
        column: u64,
    },
    /// Another program keeps writing to the file.
    #[error(
        "`{path}` changed each of the {MAX_FILE_READ_ATTEMPTS} times it was read; try again when it no longer changes"
    )]
    Changing {
        /// The path.
        path: String,
    },
    /// The deadline passed before the requested line was reached.
    #[error(
        "`{path}` is too large to reach that line in time; line {line} was reached: request an earlier one, or search in it"
    )]
    Late {
        /// The path.
        path: String,
        /// 1-based line that was reached.
        line: u64,
    },
    /// The file is hidden from the caller.
    #[error(
        "`{path}` may not be read: a rule forbids it; it can be changed under [permissions] in lsp-tools.toml"
    )]
    Hidden {
        /// The path.
        path: String,
    },
    /// The user may not read it.
    #[error("`{path}` may not be read: permission denied; change its mode or owner")]
    Denied {
        /// The path.
        path: String,
    },
    /// The system refused otherwise.
    #[error("`{path}` cannot be read: {source}")]
    Io {
        /// The path.
        path: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
}

impl ReadError {
    /// Returns the obstacle, for a sentence that names the file itself.
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::NotFound { .. } => "it is not there".to_owned(),
            Self::Outside { .. } => "it leads out of the workspace".to_owned(),
            Self::Special { kind, .. } => format!("it is {kind}"),
            Self::Directory { .. } => "it is a directory".to_owned(),
            Self::TooLarge { size, limit, .. } => {
                format!("it has {}, more than {}", decode::ByteSize(*size), decode::ByteSize(*limit))
            }
            other => other.to_string(),
        }
    }
}

impl FileStamp {
    pub(crate) fn from_stat(stat: &Stat) -> Self {
        // Field types differ between systems; sizes and inodes are never negative.
        #[allow(clippy::unnecessary_cast)] // a cast that one system needs is a no-op on another
        Self {
            size: stat.st_size as u64,
            mtime_ns: nanoseconds(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            ctime_ns: nanoseconds(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
            inode: stat.st_ino as u64,
        }
    }

    /// Returns the state of the object at `path`, links followed, inside or outside of a workspace;
    /// `None` if there is none. Nothing is opened.
    pub(crate) fn from_path(path: &Path) -> Option<Self> {
        crate::platform::files::stat(path).ok().map(|stat| Self::from_stat(&stat))
    }

    /// Returns the state of an open file; `None` if the system does not report it.
    pub(crate) fn of_file(file: &File) -> Option<Self> {
        fstat(file).ok().map(|stat| Self::from_stat(&stat))
    }

    /// Returns true if every change after `now` gives another stamp.
    ///
    /// File systems count time in ticks of up to some milliseconds. A file changed twice within one
    /// tick, its length kept, can therefore look unchanged. A stamp that was not settled when its
    /// text was read proves nothing when it is found again; the file must be read once more.
    pub(crate) fn is_settled(&self, now: SystemTime) -> bool {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let changed = Duration::from_nanos(self.ctime_ns.max(self.mtime_ns).max(0) as u64);
        changed + MAX_TIMESTAMP_GRANULARITY < now
    }
}

/// A time longer than any tick of a file system's clock.
pub(super) const MAX_TIMESTAMP_GRANULARITY: Duration = Duration::from_millis(20);

fn nanoseconds(seconds: i64, nanoseconds: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds)
}

impl Workspace {
    /// Returns the state of the regular file at `path` (links inside the workspace are followed).
    /// Takes microseconds.
    ///
    /// # Errors
    /// [`ReadError`] if it is missing, leads out, or is not a regular file.
    pub(crate) fn stamp(&self, path: &WorkspacePath) -> Result<FileStamp, ReadError> {
        self.check_name(path.as_path())?;
        let handle = self.jail().locate(path.as_path()).map_err(|errno| from_errno(path.display(), errno))?;
        self.check_opened(path.as_path(), &handle)?;
        stamp_of_regular(&handle, || path.display())
    }

    /// Returns the state of the folder at `path`, which changes with each new or removed entry;
    /// `None` if there is no folder. A single system call, since every warm answer waits for it;
    /// nothing in the folder is opened or revealed.
    pub(crate) fn folder_stamp(&self, path: &WorkspacePath) -> Option<FileStamp> {
        let stat = crate::platform::files::stat(self.absolute(path)).ok()?;
        (FileType::from_raw_mode(stat.st_mode) == FileType::Directory).then(|| FileStamp::from_stat(&stat))
    }

    /// Reads the text of the file at `path`, up to [`DEFAULT_MAX_READ_BYTES`].
    ///
    /// # Errors
    /// [`ReadError`]; its variant names the obstacle.
    pub fn read_text(&self, path: &WorkspacePath) -> Result<TextFile, ReadError> {
        self.read_text_up_to(path, DEFAULT_MAX_READ_BYTES)
    }

    /// Reads the text of the file at `path`, if it has no more than `limit` bytes.
    ///
    /// The stamp is of exactly this text: a file that changes while it is read is read again, a few
    /// times.
    ///
    /// # Errors
    /// [`ReadError`]; its variant names the obstacle.
    pub fn read_text_up_to(&self, path: &WorkspacePath, limit: u64) -> Result<TextFile, ReadError> {
        if let Some(text) = self.unsaved.get(path) {
            return Ok(TextFile { text: text.to_string(), stamp: self.stamp(path)?, bom: false });
        }
        let open = || {
            self.stamp(path)?;
            let fd = self.jail().open(path.as_path()).map_err(|errno| from_errno(path.display(), errno))?;
            self.check_opened(path.as_path(), &fd)?;
            Ok(fd)
        };
        let (bytes, stamp) = read_stable(open, &|| path.display(), limit)?;
        let (text, bom) = decode::decode(bytes, &|| path.display())?;
        Ok(TextFile { text, stamp, bom })
    }

    /// Checks that there is an object of any kind at `path`, inside the workspace.
    pub(super) fn check_inside(&self, path: &WorkspacePath) -> Result<(), ReadError> {
        self.jail().locate(path.as_path()).map(drop).map_err(|errno| from_errno(path.display(), errno))
    }

    /// Opens the file at `relative`, if it is a regular one; also returns its stamp.
    pub(crate) fn open_regular(&self, relative: &Path) -> Result<(File, FileStamp), ReadError> {
        let name = || WorkspacePath::new(relative.to_owned()).display();
        self.check_name(relative)?;
        let fd = self.jail().open(relative).map_err(|errno| from_errno(name(), errno))?;
        self.check_opened(relative, &fd)?;
        let stamp = stamp_of_regular(&fd, name)?;
        Ok((File::from(fd), stamp))
    }

    /// Reads the regular file at `relative`, even if it is hidden from the caller: for files that
    /// decide which others count, and that are not shown themselves.
    pub(super) fn read_rules(&self, relative: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        let name = || WorkspacePath::new(relative.to_owned()).display();
        let failed = |errno| from_errno(name(), errno);
        stamp_of_regular(self.jail().locate_known(relative).map_err(failed)?, name)?;
        let open = || self.jail().open(relative).map_err(failed);
        Ok(read_stable(open, &name, limit)?.0)
    }

    /// Opens the regular file at `absolute`, links followed, for reading; also returns its length.
    ///
    /// Other kinds of objects are not opened, and the call never blocks. This is the only way to
    /// read files at places where a project may have put something else.
    ///
    /// # Errors
    /// [`ReadError`], which names the file without its directories.
    pub(crate) fn open_outside(absolute: &Path) -> Result<(File, u64), ReadError> {
        let fd = regular_anywhere(absolute)?;
        let stamp = stamp_of_regular(&fd, || last_name(absolute))?;
        Ok((File::from(fd), stamp.size))
    }

    /// Reads the regular file at `absolute`, opened like in [`open_outside`](Self::open_outside),
    /// if it has no more than `limit` bytes.
    ///
    /// # Errors
    /// [`ReadError`], which names the file without its directories.
    pub(crate) fn read_bytes_outside(absolute: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        Ok(read_stable(|| regular_anywhere(absolute), &|| last_name(absolute), limit)?.0)
    }

    /// Reads the text of a file anywhere, such as a library's source in a language server's answer,
    /// if it is a regular UTF-8 file of no more than `limit` bytes; without its byte order mark.
    /// Only for showing lines of it.
    ///
    /// # Errors
    /// [`ReadError`], which names the file without its directories.
    pub(crate) fn read_outside(absolute: &Path, limit: u64) -> Result<String, ReadError> {
        Ok(decode::decode(Self::read_bytes_outside(absolute, limit)?, &|| last_name(absolute))?.0)
    }
}

fn last_name(absolute: &Path) -> String {
    escape_unprintable(absolute.file_name().unwrap_or(absolute.as_os_str()))
}

/// Opens the object at `absolute` once it is known to be a regular file.
fn regular_anywhere(absolute: &Path) -> Result<OwnedFd, ReadError> {
    let failed = |errno| from_errno(last_name(absolute), errno);
    stamp_of_regular(locate_anywhere(absolute).map_err(failed)?, || last_name(absolute))?;
    open_anywhere(absolute).map_err(failed)
}

/// Reads the file that `open` opens; also returns its stamp, which was the same before and after.
fn read_stable(
    open: impl Fn() -> Result<OwnedFd, ReadError>,
    name: &dyn Fn() -> String,
    limit: u64,
) -> Result<(Vec<u8>, FileStamp), ReadError> {
    for _ in 0..MAX_FILE_READ_ATTEMPTS {
        let fd = open()?;
        let before = stamp_of_regular(&fd, name)?;
        if before.size > limit {
            return Err(ReadError::TooLarge { path: name(), size: before.size, limit });
        }
        let file = File::from(fd);
        let mut bytes = Vec::with_capacity(before.size as usize + 1);
        // One byte more than allowed reveals a file that grew, or whose size the system does not
        // know.
        let failed = |source| ReadError::Io { path: name(), source };
        Read::take(&file, limit.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
        let after = stamp_of_regular(&file, name)?;
        if bytes.len() as u64 > limit {
            return Err(ReadError::TooLarge {
                path: name(),
                size: after.size.max(bytes.len() as u64),
                limit,
            });
        }
        // A file that was replaced or removed meanwhile has another ctime, since it lost a name.
        if before == after {
            return Ok((bytes, after));
        }
    }
    Err(ReadError::Changing { path: name() })
}

/// Returns the stamp of `handle`, if it is a regular file.
fn stamp_of_regular(handle: impl AsFd, name: impl Fn() -> String) -> Result<FileStamp, ReadError> {
    let stat = fstat(handle).map_err(|errno| from_errno(name(), errno))?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(FileStamp::from_stat(&stat)),
        FileType::Directory => Err(ReadError::Directory { path: name() }),
        other => Err(ReadError::Special { path: name(), kind: special_kind(other) }),
    }
}

/// Describes an object that is neither a file nor a directory, with its article.
pub(super) fn special_kind(kind: FileType) -> &'static str {
    match kind {
        FileType::Fifo => "a named pipe (FIFO)",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        _ => "of an unknown kind",
    }
}

pub(super) fn from_errno(path: String, errno: Errno) -> ReadError {
    match errno {
        Errno::NOENT | Errno::NOTDIR => ReadError::NotFound { path },
        Errno::XDEV => ReadError::Outside { path },
        Errno::LOOP => ReadError::LinkLoop { path },
        Errno::NAMETOOLONG => ReadError::TooLong { path },
        Errno::ACCESS | Errno::PERM => ReadError::Denied { path },
        // The errors on opening a socket; Linux has the first for devices, too.
        Errno::NXIO | Errno::OPNOTSUPP => {
            ReadError::Special { path, kind: "a socket or a device without a driver" }
        }
        other => ReadError::Io { path, source: other.into() },
    }
}

#[cfg(all(test, unix))]
mod tests;
