//! Removal of unused caches of commands. They are identified by the root that they were made for,
//! and removed regardless of their content.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::platform::OsStrExt;
use crate::platform::files::{
    AsFd, AtFlags, BorrowedFd, CWD, Errno, FileType, Mode, OFlags, OwnedFd, entries, openat, renameat,
    unlinkat,
};
use crate::platform::private;

/// The file with the path of the workspace's root, written on each day with a command.
const ROOT: &str = "root";
/// The extension of folders that are being removed.
const DEBRIS: &str = "gone";
const CACHE_CLEANUP_INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);
/// The time after which caches that no command uses are removed.
const UNUSED_CACHE_TTL: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// The depth of open folders. Deeper folders are moved up first, so that a command cannot exhaust
/// the open files.
const MAX_CACHE_REMOVAL_DEPTH: usize = 128;

/// Returns true on the first use in a day of the caches at `base`, which belong to the workspace at
/// `root`.
pub(super) fn begins_a_day(base: &Path, root: &Path) -> bool {
    let path = base.join(ROOT);
    if unused_for(&path).is_some_and(|unused| unused < CACHE_CLEANUP_INTERVAL) {
        return false;
    }
    if let Err(error) = private::write(&path, root.as_os_str().as_bytes()) {
        tracing::warn!("{} cannot be written: {error}", path.display());
    }
    true
}

fn unused_for(path: &Path) -> Option<Duration> {
    let written = fs::symlink_metadata(path).ok()?.modified().ok()?;
    // A time in the future counts as now.
    Some(SystemTime::now().duration_since(written).unwrap_or_default())
}

/// Removes caches in `commands` for workspaces that were deleted or not used for long, except
/// `kept`. If not `to_look`, it removes only folders that an ended process left half removed.
pub(super) fn clear(commands: &Path, kept: &Path, to_look: bool) {
    let Ok(listed) = fs::read_dir(commands) else { return };
    for path in listed.flatten().map(|entry| entry.path()).filter(|path| path != kept) {
        let debris = path.with_extension(DEBRIS);
        if path != debris {
            if !to_look || !is_stale_cache(&path) {
                continue;
            }
            // Renamed first, so that a new command for the workspace never finds half-removed
            // caches.
            if let Err(error) = fs::rename(&path, &debris) {
                tracing::warn!("{} cannot be removed: {error}", path.display());
                continue;
            }
        }
        match remove(&debris) {
            Ok(()) => tracing::info!("removed the caches of commands in {}", path.display()),
            // Another process removes it at the same time.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => tracing::warn!("{} cannot be removed: {error}", debris.display()),
        }
    }
}

fn is_stale_cache(base: &Path) -> bool {
    let path = base.join(ROOT);
    let Ok(root) = fs::read(&path) else {
        // The folder is being created, unless that was long ago.
        return unused_for(base).is_some_and(|unused| unused > CACHE_CLEANUP_INTERVAL);
    };
    let root = PathBuf::from(OsStr::from_bytes(&root));
    let is_gone = fs::symlink_metadata(&root).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    is_gone || unused_for(&path).is_some_and(|unused| unused > UNUSED_CACHE_TTL)
}

/// A folder that is being emptied.
struct FolderRemovalLevel {
    folder: OwnedFd,
    /// The name in the parent folder.
    name: OsString,
    /// The remaining folders in it.
    folders: Vec<OsString>,
}

