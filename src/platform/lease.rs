//! Leases on open files, by which the kernel keeps writers out while one is held.
//!
//! A process that opens the file for writing, or truncates it, waits until the lease is returned,
//! which happens when the last descriptor of the open file is closed. After
//! `/proc/sys/fs/lease-break-time` (normally 45 seconds) the kernel revokes the lease (fcntl(2),
//! "Leases"). A program that runs by then stays protected, because the kernel refuses writes to
//! running programs.
//!
//! The code is unsafe: neither the standard library nor rustix supports leases.

use std::fs::File;
use std::io;

#[cfg(linux_kernel)]
pub(crate) use linux::{is_held, take_read_lease};

/// Other systems have no leases.
#[cfg(not(linux_kernel))]
pub(crate) fn take_read_lease(_: &File) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Other systems have no leases.
#[cfg(not(linux_kernel))]
pub(crate) fn is_held(_: &File) -> bool {
    false
}

#[cfg(linux_kernel)]
#[allow(unsafe_code, reason = "no library offers leases; what makes each call sound stands beside it")]
mod linux {
    use std::os::fd::AsRawFd;

    use nix::libc;

    use super::{File, io};

    /// The command that sets the signal of a lease (asm-generic/fcntl.h); the libc crate lacks it.
    const F_SETSIG: libc::c_int = 10;

    /// Takes a read lease on `file`, which must have been opened for reading alone.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] if a process has the file open for writing; other errors if
    /// the file system has no leases, or the file belongs to another user.
    pub(crate) fn take_read_lease(file: &File) -> io::Result<()> {
        // The kernel announces a waiting writer by SIGIO, which would end this process. SIGURG is
        // ignored by default.
        check_result(unsafe { libc::fcntl(file.as_raw_fd(), F_SETSIG, libc::SIGURG) })?;
        // SAFETY: the command takes a number and no pointer, and the descriptor is open for as long
        // as `file` is borrowed.
        check_result(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_RDLCK) })
    }

    /// Returns true if the lease on `file` is held and no process waits for its end.
    pub(crate) fn is_held(file: &File) -> bool {
        // SAFETY: the command takes nothing, and the descriptor is open for as long as `file` is
        // borrowed.
        let lease = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETLEASE) };
        lease == libc::F_RDLCK
    }

    fn check_result(result: libc::c_int) -> io::Result<()> {
        if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}
