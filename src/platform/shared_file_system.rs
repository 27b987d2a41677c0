//! File systems that other machines may write to.

use std::fs::File;
use std::path::Path;

/// Returns true if the file system of `path` may have writers that this kernel does not see: it
/// sends no events of their changes, and a lease guarantees nothing.
pub(crate) fn may_have_unseen_writers(path: &Path) -> bool {
    #[cfg(linux_kernel)]
    return is_shared(rustix::fs::statfs(path));
    #[cfg(not(linux_kernel))]
    {
        // The file systems of other systems are unknown.
        let _ = path;
        true
    }
}

/// Like [`may_have_unseen_writers`], of the file system of an open file.
pub(crate) fn may_have_unseen_writers_of(file: &File) -> bool {
    #[cfg(linux_kernel)]
    return is_shared(rustix::fs::fstatfs(file));
    #[cfg(not(linux_kernel))]
    {
        let _ = file;
        true
    }
}

#[cfg(linux_kernel)]
fn is_shared(about: rustix::io::Result<rustix::fs::StatFs>) -> bool {
    /// From linux/magic.h and the sources of the file systems: FUSE (also virtiofs), NFS, CIFS,
    /// SMB, 9p, Ceph, AFS.
    const SHARED: [u32; 7] =
        [0x6573_5546, 0x6969, 0xFF53_4D42, 0xFE53_4D42, 0x0102_1997, 0x00C3_6400, 0x5346_414F];
    let kind = about.map(|about| u32::try_from(about.f_type));
    !matches!(kind, Ok(Ok(kind)) if !SHARED.contains(&kind))
}
