//! The single steps on the disk, each of them atomic even if the process is killed.
//!
//! A new content is staged in a temporary file beside its place and exchanged with the old one. The
//! old file stays available, with all its attributes, until the whole transaction is over. A write
//! to the old file between the comparison and the exchange is therefore noticed, and the exchange
//! reversed.

use std::ffi::OsStr;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::path::Path;

use super::inspect::{FileMetadata, SeenObject, identity_at, inspect_object, names_in};
use super::locate::FolderHandle;
use crate::platform::files::{
    AsFd, AtFlags, Errno, Gid, Mode, OFlags, RenameFlags, Uid, fchmod, fchown, fstat, fsync, linkat, mkdirat,
    openat, renameat_with, to_errno, unlinkat,
};
use crate::platform::inode::InodeIdentity;
use crate::platform::xattr;
use crate::workspace::edit::ContentHash;

/// The prefix of our own temporary files.
const TEMPORARY: &str = ".lsp-tools-tmp-";

const SETUID_SETGID_MASK: u32 = 0o6000;

/// The reasons why a step was not done; its partial effects are reversed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// Another program changed the file of the step.
    Changed,
    /// The system refused.
    System(Errno),
}

impl From<Errno> for Obstacle {
    fn from(errno: Errno) -> Self {
        match errno {
            // Names that were created or deleted, and folders that became links, since the
            // inspection.
            Errno::NOENT | Errno::EXIST | Errno::NOTDIR | Errno::LOOP | Errno::ISDIR | Errno::STALE => {
                Self::Changed
            }
            other => Self::System(other),
        }
    }
}

/// Returns an unused name for a temporary file.
pub(crate) fn temporary_name() -> String {
    format!("{TEMPORARY}{:016x}", RandomState::new().hash_one(std::process::id()))
}

/// Creates the file `temp` with `content` and `metadata`, and syncs it to the disk.
///
/// No other user can read it before it has its final mode. Without `metadata` it gets the defaults
/// of a new file, and may be executable.
pub(crate) fn stage(
    folder: &FolderHandle,
    temp: &str,
    content: &[u8],
    metadata: Option<&FileMetadata>,
    executable: bool,
) -> Result<(), Errno> {
    let mode = match metadata {
        Some(_) => 0o600,
        None if executable => 0o777,
        None => 0o666,
    };
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(openat(folder, temp, flags, Mode::from_raw_mode(mode))?);
    file.write_all(content).map_err(to_errno)?;
    if let Some(metadata) = metadata {
        apply_metadata(&file, metadata)?;
    }
    fsync(&file)
}

/// Applies `metadata` to a file of our own.
fn apply_metadata(file: impl AsFd, metadata: &FileMetadata) -> Result<(), Errno> {
    let stat = fstat(&file)?;
    let mut mode = metadata.mode;
    if (stat.st_uid, stat.st_gid) != (metadata.user, metadata.group) {
        let user = (stat.st_uid != metadata.user).then(|| Uid::from_raw(metadata.user));
        let group = (stat.st_gid != metadata.group).then(|| Gid::from_raw(metadata.group));
        // A user who may not give files away may still be allowed to keep the group.
        let kept =
            fchown(&file, user, group).is_ok() || (user.is_some() && fchown(&file, None, group).is_ok());
        let whole = kept && fstat(&file)?.st_uid == metadata.user;
        if !whole {
            // Rights of the former owner must not become ours.
            mode &= !SETUID_SETGID_MASK;
        }
    }
    xattr::write_all(&file, &metadata.attributes)?;
    fchmod(&file, Mode::from_raw_mode(mode as _))
}

/// Renames the staged `temp` to `name`, which must be free.
pub(super) fn put_new(folder: &FolderHandle, temp: &str, name: &OsStr) -> Result<(), Obstacle> {
    match renameat_with(folder, temp, folder, name, RenameFlags::NOREPLACE) {
        Err(errno) if is_unsupported(errno) => {
            linkat(folder, temp, folder, name, AtFlags::empty())?;
            Ok(unlinkat(folder, temp, AtFlags::empty())?)
        }
        other => Ok(other?),
    }
}

