//! Small files in the user's state folder. They are readable by the user alone, replaced whole, and
//! changed by one process at a time.
//!
//! A file is replaced by a rename, so a reader sees either the old file or the new one and needs no
//! lock. A writer holds the folder's lock, so that values read before a change are still valid when
//! the change is made.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use parking_lot::{Condvar, Mutex};
use sha2::{Digest, Sha256};

use super::folders::Folders;
use crate::platform::files::sync_folder;
use crate::platform::{private, user};
use crate::text::hex;

mod held;

pub(crate) use held::HeldFile;

const LOCK: &str = ".lock";
const FRESH: &str = ".new";
const MAX_STATE_NAME_BYTES: usize = 128;
/// The maximum time for which another process may hold the lock; a change takes milliseconds.
const STATE_LOCK_TIMEOUT: Duration = Duration::from_secs(2);
/// The maximum time for all earlier waiters in this process together: a daemon has many clients,
/// and each change waits for the disk.
const STATE_QUEUE_TIMEOUT: Duration = Duration::from_secs(30);
/// The interval between attempts to take the lock: the kernel offers no wait with a timeout.
const STATE_LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// A folder below the user's state folder.
#[derive(Debug, Clone)]
pub(crate) struct StateFolder {
    path: PathBuf,
    /// The description of the content, for errors.
    what: &'static str,
}

/// The name of a file in a [`StateFolder`]: 1 to 128 bytes; letters, digits, spaces, `-`, `_` and
/// `.`. It does not begin with a dot or space.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StateName(String);

impl StateName {
    /// Returns `name` as a file name, if it is valid.
    pub(crate) fn new(name: &str) -> Option<Self> {
        let fits =
            |character: char| character.is_alphanumeric() || matches!(character, ' ' | '-' | '_' | '.');
        let whole = (1..=MAX_STATE_NAME_BYTES).contains(&name.len()) && name.chars().all(fits);
        (whole && !name.starts_with(['.', ' '])).then(|| Self(name.to_owned()))
    }

    /// Returns the name as text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// The reasons why a file of our own cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StateError {
    /// Other users could have changed the file.
    #[error(
        "the folder of {what} belongs to another user or is writable by others, so it is not used; run chmod go-w on it, or set LSP_TOOLS_STATE_DIR to a folder of your own"
    )]
    Open {
        /// The description of the content.
        what: &'static str,
    },
    /// Another process or thread holds the lock.
    #[error("other processes have been changing {what} for {} s or more; try again", STATE_LOCK_TIMEOUT.as_secs())]
    Busy {
        /// The description of the content.
        what: &'static str,
    },
    /// The file is larger than any that we write.
    #[error("a file of {what} has more than {limit} bytes; lsp-tools did not write it")]
    TooLarge {
        /// The description of the content.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// The file system refused.
    #[error("{what} cannot be {action}: {source}")]
    Io {
        /// The description of the content.
        what: &'static str,
        /// The attempted action.
        action: &'static str,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// The size of a file in a [`StateFolder`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FileUsage {
    /// The time of its last change.
    pub(crate) changed: SystemTime,
    /// Its size in bytes.
    pub(crate) bytes: u64,
    /// Its name.
    pub(crate) name: StateName,
}

/// A folder that no other process or thread changes.
#[derive(Debug)]
pub(crate) struct LockedFolder<'a> {
    folder: &'a StateFolder,
    /// Released before the turn: the next waiter in this process then finds the file free.
    _lock: File,
    _turn: FolderChangeGuard,
}

/// The folders that threads of this process change now.
///
/// A waiting thread is woken. Repeated attempts to lock the file could fail each time, by bad
/// timing.
static CHANGED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
static FREED: Condvar = Condvar::new();

/// A place in [`CHANGED`].
#[derive(Debug)]
struct FolderChangeGuard(PathBuf);

