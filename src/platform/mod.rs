//! Needs that each operating system serves in its own way: files beneath a root, processes,
//! watches.
//!
//! May use: `text`. Each module has one need and its implementation for Linux. Another operating
//! system is another implementation of the same functions; nothing above names one.

pub(crate) mod inode;
pub(crate) mod jail;
pub(crate) mod lease;
pub(crate) mod memfd;
pub(crate) mod namespace;
pub(crate) mod opened_path;
pub(crate) mod parent_watch;
pub(crate) mod private;
pub(crate) mod process_tree;
pub(crate) mod shared_file_system;
pub(crate) mod stdio;
pub(crate) mod user;
pub(crate) mod watches;
pub(crate) mod xattr;

/// The needs that this system does not serve as Linux does, one sentence each.
#[cfg(linux_kernel)]
pub(crate) const GAPS: &[&str] = &[];

/// The needs that this system does not serve as Linux does, one sentence each.
#[cfg(not(linux_kernel))]
pub(crate) const GAPS: &[&str] = &[
    "this program was built for your system, and tested on Linux only",
    "the system does not report changes of files here: each question looks for them",
    "a process that a server or command starts survives it if it leaves its process group and its parent has ended, and a server survives if its supervisor is killed",
    "the memory of servers is unknown: its limits never end one",
    "a trusted program may be replaced between the check of its hash and its start",
];

/// Texts of the operating system as bytes.
pub(crate) use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Returns true if the file at `path`, links followed, is regular and may be run by some user.
pub(crate) fn is_program(path: &std::path::Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}
