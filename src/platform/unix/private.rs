//! Private folders and files of the product, which only their user can enter and read, regardless
//! of the umask.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use crate::platform::user::{PrivateFolderKind, is_own};

/// The permissions of all but the owner.
const GROUP_OTHER_MODE_MASK: u32 = 0o077;
/// The bits that let others add content.
const GROUP_OTHER_WRITE_MASK: u32 = 0o022;
const PRIVATE_FOLDER_MODE: u32 = 0o700;
const PRIVATE_FILE_MODE: u32 = 0o600;

/// A folder is not its user's alone and cannot be made so.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PrivateError {
    /// The folder or file belongs to another user.
    #[error(
        "{} belongs to another user, so it is not used; set {variable} to a folder of your own",
        path.display()
    )]
    Foreign {
        /// The folder.
        path: PathBuf,
        /// The variable that names another folder.
        variable: &'static str,
    },
    /// Others may have added files to the folder.
    #[error(
        "other users can write to {0}, so its content may not be yours; review it, then run: chmod -R go-rwx '{0}'",
        path.display()
    )]
    Open {
        /// The folder.
        path: PathBuf,
    },
    /// The system refused.
    #[error("{} cannot be made private: {source}", path.display())]
    Io {
        /// The folder or file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// Ensures that the folder at `path`, if it exists, is its user's alone. A folder that others can
/// only read is closed, with all files in it that an earlier version or a careless copy left open.
/// `variable` names another folder.
///
/// # Errors
/// The folder belongs to another user, others can write state, or the system refuses.
pub(crate) fn ensure_folder_private(
    path: &Path,
    holds: PrivateFolderKind,
    variable: &'static str,
) -> Result<(), PrivateError> {
    let failed = |source| PrivateError::Io { path: path.to_owned(), source };
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    if !is_own(&metadata) {
        let of_all =
            holds == PrivateFolderKind::Programs && metadata.uid() == 0 && !is_writable_by_others(&metadata);
        return if of_all { Ok(()) } else { Err(PrivateError::Foreign { path: path.to_owned(), variable }) };
    }
    if !is_open_to_others(&metadata) {
        return Ok(());
    }
    let holds_any = || fs::read_dir(path).map(|mut entries| entries.next().is_some());
    if holds == PrivateFolderKind::State && is_writable_by_others(&metadata) && holds_any().map_err(failed)? {
        return Err(PrivateError::Open { path: path.to_owned() });
    }
    // The folder's content comes last, so that an interrupted repair is repeated.
    let depth = if holds == PrivateFolderKind::Programs { 2 } else { usize::MAX };
    close_below(path, depth)?;
    restrict_folder(path, &metadata).map_err(failed)
}

/// Removes the permissions of others from everything below `folder`, `depth` levels deep. Links are
/// not followed.
fn close_below(folder: &Path, depth: usize) -> Result<(), PrivateError> {
    let mut waiting = vec![(folder.to_owned(), depth)];
    while let Some((folder, depth)) = waiting.pop() {
        let failed = |source| PrivateError::Io { path: folder.clone(), source };
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            // Another process of ours may have removed it in between.
            let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
            if metadata.is_symlink() || !is_own(&metadata) {
                continue;
            }
            match restrict_folder(&path, &metadata) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(PrivateError::Io { path, source: error });
                }
                _ => {}
            }
            if metadata.is_dir() && depth > 1 {
                waiting.push((path, depth - 1));
            }
        }
    }
    Ok(())
}

fn restrict_folder(path: &Path, metadata: &fs::Metadata) -> io::Result<()> {
    without_others(metadata).map_or(Ok(()), |owners| fs::set_permissions(path, owners))
}

/// Returns the permissions without those of others; `None` if others have none already.
fn without_others(metadata: &fs::Metadata) -> Option<Permissions> {
    let owners = metadata.mode() & 0o7777 & !GROUP_OTHER_MODE_MASK;
    is_open_to_others(metadata).then(|| Permissions::from_mode(owners))
}

/// Returns true if another user can write to the file or folder.
pub(crate) fn is_writable_by_others(metadata: &fs::Metadata) -> bool {
    metadata.mode() & GROUP_OTHER_WRITE_MASK != 0
}

/// Returns true if another user can do anything with the file or folder.
pub(crate) fn is_open_to_others(metadata: &fs::Metadata) -> bool {
    metadata.mode() & GROUP_OTHER_MODE_MASK != 0
}

/// Creates the folder at `path`, which must not exist, for the user alone.
///
/// # Errors
/// The system refuses.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(PRIVATE_FOLDER_MODE).create(path)
}

/// Creates the folder at `path` with those above it, if it does not exist, for the user alone. An
/// existing one that others can enter is closed.
///
/// # Errors
/// The system refuses, the folder belongs to another user, or others can write to it.
pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(PRIVATE_FOLDER_MODE).create(path)?;
    let metadata = fs::metadata(path)?;
    if !is_own(&metadata) {
        return Err(io::Error::new(ErrorKind::PermissionDenied, "it belongs to another user"));
    }
    if is_writable_by_others(&metadata) {
        let error = PrivateError::Open { path: path.to_owned() };
        return Err(io::Error::new(ErrorKind::PermissionDenied, error));
    }
    restrict_folder(path, &metadata)
}

/// Returns options for a file of our own: private if it is created, never a link, and never
/// blocking.
pub(crate) fn open_options() -> OpenOptions {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let mut options = OpenOptions::new();
    options.mode(PRIVATE_FILE_MODE).custom_flags(flags.bits().cast_signed());
    options
}

