//! Stamps of the files that the configuration comes from, which tell when they have changed.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::config::{Config, ConfigError, ConfigOverrides, Folders, MAX_SETTINGS_FILE_BYTES, TrustStore};
use crate::workspace::Workspace;

/// What the file system says of the files that the configuration comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ConfigurationStamps {
    files: Vec<Option<InodeStamp>>,
    /// What they said when they were last read; written anew with the same text, they are the same.
    pub(super) contents: Vec<Option<[u8; 32]>>,
    /// The store is that of all projects; what it says of this one may be as before.
    pub(super) trust: Option<InodeStamp>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InodeStamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl ConfigurationStamps {
    /// As it is now; `listed` are files that the settings name.
    pub(super) fn current(folders: &Folders, root: &Path, listed: &[PathBuf]) -> Self {
        let files = all_files(folders, root, listed);
        Self {
            files: files.iter().map(stamp).collect(),
            contents: files.iter().map(|file| content_hash(file)).collect(),
            trust: stamp(&folders.trust_file()),
        }
    }

    /// Whether all files are as they were, which is told without reading them.
    pub(super) fn are_current(&self, folders: &Folders, root: &Path, listed: &[PathBuf]) -> bool {
        self.trust == stamp(&folders.trust_file())
            && self.files.iter().cloned().eq(all_files(folders, root, listed).iter().map(stamp))
    }
}

fn all_files(folders: &Folders, root: &Path, listed: &[PathBuf]) -> Vec<PathBuf> {
    let mut files = Config::files(folders, root);
    files.extend_from_slice(listed);
    files
}

/// The configuration, `whole` or without what the project says, and what the file system said of its files before they were read.
pub(super) fn read(
    folders: &Folders,
    root: &Path,
    whole: bool,
    trust: &TrustStore,
) -> Result<(Config, ConfigurationStamps), ConfigError> {
    let load = || Config::load(folders, whole.then_some(root), &ConfigOverrides::default(), trust);
    let stamps = ConfigurationStamps::current(folders, root, &[]);
    let config = load()?;
    let listed = &config.settings.mounts.listed;
    if listed.is_empty() {
        return Ok((config, stamps));
    }
    // Which files are listed is known only now: what they say is read once more, after they were looked at.
    let stamps = ConfigurationStamps::current(folders, root, listed);
    Ok((load()?, stamps))
}

/// `None` also where it is no file that settings are read from; why not, is told by whoever reads them.
fn content_hash(path: &Path) -> Option<[u8; 32]> {
    Some(Sha256::digest(Workspace::read_bytes_outside(path, MAX_SETTINGS_FILE_BYTES).ok()?).into())
}

pub(super) fn stamp(path: &PathBuf) -> Option<InodeStamp> {
    let metadata = fs::metadata(path).ok()?;
    Some(InodeStamp {
        device: metadata.dev(),
        inode: metadata.ino(),
        size: metadata.size(),
        modified: (metadata.mtime(), metadata.mtime_nsec()),
        changed: (metadata.ctime(), metadata.ctime_nsec()),
    })
}
