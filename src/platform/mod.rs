//! Operations that differ between operating systems: files beneath a root, processes, watches.
//!
//! May use: `text`. Each module has one operation and its implementations. The longer ones are in
//! `unix` and `windows`, with functions of the same names.

pub(crate) mod detached;
pub(crate) mod file_sandbox;
pub(crate) mod files;
pub(crate) mod inode;
pub(crate) mod lease;
pub(crate) mod machine;
pub(crate) mod memfd;
pub(crate) mod open_files;
pub(crate) mod opened_path;
pub(crate) mod parent_watch;
pub(crate) mod paths;
pub(crate) mod peer;
pub(crate) mod process_group;
pub(crate) mod shared_file_system;
pub(crate) mod shell;
pub(crate) mod signals;
pub(crate) mod sockets;
#[cfg(unix)]
mod unix;
pub(crate) mod user;
pub(crate) mod watches;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::{jail, namespace, private, process_tree, processes, stdio, xattr};
#[cfg(windows)]
pub(crate) use windows::{jail, private, process_tree, stdio, xattr};

/// The needs that this system does not serve as Linux does, one sentence each.
#[cfg(linux_kernel)]
pub(crate) const GAPS: &[&str] = &[];

/// The needs that this system does not serve as Linux does, one sentence each.
#[cfg(all(unix, not(linux_kernel)))]
pub(crate) const GAPS: &[&str] = &[
    "this program was built for your system, and tested on Linux only",
    "the system does not report changes of files here: each question looks for them",
    "a process that a server or command starts survives it if it leaves its process group and its parent has ended, and a server survives if its supervisor is killed",
    "the memory of servers is unknown: its limits never end one",
    "a trusted program may be replaced between the check of its hash and its start",
];

/// The needs that this system does not serve as Linux does, one sentence each.
#[cfg(windows)]
pub(crate) const GAPS: &[&str] = &[
    "this program was tried under Wine only, not on Windows itself",
    "the system does not report changes of files here: each question looks for them",
    "a file whose content changes while its length and its time of change stay the same looks unchanged, and so may one whose writer keeps it open or writes under another hard link",
    "the memory and the starts of servers are limited for each workspace, not for the machine",
    "an edit replaces a file by a new one: its access control list and its alternate streams are those of a new file",
    "a trusted program may be replaced between the check of its hash and its start",
];

/// Texts of the operating system as bytes.
#[cfg(unix)]
pub(crate) use std::os::unix::ffi::{OsStrExt, OsStringExt};
#[cfg(windows)]
pub(crate) use windows::text::{OsStrExt, OsStringExt};

pub(crate) use paths::{canonicalize, is_program};