/// Returns options for a file that a person names: private if it is created. A link is followed, and
/// a FIFO blocks.
pub(crate) fn open_options_through_links() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(PRIVATE_FILE_MODE);
    options
}

/// Opens the file at `path` with such [`open_options`], and removes the permissions of others from
/// an existing one.
///
/// # Errors
/// The system refuses.
pub(crate) fn open(options: &OpenOptions, path: &Path) -> io::Result<File> {
    let file = options.open(path)?;
    restrict(&file)?;
    Ok(file)
}

/// Removes the permissions of others from an open regular file, if it is ours.
///
/// # Errors
/// The system refuses.
fn restrict(file: &File) -> io::Result<()> {
    let metadata = file.metadata()?;
    match without_others(&metadata).filter(|_| metadata.is_file() && is_own(&metadata)) {
        Some(owners) => file.set_permissions(owners),
        None => Ok(()),
    }
}

/// Writes a file for the user alone, in place of its old content.
///
/// # Errors
/// The system refuses.
pub(crate) fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    open(open_options().write(true).create(true).truncate(true), path)?.write_all(content)
}

/// The flags that open a folder, and nothing through a link.
const REAL_FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Opens the folder `name` in `above` after making it readable and writable for the user.
///
/// # Errors
/// The object is not a folder, or belongs to another user.
pub(crate) fn open_with_all_rights(above: BorrowedFd<'_>, name: &OsStr) -> io::Result<OwnedFd> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;
        let place = rustix::fs::openat(above, name, REAL_FOLDER | OFlags::PATH, Mode::empty())?;
        // By its descriptor, which no link can replace.
        let own = PathBuf::from(format!("/proc/self/fd/{}", place.as_raw_fd()));
        fs::set_permissions(own, Permissions::from_mode(PRIVATE_FOLDER_MODE))?;
        Ok(rustix::fs::openat(&place, c".", REAL_FOLDER, Mode::empty())?)
    }
    #[cfg(not(target_os = "linux"))]
    {
        rustix::fs::chmodat(above, name, Mode::RWXU, rustix::fs::AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(rustix::fs::openat(above, name, REAL_FOLDER, Mode::empty())?)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    fn set(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn private_folder_and_file_get_modes_0700_and_0600() {
        let base = tempfile::tempdir().unwrap();
        let folder = base.path().join("a/b");
        make_folder(&folder).unwrap();
        assert_eq!((mode(&folder), mode(&base.path().join("a"))), (0o700, 0o700));
        set(&folder, 0o755);
        make_folder(&folder).unwrap();
        let file = folder.join("f");
        write(&file, b"one").unwrap();
        assert_eq!((mode(&folder), mode(&file)), (0o700, 0o600));
        set(&file, 0o644);
        open(open_options().append(true), &file).unwrap();
        assert_eq!(mode(&file), 0o600);
        set(&folder, 0o770);
        assert!(make_folder(&folder).unwrap_err().to_string().starts_with("other users can write to "));
    }

    #[test]
    fn guard_closes_state_folder_recursively_without_following_links() {
        let base = tempfile::tempdir().unwrap();
        let (state, outside) = (base.path().join("state"), base.path().join("outside"));
        fs::create_dir_all(state.join("log/deep")).unwrap();
        for file in [&outside, &state.join("log/deep/f")] {
            fs::write(file, "").unwrap();
            set(file, 0o644);
        }
        symlink(&outside, state.join("link")).unwrap();
        for folder in ["log/deep", "log", "."] {
            set(&state.join(folder), 0o755);
        }
        ensure_folder_private(&state, PrivateFolderKind::State, "THERE").unwrap();
        let modes = ["", "log", "log/deep", "log/deep/f"].map(|path| mode(&state.join(path)));
        assert_eq!(modes, [0o700, 0o700, 0o700, 0o600]);
        assert_eq!(mode(&outside), 0o644);
        ensure_folder_private(&base.path().join("none"), PrivateFolderKind::State, "THERE").unwrap();
    }

    #[test]
    fn installed_programs_keep_their_modes_below_a_closed_folder() {
        let data = tempfile::tempdir().unwrap();
        let program = data.path().join("servers/one/1/bin/program");
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        fs::write(&program, "").unwrap();
        set(&program, 0o755);
        for folder in ["servers/one", "servers", "."] {
            set(&data.path().join(folder), 0o775);
        }
        ensure_folder_private(data.path(), PrivateFolderKind::Programs, "THERE").unwrap();
        let modes = ["", "servers", "servers/one"].map(|path| mode(&data.path().join(path)));
        assert_eq!(modes, [0o700; 3]);
        assert_eq!(mode(&program), 0o755);
    }

    #[test]
    fn state_folder_writable_by_others_is_refused() {
        let state = tempfile::tempdir().unwrap();
        set(state.path(), 0o775);
        ensure_folder_private(state.path(), PrivateFolderKind::State, "THERE").unwrap();
        assert_eq!(mode(state.path()), 0o700, "nobody has put anything there");
        fs::write(state.path().join("f"), "").unwrap();
        set(state.path(), 0o775);
        let error =
            ensure_folder_private(state.path(), PrivateFolderKind::State, "THERE").unwrap_err().to_string();
        assert!(error.contains("other users can write to") && error.contains("chmod -R go-rwx"), "{error}");
    }
}
