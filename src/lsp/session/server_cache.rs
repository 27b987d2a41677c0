//! Cache folders of servers, one for each running session.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::platform::private;
use crate::text::hex;

/// The most sessions of a server that run for one root at once.
const MAX_SESSIONS_OF_ROOT: usize = 64;

/// A folder that no other session uses while this value lives. It keeps its content for the next
/// session of the root.
#[derive(Debug)]
pub(crate) struct ServerCache {
    path: PathBuf,
    /// Locked, in the folder above; the system releases it if this process ends.
    _lock: File,
}

impl ServerCache {
    /// Claims the first free folder of `server` for `root` (absolute) below `cache`. Sessions with
    /// and without trust share none: a project that was imported with trust may run code.
    ///
    /// # Errors
    /// The folder cannot be made or locked, or all are in use.
    pub(crate) fn claim(cache: &Path, server: &str, root: &Path, trusted: bool) -> io::Result<Self> {
        let above = cache.join("servers").join(server);
        let name = &hex(&Sha256::digest(root.as_os_str().as_encoded_bytes()))[..16];
        let trust = if trusted { "trusted" } else { "untrusted" };
        for number in 0..MAX_SESSIONS_OF_ROOT {
            let path = above.join(format!("{name}-{trust}-{number}"));
            private::make_folder(&path)?;
            let options = &mut private::open_options();
            let lock = private::open(
                options.create(true).truncate(false).write(true),
                &path.with_extension("lock"),
            )?;
            match lock.try_lock() {
                Ok(()) => return Ok(Self { path, _lock: lock }),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Err(io::Error::other(format!("{MAX_SESSIONS_OF_ROOT} sessions of {server} run for this root")))
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_is_held_by_one_session_and_kept_for_the_next() {
        let cache = tempfile::tempdir().unwrap();
        let claim = || ServerCache::claim(cache.path(), "jdtls", Path::new("/project"), true).unwrap();
        let first = claim();
        let second = claim();
        assert_ne!(first.path(), second.path());
        let kept = first.path().to_owned();
        std::fs::write(kept.join("index"), "x").unwrap();
        drop(first);
        assert_eq!(claim().path(), kept);
        assert_eq!(std::fs::read_to_string(kept.join("index")).unwrap(), "x");
        for (root, trusted) in [("/other", true), ("/project", false)] {
            let other = ServerCache::claim(cache.path(), "jdtls", Path::new(root), trusted).unwrap();
            assert!(other.path() != kept && other.path() != second.path(), "{root}");
        }
    }
}
