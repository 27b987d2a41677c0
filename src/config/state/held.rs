//! Files of a state folder that are valid only while their writer lives: the kernel releases their
//! lock when it dies.
//!
//! A new version is locked before it replaces the old one, so the file is always locked while its
//! writer lives. A reader that gets the lock has found the file of a dead process, and removes it.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::PathBuf;

use super::{FRESH, StateError, StateFolder, StateName};
use crate::platform::inode::InodeIdentity;
use crate::platform::{private, user};

/// The maximum number of files that are read: one for each living process, and those left by dead
/// ones.
const MAX_HELD_FILES: usize = 1_024;

/// A file that exists until this value is dropped, or its process dies.
#[derive(Debug)]
pub(crate) struct HeldFile {
    path: PathBuf,
    /// Its lock ends with it.
    _file: File,
}

impl Drop for HeldFile {
    fn drop(&mut self) {
        // A file that stays is without a lock from now on, and the next reader removes it.
        let _left = fs::remove_file(&self.path);
    }
}

impl StateFolder {
    /// Replaces `old` by a held file, or creates it. The name must be the writer's alone. Nothing
    /// is synced to the disk, because no writer outlives the machine's end.
    ///
    /// # Errors
    /// The folder cannot be trusted or created, or the file cannot be written; the old one is gone
    /// then.
    pub(crate) fn hold(
        &self,
        name: &StateName,
        content: &[u8],
        old: Option<HeldFile>,
    ) -> Result<HeldFile, StateError> {
        self.is_there()?;
        private::make_folder(&self.path).map_err(|error| self.io_error("written", error))?;
        let (path, fresh) =
            (self.path.join(name.as_str()), self.path.join(format!(".{}{FRESH}", name.as_str())));
        let written = || {
            let mut options = private::open_options();
            let mut file = private::open(options.write(true).create(true).truncate(true), &fresh)?;
            file.try_lock().map_err(io::Error::from)?;
            file.write_all(content)?;
            fs::rename(&fresh, &path)?;
            Ok(file)
        };
        let file = written().map_err(|error| {
            // An incomplete file must not stay if the disk is full.
            let _left = fs::remove_file(&fresh);
            self.io_error("written", error)
        })?;
        // The old file's path is now the new one's, which stays; only its lock is released.
        if let Some(old) = old {
            old.forget_path();
        }
        Ok(HeldFile { path, _file: file })
    }

    /// Returns the files whose writers live, each with at most `limit` bytes. Longer ones are left
    /// out, and those of dead writers are removed.
    ///
    /// # Errors
    /// The folder cannot be trusted or read.
    pub(crate) fn held(&self, limit: u64) -> Result<Vec<(StateName, Vec<u8>)>, StateError> {
        let mut found = Vec::new();
        for name in self.names()?.into_iter().take(MAX_HELD_FILES) {
            match self.read_held(&name, limit) {
                Ok(content) => found.extend(content.map(|content| (name, content))),
                Err(error) => tracing::debug!(file = name.as_str(), "not read among {}: {error}", self.what),
            }
        }
        Ok(found)
    }

    fn read_held(&self, name: &StateName, limit: u64) -> io::Result<Option<Vec<u8>>> {
        let path = self.path.join(name.as_str());
        let file = match private::open_options().read(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let metadata = file.metadata()?;
        if !metadata.is_file() || !user::is_own(&metadata) {
            return Err(io::Error::other("it is not a regular file of this user"));
        }
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(error),
            Ok(()) => {
                // Its writer may have put a new version in its place since it was opened.
                if InodeIdentity::at_name(&path).is_some_and(|there| Some(there) == InodeIdentity::of(&file))
                {
                    fs::remove_file(&path)?;
                    return Ok(None);
                }
                return self.read_newer(&path, limit);
            }
        }
        read_up_to(file, limit).map(Some)
    }

