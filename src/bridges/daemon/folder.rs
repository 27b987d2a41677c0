//! The private folder of daemons' sockets and locks.
//!
//! The checks (owner, mode, not a link) apply to the open folder, and every name is resolved
//! through it. So a folder that replaces it at its path is never used.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::config::Folders;
use crate::platform::files::{AtFlags, Errno, Mode, OFlags, entries, fstat, openat, statat, unlinkat};
use crate::platform::inode::InodeIdentity;
use crate::platform::{private, sockets, user};

const NAME: &str = "lsp-tools";
const BELOW_STATE: &str = "run";
const SOCKET: &str = ".sock";
/// The suffix of the lock that a daemon holds while it accepts connections.
pub(crate) const LIFE_LOCK: &str = ".lock";
/// The suffix of the lock for starting a daemon.
pub(crate) const START_LOCK: &str = ".start";

/// Reasons why the folder for sockets cannot be used.
#[derive(Debug, Error)]
pub(crate) enum FolderError {
    /// The folder belongs to another user, or is accessible to others.
    #[error("{} cannot be used for sockets: {why}; {remedy}", folder.display())]
    Unsafe {
        /// The folder.
        folder: PathBuf,
        /// The problem.
        why: &'static str,
        /// A way to fix it.
        remedy: String,
    },
    /// A system call failed.
    #[error("{} cannot be used for sockets: {source}", folder.display())]
    Io {
        /// The folder.
        folder: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The path is too long for a socket address.
    #[error(
        "{} is too long for the path of a socket; set XDG_RUNTIME_DIR to a folder of yours with a short path",
        path.display()
    )]
    TooLong {
        /// The path.
        path: PathBuf,
    },
}

/// The open folder.
#[derive(Debug)]
pub(crate) struct DaemonFolder {
    path: PathBuf,
    open: File,
}

/// A lock on a name in the folder, held until it is dropped.
#[derive(Debug)]
pub(crate) struct DaemonLock {
    #[allow(dead_code)] // dropped, not read
    file: File,
    name: String,
}

impl DaemonFolder {
    /// Finds or creates the folder of this user: `lsp-tools` in `$XDG_RUNTIME_DIR`, else in
    /// `/run/user/UID` (hosts start programs without that variable), else `run` in the state
    /// folder.
    ///
    /// # Errors
    /// The folder is a link, belongs to another user, or is accessible to others. It is not
    /// repaired: another process may still hold it open.
    pub(crate) fn find(folders: &Folders) -> Result<Self, FolderError> {
        let named = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
        let usual = user::runtime_folder;
        let runtime = named.filter(|path| is_own(path)).or_else(|| usual().filter(|path| is_own(path)));
        match runtime {
            Some(runtime) => Self::open(runtime.join(NAME)),
            None => {
                let io = |source| FolderError::Io { folder: folders.state.clone(), source };
                private::make_folder(&folders.state).map_err(io)?;
                Self::open(folders.state.join(BELOW_STATE))
            }
        }
    }

    /// Opens the folder at `path`, and creates it if it is missing.
    ///
    /// # Errors
    /// Those of [`find`](Self::find).
    pub(crate) fn open(path: PathBuf) -> Result<Self, FolderError> {
        let failed = |source: io::Error| FolderError::Io { folder: path.clone(), source };
        match private::create_folder(&path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
            _ => {}
        }
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
        let unsafe_as = |why, remedy: String| FolderError::Unsafe { folder: path.clone(), why, remedy };
        let open = match crate::platform::files::open(&path, flags, Mode::empty()) {
            Ok(open) => File::from(open),
            Err(Errno::LOOP | Errno::NOTDIR) => {
                let remedy = format!("remove it: rm '{}'", path.display());
                return Err(unsafe_as("it is a link or a file, not a folder", remedy));
            }
            Err(errno) => return Err(failed(errno.into())),
        };
        let metadata = open.metadata().map_err(failed)?;
        if !user::is_own(&metadata) {
            let remedy = "set XDG_RUNTIME_DIR to a folder of your own".to_owned();
            return Err(unsafe_as("it belongs to another user", remedy));
        }
        if private::is_open_to_others(&metadata) {
            let remedy = format!("run: chmod 700 '{}'", path.display());
            return Err(unsafe_as("others can enter it", remedy));
        }
        Ok(Self { path, open })
    }

