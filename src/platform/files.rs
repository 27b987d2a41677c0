//! Files and folders in the terms of POSIX: openat(2) and the related functions.
//!
//! Unix has these functions. `windows/files.rs` gives Windows functions of the same names and errors,
//! as far as its file systems can do the same.

#[cfg(unix)]
use std::fs::File;
use std::io;
#[cfg(unix)]
use std::path::Path;

#[cfg(windows)]
pub(crate) use super::windows::files::*;

#[cfg(unix)]
pub(crate) use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
#[cfg(unix)]
pub(crate) use std::os::unix::fs::symlink;

#[cfg(unix)]
pub(crate) use rustix::fs::{
    Access, AtFlags, CWD, FileType, Gid, Mode, OFlags, RenameFlags, Stat, Uid, accessat, fchmod, fchown,
    fstat, fsync, linkat, lstat, mkdirat, open, openat, readlinkat, renameat, renameat_with, stat, statat,
    symlinkat, unlinkat,
};
#[cfg(unix)]
pub(crate) use rustix::io::{Errno, Result};

#[cfg(all(test, unix))]
pub(crate) use {
    rustix::fs::{XattrFlags, getxattr, makedev, mkfifoat, mknodat, setxattr},
    std::os::fd::AsRawFd,
    std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, chown},
};

/// The names in the open `folder`, without `.` and `..`, each with its type as the folder has it:
/// some file systems do not say it.
///
/// # Errors
/// The folder cannot be read. An item is an error if reading ends early.
#[cfg(unix)]
pub(crate) fn entries(
    folder: impl AsFd,
) -> Result<impl Iterator<Item = Result<(std::ffi::OsString, FileType)>>> {
    use std::os::unix::ffi::OsStrExt;
    let entries = rustix::fs::Dir::read_from(folder)?;
    let entry = |entry: rustix::fs::DirEntry| {
        let name = std::ffi::OsStr::from_bytes(entry.file_name().to_bytes());
        (name != "." && name != "..").then(|| (name.to_owned(), entry.file_type()))
    };
    Ok(entries.filter_map(move |found| found.map(entry).transpose()))
}

/// Converts an error of the standard library.
pub(crate) fn to_errno(error: io::Error) -> Errno {
    Errno::from_io_error(&error).unwrap_or(Errno::IO)
}

/// Sets the permissions of an open file as chmod(2) does, as far as the system has them.
///
/// # Errors
/// The system refuses.
#[cfg(unix)]
pub(crate) fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode))
}

/// Fills `buffer` with the bytes of `file` at `offset`.
///
/// # Errors
/// The file is shorter, or cannot be read.
#[cfg(unix)]
pub(crate) fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

/// Syncs the names in the folder at `path` to the disk.
///
/// # Errors
/// The system refuses.
#[cfg(unix)]
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Returns true if the file is a socket.
#[cfg(unix)]
pub(crate) fn is_socket(metadata: &std::fs::Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_socket(&metadata.file_type())
}

/// Returns true if an object was not removed because a program has it open. Unix removes its name.
#[cfg(unix)]
pub(crate) fn is_in_use(_: Errno) -> bool {
    false
}

/// True if a process may read a file that another one has locked.
pub(crate) const CAN_READ_LOCKED_FILES: bool = cfg!(unix);