    /// Reads the version that replaced the previous one while that was opened; its writer lives, as
    /// it has just written.
    fn read_newer(&self, path: &std::path::Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
        match private::open_options().read(true).open(path) {
            Ok(file) if file.metadata()?.is_file() => read_up_to(file, limit).map(Some),
            Ok(_) => Err(io::Error::other("it is not a regular file")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl HeldFile {
    fn forget_path(mut self) {
        self.path = PathBuf::new();
    }
}

fn read_up_to(file: File, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::other(format!("it has more than {limit} bytes")));
    }
    Ok(bytes)
}

#[cfg(all(test, unix))]
mod tests {
    use crate::platform::canonicalize;
    use crate::platform::files::{CWD, FileType, MetadataExt, mknodat, symlink};
    use crate::platform::processes::CommandExt;
    use std::process::Command;
    use std::time::{Duration, Instant};

    use crate::platform::processes::{Pid, Signal, kill_process_group};

    use super::*;

    fn folder() -> (tempfile::TempDir, StateFolder) {
        let dir = tempfile::tempdir().unwrap();
        let path = canonicalize(dir.path()).unwrap().join("held");
        (dir, StateFolder { path, what: "the held files" })
    }

    fn name(name: &str) -> StateName {
        StateName::new(name).unwrap()
    }

    #[test]
    fn held_file_is_read_replaced_private_and_gone_with_its_holder() {
        let (_keep, folder) = folder();
        assert!(folder.held(10).unwrap().is_empty());
        let first = folder.hold(&name("a"), b"one", None).unwrap();
        let second = folder.hold(&name("a"), b"two", Some(first)).unwrap();
        assert_eq!(folder.held(10).unwrap(), [(name("a"), b"two".to_vec())]);
        let mode = |path: &std::path::Path| fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!((mode(&folder.path), mode(&folder.path.join("a"))), (0o700, 0o600));
        assert_eq!(fs::read_dir(&folder.path).unwrap().count(), 1);
        drop(second);
        assert_eq!(fs::read_dir(&folder.path).unwrap().count(), 0);
    }

    #[test]
    fn held_file_of_killed_process_is_ignored_and_removed() {
        let (_keep, folder) = folder();
        let _own = folder.hold(&name("own"), b"mine", None).unwrap();
        let path = folder.path.join("other");
        fs::write(&path, "theirs").unwrap();
        let script = "exec 9<\"$0\"; flock --exclusive 9; echo locked; sleep 60";
        let mut command = Command::new("sh");
        command.args(["-c", script]).arg(&path).process_group(0);
        let mut holder = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
        let mut said = std::io::BufReader::new(holder.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut said, &mut String::new()).unwrap();
        assert_eq!(
            folder.held(10).unwrap(),
            [(name("other"), b"theirs".to_vec()), (name("own"), b"mine".to_vec())]
        );
        kill_process_group(Pid::from_child(&holder), Signal::KILL).unwrap();
        holder.wait().unwrap();
        // The shell's child ends a moment after it.
        let until = Instant::now() + Duration::from_secs(10);
        while folder.held(10).unwrap().len() > 1 {
            assert!(Instant::now() < until, "the lock outlived its holder");
        }
        assert!(!path.exists() && folder.path.join("own").exists());
    }

    #[test]
    fn held_files_that_are_long_links_or_pipes_are_left_out() {
        let (keep, folder) = folder();
        let _long = folder.hold(&name("long"), &[b'x'; 11], None).unwrap();
        let _fits = folder.hold(&name("fits"), &[b'x'; 10], None).unwrap();
        fs::write(keep.path().join("secret"), "s").unwrap();
        symlink(keep.path().join("secret"), folder.path.join("link")).unwrap();
        mknodat(CWD, folder.path.join("pipe"), FileType::Fifo, 0o600.into(), 0).unwrap();
        let names: Vec<_> = folder.held(10).unwrap().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, [name("fits")]);
        assert!(keep.path().join("secret").exists());
    }

    #[test]
    fn held_file_is_never_missed_while_its_holder_writes_new_versions() {
        let (_keep, folder) = folder();
        let mut held = folder.hold(&name("a"), b"0", None).unwrap();
        let (done, reader) = (std::sync::atomic::AtomicBool::new(false), folder.clone());
        std::thread::scope(|scope| {
            let looks = scope.spawn(|| {
                let mut looks = 0;
                while !done.load(std::sync::atomic::Ordering::Relaxed) {
                    assert_eq!(reader.held(10).unwrap().len(), 1);
                    looks += 1;
                }
                looks
            });
            for version in 0..2_000 {
                held = folder.hold(&name("a"), version.to_string().as_bytes(), Some(held)).unwrap();
            }
            done.store(true, std::sync::atomic::Ordering::Relaxed);
            assert!(looks.join().unwrap() > 0);
        });
    }
}
