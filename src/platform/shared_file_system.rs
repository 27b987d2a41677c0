//! File systems that other machines may write to.

use rustix::fs::StatFs;
use rustix::io::Errno;

/// Returns true if the file system that `about` describes may have writers that this kernel does
/// not see: it sends no events of their changes, and a lease guarantees nothing.
#[cfg(linux_kernel)]
pub(crate) fn may_have_unseen_writers(about: Result<StatFs, Errno>) -> bool {
    /// From linux/magic.h and the sources of the file systems: FUSE (also virtiofs), NFS, CIFS,
    /// SMB, 9p, Ceph, AFS.
    const SHARED: [u32; 7] =
        [0x6573_5546, 0x6969, 0xFF53_4D42, 0xFE53_4D42, 0x0102_1997, 0x00C3_6400, 0x5346_414F];
    let kind = about.map(|about| u32::try_from(about.f_type));
    !matches!(kind, Ok(Ok(kind)) if !SHARED.contains(&kind))
}

/// Returns true: the file systems of other systems are unknown.
#[cfg(not(linux_kernel))]
pub(crate) fn may_have_unseen_writers(_: Result<StatFs, Errno>) -> bool {
    true
}
