//! The kernel's change events: inotify(7), one watch per directory.

use std::ffi::OsString;

/// The content of one event of the kernel.
#[cfg_attr(not(linux_kernel), expect(dead_code, reason = "other systems report none"))]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum KernelWatchEvent {
    /// An event on the entry `name` of the watched directory.
    Entry {
        /// The number of the watch.
        watch: i32,
        /// The name in the directory.
        name: OsString,
        /// True if the entry is a directory.
        is_dir: bool,
        /// True if its content or identity has certainly changed, even if times and size have not.
        certain: bool,
    },
    /// The watched directory itself may be gone or elsewhere.
    Gone {
        /// The number of the watch.
        watch: i32,
    },
    /// The kernel had to drop events.
    Overflow,
}

/// The reasons why a directory could not be watched.
#[cfg_attr(not(linux_kernel), expect(dead_code, reason = "other systems have one of them"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KernelWatchError {
    /// The path is not a directory (any more), or may not be listed.
    NotThere,
    /// The user's number of watches is used up, or the system does not offer them here.
    NoWatch,
}

#[cfg(linux_kernel)]
pub(crate) use linux::Watches;
#[cfg(not(linux_kernel))]
pub(crate) use none::Watches;

#[cfg(linux_kernel)]
mod linux {
    use std::ffi::OsStr;
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
    use rustix::io::Errno;

    use super::{KernelWatchError, KernelWatchEvent};

    /// The size of the read buffer: room for some hundred events.
    const INOTIFY_BUFFER_BYTES: usize = 64 * 1024;

    /// An inotify instance.
    #[derive(Debug)]
    pub(crate) struct Watches {
        fd: OwnedFd,
        buffer: Box<[MaybeUninit<u8>]>,
    }

    impl Watches {
        /// `None` if the system has no inotify instance left.
        pub(crate) fn new() -> Option<Self> {
            let fd = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
            Some(Self { fd, buffer: Box::new_uninit_slice(INOTIFY_BUFFER_BYTES) })
        }

        /// Watches the directory at the absolute path `dir`; a directory has only one watch.
        pub(crate) fn add(&self, dir: &Path) -> Result<i32, KernelWatchError> {
            let flags = WatchFlags::CREATE
                | WatchFlags::DELETE
                | WatchFlags::MODIFY
                | WatchFlags::CLOSE_WRITE
                | WatchFlags::MOVED_FROM
                | WatchFlags::MOVED_TO
                | WatchFlags::DELETE_SELF
                | WatchFlags::MOVE_SELF
                | WatchFlags::ONLYDIR
                | WatchFlags::DONT_FOLLOW
                | WatchFlags::EXCL_UNLINK;
            inotify::add_watch(&self.fd, dir, flags).map_err(|errno| match errno {
                Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::ACCESS => KernelWatchError::NotThere,
                _ => KernelWatchError::NoWatch,
            })
        }

        pub(crate) fn remove(&self, watch: i32) {
            // The call fails only if the kernel has removed the watch already.
            let _ = inotify::remove_watch(&self.fd, watch);
        }

        /// Passes every queued event to `seen`, until there is none or `seen` returns false.
        pub(crate) fn read(&mut self, mut seen: impl FnMut(KernelWatchEvent) -> bool) {
            let mut reader = inotify::Reader::new(&self.fd, &mut self.buffer);
            loop {
                match reader.next() {
                    Ok(event) => {
                        if let Some(event) = parse_event(&event)
                            && !seen(event)
                        {
                            return;
                        }
                    }
                    Err(Errno::INTR) => {}
                    Err(Errno::AGAIN) => return,
                    Err(_) => {
                        seen(KernelWatchEvent::Overflow);
                        return;
                    }
                }
            }
        }
    }

    fn parse_event(event: &inotify::Event<'_>) -> Option<KernelWatchEvent> {
        let flags = event.events();
        let watch = event.wd();
        if flags.contains(ReadFlags::QUEUE_OVERFLOW) {
            return Some(KernelWatchEvent::Overflow);
        }
        let gone = ReadFlags::IGNORED | ReadFlags::DELETE_SELF | ReadFlags::MOVE_SELF | ReadFlags::UNMOUNT;
        if flags.intersects(gone) {
            return Some(KernelWatchEvent::Gone { watch });
        }
        let name = OsStr::from_bytes(event.file_name()?.to_bytes()).to_owned();
        let certain = !flags.contains(ReadFlags::CLOSE_WRITE);
        Some(KernelWatchEvent::Entry { watch, name, is_dir: flags.contains(ReadFlags::ISDIR), certain })
    }
}

#[cfg(not(linux_kernel))]
mod none {
    use std::path::Path;

    use super::{KernelWatchError, KernelWatchEvent};

    /// A substitute for systems without watches: every directory is scanned instead.
    #[derive(Debug)]
    pub(crate) struct Watches;

    impl Watches {
        pub(crate) fn new() -> Option<Self> {
            None
        }

        pub(crate) fn add(&self, _: &Path) -> Result<i32, KernelWatchError> {
            Err(KernelWatchError::NoWatch)
        }

        pub(crate) fn remove(&self, _: i32) {}

        pub(crate) fn read(&mut self, _: impl FnMut(KernelWatchEvent) -> bool) {}
    }
}