/// Removes the folder at `path` with its content. Links are not followed, and missing permissions
/// are added first.
fn remove(path: &Path) -> io::Result<()> {
    let (Some(above), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
    let above = openat(CWD, above, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let mut levels = vec![open_emptied(above.as_fd(), name)?];
    let mut brought = 0_u64;
    while let Some(depth) = levels.len().checked_sub(1) {
        let level = &mut levels[depth];
        let Some(next) = level.folders.pop() else {
            let done = levels.pop();
            let above = levels.last().map_or(above.as_fd(), |level| level.folder.as_fd());
            if let Some(done) = done {
                unlinkat(above, &done.name, AtFlags::REMOVEDIR)?;
            }
            continue;
        };
        if depth < MAX_CACHE_REMOVAL_DEPTH {
            let entered = open_emptied(level.folder.as_fd(), &next)?;
            levels.push(entered);
            continue;
        }
        let name = loop {
            brought += 1;
            let name = OsString::from(format!("{brought}.{DEBRIS}"));
            if levels[1].name != name && !levels[0].folders.contains(&name) {
                break name;
            }
        };
        renameat(&levels[depth].folder, &next, &levels[0].folder, &name)?;
        levels[0].folders.push(name);
    }
    Ok(())
}

/// Opens the folder `name` in `above` and removes its files.
fn open_emptied(above: BorrowedFd<'_>, name: &OsStr) -> io::Result<FolderRemovalLevel> {
    let folder = private::open_with_all_rights(above, name)?;
    let mut folders = Vec::new();
    for entry in entries(&folder)? {
        let (name, kind) = entry?;
        if kind == FileType::Directory {
            folders.push(name);
            continue;
        }
        match unlinkat(&folder, &name, AtFlags::empty()) {
            // Some file systems do not report the kind of an entry.
            Err(Errno::ISDIR) => folders.push(name),
            done => done?,
        }
    }
    Ok(FolderRemovalLevel { folder, name: name.to_owned(), folders })
}

#[cfg(all(test, unix))]
mod tests {
    use crate::platform::files::{PermissionsExt, mkdirat, openat, symlink};

    use super::*;

    fn made_for(commands: &Path, key: &str, root: &Path) -> PathBuf {
        let base = commands.join(key);
        fs::create_dir_all(base.join("own")).unwrap();
        assert!(begins_a_day(&base, root) && !begins_a_day(&base, root));
        base
    }

    #[test]
    fn caches_of_deleted_folders_are_removed_without_following_links() {
        let temp = tempfile::tempdir().unwrap();
        let (commands, outside) = (temp.path().join("commands"), temp.path().join("outside"));
        fs::create_dir_all(outside.join("kept")).unwrap();
        let gone = made_for(&commands, "a", &temp.path().join("no/such"));
        let here = made_for(&commands, "b", &outside);
        let new = commands.join("c");
        fs::create_dir_all(&new).unwrap();
        let shut = gone.join("own/go/pkg");
        fs::create_dir_all(&shut).unwrap();
        fs::write(shut.join("f"), "").unwrap();
        symlink(&outside, shut.join("link")).unwrap();
        for folder in [&shut, &gone.join("own/go")] {
            fs::set_permissions(folder, fs::Permissions::from_mode(0o500)).unwrap();
        }
        fs::create_dir_all(commands.join("e.gone/left")).unwrap();
        clear(&commands, &commands.join("d"), false);
        assert!(gone.exists() && !commands.join("e.gone").exists());
        clear(&commands, &commands.join("d"), true);
        assert!(!gone.exists() && !gone.with_extension(DEBRIS).exists());
        assert!(here.join("own").is_dir() && new.is_dir() && outside.join("kept").is_dir());
        fs::remove_dir(outside.join("kept")).unwrap();
        fs::remove_dir(&outside).unwrap();
        clear(&commands, &here, true);
        assert!(here.exists(), "it is in use");
    }

    /// The depth exceeds that of open folders.
    #[test]
    fn cache_folders_of_any_depth_are_removed() {
        let temp = tempfile::tempdir().unwrap();
        let top = temp.path().join("top");
        fs::create_dir(&top).unwrap();
        let mut folder = openat(CWD, &top, OFlags::DIRECTORY, Mode::empty()).unwrap();
        for _ in 0..5 * MAX_CACHE_REMOVAL_DEPTH {
            mkdirat(&folder, "d", Mode::RWXU).unwrap();
            folder = openat(&folder, "d", OFlags::DIRECTORY, Mode::empty()).unwrap();
        }
        remove(&top).unwrap();
        assert!(!top.exists());
    }

    #[test]
    fn caches_unused_past_ttl_are_removed() {
        let temp = tempfile::tempdir().unwrap();
        let commands = temp.path().join("commands");
        let old = made_for(&commands, "a", temp.path());
        let file = fs::File::options().write(true).open(old.join(ROOT)).unwrap();
        file.set_modified(SystemTime::now() - UNUSED_CACHE_TTL - CACHE_CLEANUP_INTERVAL).unwrap();
        clear(&commands, &commands.join("b"), true);
        assert!(!old.exists());
    }
}