    /// Duplicates the handle of the open folder for another thread.
    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { path: self.path.clone(), open: self.open.try_clone()? })
    }

    /// The path of a daemon's socket, for display and for programs that connect by themselves.
    pub(crate) fn shown_socket(&self, key: &str) -> PathBuf {
        self.path.join(format!("{key}{SOCKET}"))
    }

    /// The address of a daemon's socket for this process.
    pub(crate) fn socket(&self, key: &str) -> Result<PathBuf, FolderError> {
        let (path, name) = (self.shown_socket(key), format!("{key}{SOCKET}"));
        sockets::address(&self.open, &name, &path).ok_or(FolderError::TooLong { path })
    }

    /// The inode of a daemon's socket, if it exists.
    pub(crate) fn socket_id(&self, key: &str) -> Option<InodeIdentity> {
        let stat = statat(&self.open, format!("{key}{SOCKET}"), AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some(InodeIdentity::from_stat(&stat))
    }

    /// Removes a daemon's socket. A missing socket is not an error.
    pub(crate) fn remove_socket(&self, key: &str) -> io::Result<()> {
        match unlinkat(&self.open, format!("{key}{SOCKET}"), AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// The keys of all daemons with a socket in this folder, running or not.
    pub(crate) fn keys(&self) -> io::Result<Vec<String>> {
        self.keys_of(&[SOCKET])
    }

    /// The keys of all files with one of the suffixes `endings`.
    fn keys_of(&self, endings: &[&str]) -> io::Result<Vec<String>> {
        let names = entries(&self.open)?.flatten().filter_map(|(name, _)| name.into_string().ok());
        let key =
            |name: String| endings.iter().find_map(|ending| name.strip_suffix(ending).map(str::to_owned));
        let mut keys: Vec<String> = names.filter_map(key).collect();
        keys.sort();
        keys.dedup();
        Ok(keys)
    }

    /// Tries to acquire the lock `name`. Returns `None` if another process holds it.
    pub(crate) fn try_lock(&self, name: &str) -> io::Result<Option<DaemonLock>> {
        loop {
            let file = self.lock_file(name)?;
            match file.try_lock() {
                Ok(()) if self.is_named(&file, name)? => {
                    return Ok(Some(DaemonLock { file, name: name.to_owned() }));
                }
                // The former holder has removed the file, so the lock is now on another file.
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }

    /// Acquires the lock `name`, and waits without a time limit. Blocks the thread.
    pub(crate) fn lock(&self, name: &str) -> io::Result<DaemonLock> {
        loop {
            let file = self.lock_file(name)?;
            match file.lock() {
                Ok(()) if self.is_named(&file, name)? => {
                    return Ok(DaemonLock { file, name: name.to_owned() });
                }
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Removes the file of a lock and releases it. No other process can acquire a lock on a removed
    /// file, since waiters check that the file still exists.
    pub(crate) fn remove_lock(&self, held: DaemonLock) -> io::Result<()> {
        match unlinkat(&self.open, &held.name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Removes files of killed daemons: those of every key except `own` without a running or
    /// starting daemon.
    pub(crate) fn sweep(&self, own: &str) -> io::Result<()> {
        for key in self.keys_of(&[SOCKET, LIFE_LOCK, START_LOCK])? {
            if key == own {
                continue;
            }
            // Locks are acquired in the same order as during a start.
            let Some(starting) = self.try_lock(&format!("{key}{START_LOCK}"))? else { continue };
            if let Some(lock) = self.try_lock(&format!("{key}{LIFE_LOCK}"))? {
                self.remove_socket(&key)?;
                self.remove_lock(lock)?;
            }
            self.remove_lock(starting)?;
        }
        Ok(())
    }

    /// Returns true if the name `name` still refers to `file`.
    fn is_named(&self, file: &File, name: &str) -> io::Result<bool> {
        let open = InodeIdentity::from_stat(&fstat(file)?);
        match statat(&self.open, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(InodeIdentity::from_stat(&stat) == open),
            Err(Errno::NOENT) => Ok(false),
            Err(errno) => Err(errno.into()),
        }
    }

    fn lock_file(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::CREATE | OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        Ok(File::from(openat(&self.open, name, flags, Mode::RUSR | Mode::WUSR)?))
    }
}

fn is_own(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| metadata.is_dir() && user::is_own(&metadata))
}

#[cfg(all(test, unix))]
mod tests {
    use crate::platform::files::{PermissionsExt, symlink};
    use std::fs;
    #[cfg(linux_kernel)]
    use std::os::unix::net::{UnixListener, UnixStream};

    use super::*;

    #[test]
    fn daemon_folder_is_created_with_mode_0700() {
        let base = tempfile::tempdir().unwrap();
        let folder = DaemonFolder::open(base.path().join("run")).unwrap();
        let mode = fs::metadata(folder.path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        DaemonFolder::open(base.path().join("run")).unwrap();
    }

    #[test]
    fn daemon_folder_that_is_link_file_or_accessible_is_refused() {
        let base = tempfile::tempdir().unwrap();
        let path = |name: &str| base.path().join(name);
        fs::create_dir(path("real")).unwrap();
        symlink(path("real"), path("link")).unwrap();
        fs::write(path("file"), "").unwrap();
        fs::create_dir(path("open")).unwrap();
        fs::set_permissions(path("open"), fs::Permissions::from_mode(0o755)).unwrap();
        for (name, why) in [
            ("link", "it is a link or a file, not a folder; remove it: rm '"),
            ("file", "it is a link or a file, not a folder; remove it: rm '"),
            ("open", "others can enter it; run: chmod 700 '"),
        ] {
            let error = DaemonFolder::open(path(name)).unwrap_err().to_string();
            assert!(error.contains(&format!("cannot be used for sockets: {why}")), "{name}: {error}");
        }
    }

    #[cfg(linux_kernel)]
    #[test]
    fn daemon_socket_with_too_long_path_is_reachable() {
        let base = tempfile::tempdir().unwrap();
        let deep = base.path().join("x".repeat(200));
        fs::create_dir(&deep).unwrap();
        let folder = DaemonFolder::open(deep.join("run")).unwrap();
        let address = folder.socket("ab").unwrap();
        let listener = UnixListener::bind(&address).unwrap();
        UnixStream::connect(&address).unwrap();
        drop(listener);
        assert_eq!(folder.keys().unwrap(), ["ab"]);
        assert!(folder.socket_id("ab").is_some());
        folder.remove_socket("ab").unwrap();
        folder.remove_socket("ab").unwrap();
        assert_eq!((folder.keys().unwrap().len(), folder.socket_id("ab")), (0, None));
    }

    #[test]
    fn daemon_lock_is_exclusive() {
        let base = tempfile::tempdir().unwrap();
        let folder = DaemonFolder::open(base.path().join("run")).unwrap();
        let held = folder.try_lock("ab.lock").unwrap();
        assert!(held.is_some());
        assert!(folder.try_lock("ab.lock").unwrap().is_none());
        drop(held);
        folder.lock("ab.lock").unwrap();
    }

    #[test]
    fn daemon_lock_waiter_gets_new_file_after_lock_removal() {
        let base = tempfile::tempdir().unwrap();
        let folder = DaemonFolder::open(base.path().join("run")).unwrap();
        let held = folder.try_lock("ab.lock").unwrap().unwrap();
        let waiting = folder.try_clone().unwrap();
        let waiter = std::thread::spawn(move || waiting.lock("ab.lock").unwrap());
        folder.remove_lock(held).unwrap();
        let theirs = waiter.join().unwrap();
        assert!(folder.try_lock("ab.lock").unwrap().is_none(), "the lock of the file that is there is held");
        drop(theirs);
        assert!(folder.try_lock("ab.lock").unwrap().is_some());
    }

    #[test]
    fn daemon_folder_sweep_removes_only_files_of_dead_daemons() {
        let base = tempfile::tempdir().unwrap();
        let folder = DaemonFolder::open(base.path().join("run")).unwrap();
        for name in
            ["dead.sock", "dead.lock", "dead.start", "own.lock", "old.start", "else", "up.sock", "up.start"]
        {
            fs::write(folder.path.join(name), "").unwrap();
        }
        let _lives = folder.try_lock("up.lock").unwrap().unwrap();
        let _starts = folder.try_lock("starting.start").unwrap().unwrap();
        folder.sweep("own").unwrap();
        let mut left: Vec<String> = fs::read_dir(folder.path)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, ["else", "own.lock", "starting.start", "up.lock", "up.sock"]);
    }
}