/// Exchanges the staged `temp` with `name`, which must be the file with this `identity` and `hash`.
/// Afterwards `temp` is the old file. If the file system cannot exchange, the old file is gone
/// instead.
pub(super) fn exchange(
    folder: &FolderHandle,
    temp: &str,
    name: &OsStr,
    identity: InodeIdentity,
    hash: ContentHash,
) -> Result<(), Obstacle> {
    // The number of the old file may be that of a newer one by now. An exchange would show our text
    // in its place for a moment, to a program that then goes on from it.
    if !is_file(folder, name, identity, hash)? {
        return Err(Obstacle::Changed);
    }
    let staged = identity_at(folder, temp.as_ref())?;
    match renameat_with(folder, temp, folder, name, RenameFlags::EXCHANGE) {
        Err(errno) if is_unsupported(errno) => {
            Ok(renameat_with(folder, temp, folder, name, RenameFlags::empty())?)
        }
        Err(errno) => Err(errno.into()),
        Ok(()) if is_file(folder, OsStr::new(temp), identity, hash)? => Ok(()),
        Ok(()) => {
            // If another program has already replaced our file, its version stays.
            if identity_at(folder, name)? == staged {
                renameat_with(folder, temp, folder, name, RenameFlags::EXCHANGE)?;
            }
            Err(Obstacle::Changed)
        }
    }
}

/// Returns true if `name` is the file with this identity and content.
pub(super) fn is_file(
    folder: &FolderHandle,
    name: &OsStr,
    identity: InodeIdentity,
    hash: ContentHash,
) -> Result<bool, Errno> {
    let same = |object: SeenObject| match object {
        SeenObject::File(file) => {
            file.identity == identity && file.content.is_some_and(|content| content.hash == hash)
        }
        _ => false,
    };
    inspect_object(folder, name, u64::MAX).map(same)
}

/// Renames without replacing anything.
pub(crate) fn rename(from: (&FolderHandle, &OsStr), to: (&FolderHandle, &OsStr)) -> Result<(), Obstacle> {
    match renameat_with(from.0, from.1, to.0, to.1, RenameFlags::NOREPLACE) {
        Err(errno) if is_unsupported(errno) => {
            if identity_at(to.0, to.1)?.is_some() {
                return Err(Obstacle::Changed);
            }
            Ok(renameat_with(from.0, from.1, to.0, to.1, RenameFlags::empty())?)
        }
        other => Ok(other?),
    }
}

/// Creates the folder `name`.
pub(super) fn make_dir(folder: &FolderHandle, name: &OsStr, mode: Option<u32>) -> Result<(), Errno> {
    mkdirat(folder, name, Mode::from_raw_mode(0o777))?;
    match mode {
        Some(mode) => fchmod(folder.open_subfolder(name)?, Mode::from_raw_mode(mode as _)),
        None => Ok(()),
    }
}

/// Removes `name` if it exists: a file, a link, or a folder with all its content.
pub(crate) fn remove(folder: &FolderHandle, name: &OsStr) -> Result<(), Errno> {
    match unlinkat(folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => return Ok(()),
        // The error for unlinking a folder differs between systems.
        Err(Errno::ISDIR | Errno::PERM) => {}
        Err(errno) => return Err(errno),
    }
    let inner = folder.open_subfolder(name)?;
    for entry in names_in(&inner)? {
        remove(&inner, &entry)?;
    }
    // Windows removes no folder that is open.
    drop(inner);
    unlinkat(folder, name, AtFlags::REMOVEDIR)
}

/// Removes the folder `name` if it exists and is empty; returns true if it was removed.
pub(crate) fn remove_empty(folder: &FolderHandle, name: &OsStr) -> Result<bool, Errno> {
    match unlinkat(folder, name, AtFlags::REMOVEDIR) {
        Ok(()) => Ok(true),
        Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => Ok(false),
        Err(errno) => Err(errno),
    }
}

/// Syncs the names in `folder` to the disk.
pub(super) fn sync_folder(folder: &FolderHandle) -> Result<(), Errno> {
    match fsync(folder) {
        // Some file systems have nothing to bring.
        Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
        other => other,
    }
}

fn is_unsupported(errno: Errno) -> bool {
    matches!(errno, Errno::INVAL | Errno::NOSYS | Errno::NOTSUP)
}

/// Returns true if a file of this name is a temporary file of a transaction.
pub(crate) fn is_temporary(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(TEMPORARY.as_bytes()))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;
    use crate::workspace::Workspace;
    use crate::workspace::edit::disk::locate::WorkspaceTree;

    #[test]
    fn newer_file_with_the_number_of_the_old_one_is_not_touched() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("shared"), "theirs").unwrap();
        std::fs::write(at("staged"), "ours").unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        let (handle, name) = WorkspaceTree::open(&workspace).folder_of("shared".as_ref()).unwrap();
        let identity = identity_at(&handle, name).unwrap().unwrap();
        let changed =
            |name| std::fs::metadata(at(name)).map(|found| (found.ctime(), found.ctime_nsec())).unwrap();
        let before = changed("shared");
        let old = ContentHash::compute(b"what was there with this number");
        assert_eq!(exchange(&handle, "staged", name, identity, old), Err(Obstacle::Changed));
        assert_eq!(std::fs::read_to_string(at("shared")).unwrap(), "theirs");
        assert_eq!(changed("shared"), before, "it was exchanged and exchanged back");
    }
}
