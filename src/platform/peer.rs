//! The process at the other end of a local socket.

use super::files::AsFd;
#[cfg(linux_kernel)]
use super::files::OwnedFd;

/// The handle of the peer process.
#[derive(Debug)]
pub(crate) enum PeerHandle {
    /// A handle of this one process, which stays valid when its number is reused.
    #[cfg(linux_kernel)]
    Process(OwnedFd),
    /// The process ended before its handle was opened.
    #[cfg(linux_kernel)]
    Gone,
    /// The system has no such handles.
    None,
}

#[cfg(linux_kernel)]
impl PeerHandle {
    /// Linux has process handles of sockets since 6.5 (unix(7), `SO_PEERPIDFD`).
    pub(crate) fn from_socket(socket: &impl AsFd) -> Self {
        use nix::errno::Errno;
        use nix::sys::socket::{getsockopt, sockopt::PeerPidfd};
        match getsockopt(socket, PeerPidfd) {
            Ok(process) => Self::Process(process),
            Err(Errno::ENOPROTOOPT) => Self::None,
            Err(_) => Self::Gone,
        }
    }

    /// Returns true if the process has certainly or perhaps ended.
    pub(crate) fn is_gone(&self) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        match self {
            Self::Process(process) => {
                let mut end = [PollFd::new(process, PollFlags::IN)];
                // Its end is readable (pidfd_open(2)). A process that cannot be inspected is not
                // trusted.
                !matches!(poll(&mut end, Some(&Timespec::default())), Ok(0))
            }
            Self::Gone => true,
            Self::None => false,
        }
    }
}

#[cfg(not(linux_kernel))]
impl PeerHandle {
    pub(crate) fn from_socket(_: &impl AsFd) -> Self {
        Self::None
    }

    pub(crate) fn is_gone(&self) -> bool {
        false
    }
}
