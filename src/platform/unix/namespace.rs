//! A process namespace for one command. When its first process ends, the kernel ends all others at
//! once, even if they keep forking. The processes see only each other, so they cannot signal, slow
//! down or take files from others.
//!
//! A namespace needs root's right to mount, since `/proc` has to show the same processes. An
//! ordinary user would have that right in a user namespace. But there the files of all other users,
//! including root, have no known owner: ssh then refuses the machine's configuration, and git the
//! repositories of others. A control group could also be ended at once, but joining one takes up to
//! 10 ms, because the kernel waits for all processors. Without that right, a command is therefore
//! ended in rounds ([`supervisor`](crate::process::supervisor)).

#[cfg(linux_kernel)]
pub(crate) use linux::{make, show};

#[cfg(linux_kernel)]
mod linux {
    use rustix::io::Result;
    use rustix::mount::{MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_change, unmount};
    use rustix::thread::UnshareFlags;

    /// Makes the next child of this process, which has one thread, the first of a process namespace
    /// of its own.
    pub(crate) fn make() -> Result<()> {
        unshare(UnshareFlags::NEWNS)?;
        // Mounts made outside later are visible inside, and not the other way round.
        mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::DOWNSTREAM)?;
        // If `/proc` cannot be mounted (in many containers), nothing has happened yet that must be
        // reversed.
        mount_proc()?;
        let made = unshare(UnshareFlags::NEWPID);
        if made.is_err() {
            unmount("/proc", UnmountFlags::DETACH)?;
        }
        made
    }

    /// Shows the processes of the namespace of which this process is the first.
    pub(crate) fn show() -> Result<()> {
        mount_proc()
    }

    fn mount_proc() -> Result<()> {
        mount("proc", "/proc", "proc", MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC, None)
    }

    #[expect(
        deprecated,
        reason = "deprecated for the sake of `UnshareFlags::FILES`, which is not used here; its successor is unsafe"
    )]
    fn unshare(flags: UnshareFlags) -> Result<()> {
        rustix::thread::unshare(flags)
    }
}

/// Other systems have no such namespaces.
#[cfg(not(linux_kernel))]
pub(crate) fn make() -> rustix::io::Result<()> {
    Err(rustix::io::Errno::NOSYS)
}

/// Other systems have no such namespaces.
#[cfg(not(linux_kernel))]
pub(crate) fn show() -> rustix::io::Result<()> {
    Err(rustix::io::Errno::NOSYS)
}
