//! Stamps of the configuration files, compared to detect changes.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::config::{Config, ConfigError, ConfigOverrides, Folders, MAX_SETTINGS_FILE_BYTES, TrustStore};
use crate::workspace::Workspace;

/// The metadata and content hashes of the configuration files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ConfigurationStamps {
    files: Vec<Option<InodeStamp>>,
    /// The content hashes at the last read. A file rewritten with the same text has the same hash.
    pub(super) contents: Vec<Option<[u8; 32]>>,
    /// The stamp of the trust store, which all projects share. A changed stamp need not concern
    /// this project.
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
    /// Takes the stamps now. `listed` are files that the settings name.
    pub(super) fn current(folders: &Folders, root: &Path, listed: &[PathBuf]) -> Self {
        let files = all_files(folders, root, listed);
        Self {
            files: files.iter().map(stamp).collect(),
            contents: files.iter().map(|file| content_hash(file)).collect(),
            trust: stamp(&folders.trust_file()),
        }
    }

    /// Returns true if no file has changed, judged by metadata without reading the files.
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

/// Loads the configuration, with (`whole`) or without the project's part, and the stamps taken
/// before its files were read.
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
    // The listed files are known only now, so the stamps are taken with them and the configuration
    // is loaded again.
    let stamps = ConfigurationStamps::current(folders, root, listed);
    Ok((load()?, stamps))
}

/// Returns `None` if the path is not a readable settings file; the loader reports the reason.
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
