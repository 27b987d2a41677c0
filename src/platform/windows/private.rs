//! Private folders and files of the product. They lie in the profile of their user, which Windows
//! opens only to the user and to administrators.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;

use super::attributes::FILE_FLAG_OPEN_REPARSE_POINT;
use super::files::{BorrowedFd, Mode, OFlags, OwnedFd, openat};
use crate::platform::user::PrivateFolderKind;

/// A folder is not its user's alone. Not known here.
#[derive(Debug, thiserror::Error)]
#[error("")]
pub(crate) enum PrivateError {}

/// Does nothing: the profile is its user's alone.
pub(crate) fn ensure_folder_private(
    _: &Path,
    _: PrivateFolderKind,
    _: &'static str,
) -> Result<(), PrivateError> {
    Ok(())
}

/// Returns false: the rights of others are not known.
pub(crate) fn is_writable_by_others(_: &fs::Metadata) -> bool {
    false
}

/// Returns false: the rights of others are not known.
pub(crate) fn is_open_to_others(_: &fs::Metadata) -> bool {
    false
}

/// Creates the folder at `path`, which must not exist.
///
/// # Errors
/// The system refuses.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

/// Creates the folder at `path` with those above it, if it does not exist.
///
/// # Errors
/// The system refuses.
pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

/// Returns options for a file of our own, which is never a link.
pub(crate) fn open_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT);
    options
}

/// Returns options for a file that a person names. A link is followed.
pub(crate) fn open_options_through_links() -> OpenOptions {
    OpenOptions::new()
}

/// Opens the file at `path`.
///
/// # Errors
/// The system refuses.
pub(crate) fn open(options: &OpenOptions, path: &Path) -> io::Result<File> {
    options.open(path)
}

/// Writes a file in place of its old content.
///
/// # Errors
/// The system refuses.
pub(crate) fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    open_options().write(true).create(true).truncate(true).open(path)?.write_all(content)
}

/// Opens the folder `name` in `above`.
///
/// # Errors
/// The object is not a folder.
pub(crate) fn open_with_all_rights(above: BorrowedFd<'_>, name: &OsStr) -> io::Result<OwnedFd> {
    Ok(openat(above, name, OFlags::DIRECTORY, Mode::empty())?)
}
