//! Device and inode number: the identity that distinguishes a file from a replacement.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::Stat;
use serde::{Deserialize, Serialize};

/// The identity of a file, independent of its name. It is valid as long as the file exists: the
/// number may be reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct InodeIdentity {
    device: u64,
    inode: u64,
}

impl InodeIdentity {
    #[allow(clippy::unnecessary_cast, reason = "the types of the fields differ between systems")]
    pub(crate) fn from_stat(stat: &Stat) -> Self {
        Self { device: stat.st_dev as u64, inode: stat.st_ino as u64 }
    }

    pub(crate) fn from_metadata(metadata: &Metadata) -> Self {
        Self { device: metadata.dev(), inode: metadata.ino() }
    }

    /// Returns the identity of the target of `path`; links are followed. `None` if it cannot be
    /// read.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        path.metadata().ok().as_ref().map(Self::from_metadata)
    }
}
