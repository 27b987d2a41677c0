//! Errors of Windows by the names of POSIX.

use std::io;

/// The result of a function of [`platform::files`](crate::platform::files).
pub(crate) type Result<T> = std::result::Result<T, Errno>;

/// An error of the system, as its Windows code (winerror.h).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Errno(i32);

impl Errno {
    pub(crate) const NOENT: Self = Self(2);
    pub(crate) const ACCESS: Self = Self(5);
    pub(crate) const XDEV: Self = Self(17);
    pub(crate) const ROFS: Self = Self(19);
    pub(crate) const IO: Self = Self(31);
    /// Another program has it open without sharing it.
    pub(crate) const TXTBSY: Self = Self(32);
    pub(crate) const NOTSUP: Self = Self(50);
    pub(crate) const EXIST: Self = Self(80);
    pub(crate) const INVAL: Self = Self(87);
    pub(crate) const NOSPC: Self = Self(112);
    pub(crate) const NOSYS: Self = Self(120);
    pub(crate) const NOTEMPTY: Self = Self(145);
    pub(crate) const NAMETOOLONG: Self = Self(206);
    pub(crate) const NOTDIR: Self = Self(267);
    pub(crate) const ISDIR: Self = Self(336);
    pub(crate) const LOOP: Self = Self(681);
    pub(crate) const STALE: Self = Self(1006);
    pub(crate) const OPNOTSUPP: Self = Self(8609);
    pub(crate) const NXIO: Self = Self(1167);
    pub(crate) const DQUOT: Self = Self(1295);
    pub(crate) const AGAIN: Self = Self(1237);
    pub(crate) const PERM: Self = Self(1314);

    /// Returns the system's error in `error`; `None` if it is not from the system.
    pub(crate) fn from_io_error(error: &io::Error) -> Option<Self> {
        let Some(code) = error.raw_os_error() else {
            return match error.kind() {
                // The library refuses paths that lead out of an open folder.
                io::ErrorKind::PermissionDenied => Some(Self::XDEV),
                io::ErrorKind::ResourceBusy => Some(Self::TXTBSY),
                _ => None,
            };
        };
        Some(match code {
            // A folder on the way, a name, a network place, or a drive that is not there.
            3 | 15 | 53 | 67 | 123 | 161 | 21 => Self::NOENT,
            183 => Self::EXIST,
            39 => Self::NOSPC,
            1142 | 1921 | 4390 => Self::LOOP,
            code => Self(code),
        })
    }
}

/// The pauses, in milliseconds, after which an object is tried again that another program has open.
/// Virus scanners and indexers hold new files for moments, and no event tells their end.
const PAUSES_MS: [u64; 7] = [2, 4, 8, 16, 32, 64, 128];

/// Repeats `act` for a short time while another program has its object open.
pub(super) fn unless_in_use<T>(mut act: impl FnMut() -> Result<T>) -> Result<T> {
    for pause in PAUSES_MS {
        match act() {
            Err(Errno::TXTBSY) => std::thread::sleep(std::time::Duration::from_millis(pause)),
            done => return done,
        }
    }
    act()
}

impl From<io::Error> for Errno {
    fn from(error: io::Error) -> Self {
        Self::from_io_error(&error).unwrap_or(Self::IO)
    }
}

impl From<Errno> for io::Error {
    fn from(errno: Errno) -> Self {
        match errno {
            // The system's own message is about disks.
            Errno::XDEV => Self::new(io::ErrorKind::CrossesDevices, "it leads out of its folder"),
            Errno::LOOP => Self::other("it is a link, or leads through one"),
            Errno::TXTBSY => Self::new(
                io::ErrorKind::ResourceBusy,
                "another program has it open; close it there and try again",
            ),
            Errno(code) => Self::from_raw_os_error(code),
        }
    }
}

impl std::fmt::Display for Errno {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        io::Error::from(*self).fmt(formatter)
    }
}

impl std::error::Error for Errno {}