impl FolderChangeGuard {
    /// Waits until no other thread of this process changes the folder at `path`, at most
    /// [`STATE_QUEUE_TIMEOUT`].
    fn acquire(path: &Path) -> Option<Self> {
        let mut changed = CHANGED.lock();
        FREED.wait_while_for(&mut changed, |changed| changed.contains(path), STATE_QUEUE_TIMEOUT);
        if changed.contains(path) {
            return None;
        }
        changed.insert(path.to_owned());
        Some(Self(path.to_owned()))
    }
}

impl Drop for FolderChangeGuard {
    fn drop(&mut self) {
        CHANGED.lock().remove(&self.0);
        FREED.notify_all();
    }
}

impl StateFolder {
    /// Returns the folder `relative` below the user's state folder; it need not exist. `what`
    /// describes its content in errors ("the todo lists").
    pub(crate) fn new(folders: &Folders, relative: impl AsRef<Path>, what: &'static str) -> Self {
        Self { path: folders.state.join(relative), what }
    }

    /// Like [`new`](Self::new), below the user's cache folder.
    pub(crate) fn in_cache(folders: &Folders, relative: impl AsRef<Path>, what: &'static str) -> Self {
        Self { path: folders.cache.join(relative), what }
    }

    /// Like [`new`](Self::new), for the part of `kind` that belongs to the workspace at `root`.
    pub(crate) fn of_workspace(folders: &Folders, kind: &str, root: &Path, what: &'static str) -> Self {
        let digest = Sha256::digest(root.as_os_str().as_encoded_bytes());
        Self::new(folders, Path::new(kind).join(hex(&digest[..8])), what)
    }

    /// Returns the content of a file of at most `limit` bytes; `None` if there is none.
    ///
    /// # Errors
    /// The file cannot be trusted or read.
    pub(crate) fn read(&self, name: &StateName, limit: u64) -> Result<Option<Vec<u8>>, StateError> {
        if !self.is_there()? {
            return Ok(None);
        }
        let file = match private::open_options().read(true).open(self.path.join(name.as_str())) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.io_error("read", error)),
        };
        let metadata = file.metadata().map_err(|error| self.io_error("read", error))?;
        if !metadata.is_file() {
            return Err(self.io_error("read", io::Error::other("it is not a regular file")));
        }
        if !user::is_own(&metadata) {
            return Err(self.io_error("read", io::Error::other("a file there belongs to another user")));
        }
        let mut bytes = Vec::new();
        file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| self.io_error("read", error))?;
        if bytes.len() as u64 > limit {
            return Err(StateError::TooLarge { what: self.what, limit });
        }
        Ok(Some(bytes))
    }

    /// Returns the names of the files, sorted.
    ///
    /// # Errors
    /// The folder cannot be trusted or read.
    pub(crate) fn names(&self) -> Result<Vec<StateName>, StateError> {
        if !self.is_there()? {
            return Ok(Vec::new());
        }
        let entries = fs::read_dir(&self.path).map_err(|error| self.io_error("listed", error))?;
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| self.io_error("listed", error))?;
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            names.extend(entry.file_name().to_str().filter(|_| is_file).and_then(StateName::new));
        }
        names.sort();
        Ok(names)
    }

    /// Returns the sizes of the files in bytes, with their times of change, the oldest first.
    ///
    /// # Errors
    /// The folder cannot be trusted or read.
    pub(crate) fn usage(&self) -> Result<Vec<FileUsage>, StateError> {
        let mut files = Vec::new();
        for name in self.names()? {
            // Another process may have removed it since.
            let Ok(metadata) = fs::symlink_metadata(self.path.join(name.as_str())) else { continue };
            let changed = metadata.modified().map_err(|error| self.io_error("listed", error))?;
            files.push(FileUsage { changed, bytes: metadata.len(), name });
        }
        files.sort();
        Ok(files)
    }

    /// The path of the folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Creates the folder if needed and locks it against other writers. Blocks for at most two
    /// seconds on another process, and for at most half a minute on earlier waiters in this one.
    ///
    /// # Errors
    /// The folder cannot be trusted or created, or another writer holds the lock.
    pub(crate) fn lock(&self) -> Result<LockedFolder<'_>, StateError> {
        self.is_there()?;
        private::make_folder(&self.path).map_err(|error| self.io_error("written", error))?;
        let turn = FolderChangeGuard::acquire(&self.path).ok_or(StateError::Busy { what: self.what })?;
        let mut options = private::open_options();
        let lock = private::open(options.write(true).create(true).truncate(false), &self.path.join(LOCK));
        let lock = lock.map_err(|error| self.io_error("locked", error))?;
        let until = Instant::now() + STATE_LOCK_TIMEOUT;
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(LockedFolder { folder: self, _lock: lock, _turn: turn }),
                Err(TryLockError::WouldBlock) if Instant::now() < until => {
                    std::thread::sleep(STATE_LOCK_RETRY_INTERVAL)
                }
                Err(TryLockError::WouldBlock) => return Err(StateError::Busy { what: self.what }),
                Err(TryLockError::Error(error)) => return Err(self.io_error("locked", error)),
            }
        }
    }

    fn is_there(&self) -> Result<bool, StateError> {
        let metadata = match fs::metadata(&self.path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(self.io_error("read", error)),
        };
        if !user::is_own(&metadata) || private::is_writable_by_others(&metadata) {
            return Err(StateError::Open { what: self.what });
        }
        Ok(true)
    }

    fn io_error(&self, action: &'static str, source: io::Error) -> StateError {
        StateError::Io { what: self.what, action, source }
    }
}

