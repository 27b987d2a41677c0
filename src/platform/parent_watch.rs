//! The means by which a supervisor notices its parent's death.
//!
//! Linux sends it a signal, and gives it the orphans below it (prctl(2), `PR_SET_PDEATHSIG` and
//! `PR_SET_CHILD_SUBREAPER`). Elsewhere the parent keeps the only writing end of a pipe whose
//! reading end its children inherit; at its death the pipe ends. Windows needs no supervisors: it
//! ends the children of a process with it ([`process_group`](super::process_group)).

#[cfg(linux_kernel)]
pub(crate) use kernel::{GIVES_ORPHANS, parent_death, parent_life};
#[cfg(all(unix, not(linux_kernel)))]
pub(crate) use pipe::{GIVES_ORPHANS, parent_death, parent_life};

/// True if servers and commands are started below a supervisor.
pub(crate) const HAS_SUPERVISORS: bool = cfg!(unix);

/// There is no supervisor that asks for it.
#[cfg(windows)]
pub(crate) fn parent_life() -> std::io::Result<std::ffi::OsString> {
    Err(std::io::ErrorKind::Unsupported.into())
}

#[cfg(linux_kernel)]
mod kernel {
    use std::ffi::{OsStr, OsString};
    use std::future::Future;
    use std::io;

    use rustix::process::{Signal, getpid, set_child_subreaper, set_parent_process_death_signal};

    /// True if a supervisor becomes the parent of all orphans below it.
    pub(crate) const GIVES_ORPHANS: bool = true;

    /// The name of this process's life for [`parent_death`] in a child.
    pub(crate) fn parent_life() -> io::Result<OsString> {
        Ok("kernel".into())
    }

    /// Requests SIGTERM at the parent's death. The future never ends.
    ///
    /// # Errors
    /// The kernel refuses.
    pub(crate) fn parent_death(_: &OsStr) -> io::Result<impl Future<Output = ()>> {
        set_parent_process_death_signal(Some(Signal::TERM))?;
        set_child_subreaper(Some(getpid()))?;
        Ok(std::future::pending())
    }
}

#[cfg(all(unix, not(linux_kernel)))]
mod pipe {
    use std::ffi::{OsStr, OsString};
    use std::fs::File;
    use std::future::Future;
    use std::io::{self, PipeReader, PipeWriter};
    use std::os::fd::AsRawFd;

    use parking_lot::Mutex;
    use rustix::io::{FdFlags, fcntl_setfd};
    use tokio::io::AsyncReadExt;
    use tokio::net::unix::pipe::Receiver;

    /// True if a supervisor becomes the parent of all orphans below it.
    pub(crate) const GIVES_ORPHANS: bool = false;

    /// The name of this process's life for [`parent_death`] in a child.
    ///
    /// # Errors
    /// There are no descriptors left for a pipe.
    pub(crate) fn parent_life() -> io::Result<OsString> {
        /// Open until this process ends.
        static LIFE: Mutex<Option<(PipeReader, PipeWriter)>> = Mutex::new(None);
        let mut life = LIFE.lock();
        let (reader, _) = match life.take() {
            Some(pipe) => life.insert(pipe),
            None => {
                let (reader, writer) = io::pipe()?;
                // Inherited by every child; none but a supervisor reads it.
                fcntl_setfd(&reader, FdFlags::empty())?;
                life.insert((reader, writer))
            }
        };
        Ok(format!("/dev/fd/{}", reader.as_raw_fd()).into())
    }

    /// A future that ends when the parent has died. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// `address` is not the pipe of the parent.
    pub(crate) fn parent_death(address: &OsStr) -> io::Result<impl Future<Output = ()>> {
        let mut pipe = Receiver::from_file(File::open(address)?)?;
        Ok(async move {
            // Nothing is ever written to it: reading ends with the pipe.
            let _end = pipe.read_u8().await;
        })
    }
}

/// Requests that the kernel kill this process, which has no other work, when its parent dies.
///
/// # Errors
/// The kernel refuses.
#[cfg(linux_kernel)]
pub(crate) fn die_with_parent() -> std::io::Result<()> {
    use rustix::process::{Signal, set_parent_process_death_signal};
    Ok(set_parent_process_death_signal(Some(Signal::KILL))?)
}

/// Other systems cannot do that.
#[cfg(all(unix, not(linux_kernel)))]
pub(crate) fn die_with_parent() -> std::io::Result<()> {
    Ok(())
}
