//! The user of this process, and the files that belong to it.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

/// The id of the user who may do everything.
pub(crate) const ROOT: u32 = 0;

/// The id of the user whose rights this process has.
pub(crate) fn own_id() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Returns true if the file belongs to the user of this process.
pub(crate) fn is_own(metadata: &Metadata) -> bool {
    metadata.uid() == own_id()
}