impl LockedFolder<'_> {
    /// Replaces the file of that name. After any failure, either the old or the new file exists,
    /// whole.
    ///
    /// # Errors
    /// The file cannot be written; the old one is still there.
    pub(crate) fn write(&self, name: &StateName, content: &[u8]) -> Result<(), StateError> {
        let folder = self.folder;
        let (path, fresh) = (folder.path.join(name.as_str()), folder.path.join(FRESH));
        // Only the holder of the lock gets here, so an existing file was left by a process that
        // died.
        match fs::remove_file(&fresh) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(folder.io_error("written", error));
            }
            _ => {}
        }
        let written =
            private::open_options().write(true).create_new(true).open(&fresh).and_then(|mut file| {
                file.write_all(content)?;
                file.sync_all()?;
                fs::rename(&fresh, &path)?;
                sync_folder(&folder.path)
            });
        written.map_err(|error| folder.io_error("written", error))
    }

    /// Removes the oldest files until all together have at most `limit` bytes.
    ///
    /// # Errors
    /// The system refuses.
    pub(crate) fn remove_oldest(&self, limit: u64) -> Result<(), StateError> {
        let files = self.folder.usage()?;
        let mut total: u64 = files.iter().map(|file| file.bytes).sum();
        for file in files {
            if total <= limit {
                break;
            }
            self.remove(&file.name)?;
            total -= file.bytes;
        }
        Ok(())
    }

    /// Removes a file; returns true if there was one.
    ///
    /// # Errors
    /// The system refuses.
    pub(crate) fn remove(&self, name: &StateName) -> Result<bool, StateError> {
        match fs::remove_file(self.folder.path.join(name.as_str())) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(self.folder.io_error("removed", error)),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use crate::platform::canonicalize;
    use crate::platform::files::{CWD, FileType, MetadataExt, PermissionsExt, mknodat, symlink};

    use super::*;

    fn folder() -> (tempfile::TempDir, StateFolder) {
        let dir = tempfile::tempdir().unwrap();
        let path = canonicalize(dir.path()).unwrap().join("notes");
        (dir, StateFolder { path, what: "the notes" })
    }

    fn name(name: &str) -> StateName {
        StateName::new(name).unwrap()
    }

    #[test]
    fn state_name_with_slash_dots_or_control_characters_is_refused() {
        for good in ["a", "notes.md", "a b-c_d.e", "übersicht", "x..y"] {
            assert!(StateName::new(good).is_some(), "{good}");
        }
        let long = "x".repeat(129);
        for bad in ["", ".", "..", ".lock", " a", "a/b", "../a", "a\\b", "a\0b", "a\nb", "\u{202e}a", &long] {
            assert!(StateName::new(bad).is_none(), "{bad:?}");
        }
    }

    #[test]
    fn state_files_are_written_read_listed_removed_and_private() {
        let (_keep, folder) = folder();
        assert_eq!(folder.read(&name("a"), 10).unwrap(), None);
        assert!(folder.names().unwrap().is_empty());
        let locked = folder.lock().unwrap();
        locked.write(&name("b"), b"old").unwrap();
        locked.write(&name("b"), b"new").unwrap();
        locked.write(&name("a"), b"").unwrap();
        assert_eq!(folder.read(&name("b"), 3).unwrap().as_deref(), Some(b"new".as_slice()));
        assert!(matches!(folder.read(&name("b"), 2), Err(StateError::TooLarge { .. })));
        assert_eq!(folder.names().unwrap(), [name("a"), name("b")]);
        assert!(locked.remove(&name("a")).unwrap() && !locked.remove(&name("a")).unwrap());
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!((mode(&folder.path), mode(&folder.path.join("b"))), (0o700, 0o600));
        let left: Vec<_> =
            fs::read_dir(&folder.path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(!left.contains(&FRESH.into()), "{left:?}");
    }

    #[test]
    fn state_lock_serves_all_threads_of_one_process() {
        let (_keep, folder) = folder();
        // Together they take longer than the wait for another process.
        let share = STATE_LOCK_TIMEOUT * 3 / 2 / 60;
        let served = std::thread::scope(|scope| {
            let callers: Vec<_> = (0..60)
                .map(|_| scope.spawn(|| folder.lock().map(|_locked| std::thread::sleep(share)).is_ok()))
                .collect();
            callers.into_iter().filter_map(|caller| caller.join().ok()).filter(|served| *served).count()
        });
        assert_eq!(served, 60);
    }

    #[test]
    fn state_folder_writable_by_others_is_not_used() {
        let (_keep, folder) = folder();
        folder.lock().unwrap().write(&name("a"), b"x").unwrap();
        fs::set_permissions(&folder.path, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(matches!(folder.read(&name("a"), 10), Err(StateError::Open { .. })));
        assert!(matches!(folder.lock(), Err(StateError::Open { .. })));
    }

    #[test]
    fn state_read_follows_no_symlink_and_blocks_on_no_fifo() {
        let (keep, folder) = folder();
        drop(folder.lock().unwrap());
        fs::write(keep.path().join("secret"), "s").unwrap();
        symlink(keep.path().join("secret"), folder.path.join("link")).unwrap();
        assert!(folder.read(&name("link"), 10).is_err());
        assert!(folder.names().unwrap().is_empty());
        folder.lock().unwrap().write(&name("link"), b"mine").unwrap();
        assert_eq!(fs::read_to_string(keep.path().join("secret")).unwrap(), "s");
        mknodat(CWD, folder.path.join("pipe"), FileType::Fifo, 0o600.into(), 0).unwrap();
        assert!(folder.read(&name("pipe"), 10).is_err());
    }

    #[test]
    fn state_lock_held_by_another_process_times_out_as_busy() {
        let (_keep, folder) = folder();
        drop(folder.lock().unwrap());
        // Another process holds the lock: this process does not know of it.
        let held = private::open_options().write(true).open(folder.path.join(LOCK)).unwrap();
        held.lock().unwrap();
        let begun = Instant::now();
        assert!(matches!(folder.lock(), Err(StateError::Busy { .. })));
        assert!(begun.elapsed() >= STATE_LOCK_TIMEOUT && begun.elapsed() < STATE_LOCK_TIMEOUT * 30);
        drop(held);
        assert!(folder.lock().is_ok());
    }
}
