//! Stamps of the configuration files, compared to detect changes.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::config::{Config, ConfigError, ConfigOverrides, Folders, MAX_SETTINGS_FILE_BYTES, TrustStore};
use crate::workspace::{FileStamp, Workspace};

/// The metadata and content hashes of the configuration files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ConfigurationStamps {
    files: Vec<Option<FileStamp>>,
    /// The content hashes at the last read. A file rewritten with the same text has the same hash.
    pub(super) contents: Vec<Option<[u8; 32]>>,
    /// The stamp of the trust store, which all projects share. A changed stamp need not concern
    /// this project.
    pub(super) trust: Option<FileStamp>,
}

impl ConfigurationStamps {
    /// Takes the stamps now. `listed` are files that the settings name.
    pub(super) fn current(folders: &Folders, root: &Path, listed: &[PathBuf]) -> Self {
        let files = all_files(folders, root, listed);
        Self {
            files: files.iter().map(|file| FileStamp::from_path(file)).collect(),
            contents: files.iter().map(|file| content_hash(file)).collect(),
            trust: FileStamp::from_path(&folders.trust_file()),
        }
    }

    /// Returns true if no file has changed, judged by metadata without reading the files.
    pub(super) fn are_current(&self, folders: &Folders, root: &Path, listed: &[PathBuf]) -> bool {
        self.trust == FileStamp::from_path(&folders.trust_file())
            && self
                .files
                .iter()
                .cloned()
                .eq(all_files(folders, root, listed).iter().map(|file| FileStamp::from_path(file)))
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
