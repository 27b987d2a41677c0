//! Opening of files beneath a directory, checked by the kernel.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use parking_lot::RwLock;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::platform::files::to_errno;
use crate::platform::inode::InodeIdentity;

/// A directory outside of which nothing is opened.
#[derive(Debug)]
pub(crate) struct Jail {
    fd: RwLock<Arc<OwnedFd>>,
    /// Canonical; only for questions that the kernel cannot answer, never to decide alone.
    root: PathBuf,
}

/// The flags of every opening for reading: it never blocks on a FIFO, never takes a terminal, never
/// leaks into a child.
pub(crate) const READ: OFlags =
    OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

impl Jail {
    /// Creates the jail whose root is the canonical directory `root`.
    pub(crate) fn new(root: PathBuf) -> Result<Self, Errno> {
        let fd = RwLock::new(Arc::new(open_root(&root)?));
        Ok(Self { fd, root })
    }

    fn fd(&self) -> Arc<OwnedFd> {
        Arc::clone(&self.fd.read())
    }

    /// Reopens the root if it was removed and made again, or replaced, since it was opened. Returns
    /// true if it was.
    fn reopen_if_replaced(&self) -> bool {
        let identity = |fd: &OwnedFd| rustix::fs::fstat(fd).map(|stat| InodeIdentity::from_stat(&stat));
        let Ok(new) = open_root(&self.root) else { return false };
        if identity(&new) == identity(&self.fd()) {
            return false;
        }
        *self.fd.write() = Arc::new(new);
        true
    }

    /// Returns the root itself, for a walk name by name; the present one, if it was made again.
    pub(crate) fn root_fd(&self) -> Arc<OwnedFd> {
        self.reopen_if_replaced();
        self.fd()
    }

    /// Returns a handle of the object at `relative`, without opening it: its type and times can be
    /// read, its content cannot.
    ///
    /// The object is not affected (a device is not woken, a FIFO not joined). Returns `EXDEV` if
    /// the path leads out.
    pub(crate) fn locate(&self, relative: &Path) -> Result<OwnedFd, Errno> {
        self.open_with(relative, location_flags())
    }

    /// Opens `relative` for reading. Returns `EXDEV` if it leads out.
    pub(crate) fn open(&self, relative: &Path) -> Result<OwnedFd, Errno> {
        self.open_with(relative, READ)
    }

    fn open_with(&self, relative: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        match self.open_once(relative, flags) {
            Err(Errno::NOENT) if self.reopen_if_replaced() => self.open_once(relative, flags),
            other => other,
        }
    }

    /// Like [`locate`](Self::locate), for paths that mostly do not exist: the root is not checked
    /// again.
    pub(crate) fn locate_known(&self, relative: &Path) -> Result<OwnedFd, Errno> {
        self.open_once(relative, location_flags())
    }

    /// Returns true if there is an object at `relative` and the kernel confirms that no part of the
    /// path is a link. False proves nothing.
    #[cfg(linux_kernel)]
    pub(crate) fn is_unlinked(&self, relative: &Path) -> bool {
        use rustix::fs::ResolveFlags;
        let relative = if relative.as_os_str().is_empty() { Path::new(".") } else { relative };
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        rustix::fs::openat2(self.fd(), relative, location_flags(), Mode::empty(), resolve).is_ok()
    }

    /// Other systems cannot answer this.
    #[cfg(not(linux_kernel))]
    pub(crate) fn is_unlinked(&self, _: &Path) -> bool {
        false
    }

    fn open_once(&self, relative: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        let relative = if relative.as_os_str().is_empty() { Path::new(".") } else { relative };
        let fd = self.fd();
        match open_beneath(fd.as_fd(), relative, flags) {
            // The kernel refuses an absolute link even if it leads back into the workspace. Its
            // target, spelled without links, is therefore opened again.
            Err(Errno::XDEV) => open_beneath(fd.as_fd(), &self.resolve_relative(relative)?, flags),
            Err(Errno::NOSYS) => self.open_resolved(relative, flags),
            other => other,
        }
    }

    /// Opens a path on a kernel without openat2: all links are resolved first, and the result is
    /// then opened name by name, so that a folder exchanged in between cannot lead out.
    fn open_resolved(&self, relative: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        let mut opened = Err(Errno::LOOP);
        for _ in 0..MAX_OPEN_ATTEMPTS {
            let target = self.resolve_relative(relative)?;
            let root = rustix::fs::openat(self.fd(), ".", folder_flags(), Mode::empty())?;
            opened = open_by_steps(root, &target, flags);
            // A link has taken the place of a name since it was resolved.
            if opened.as_ref().err() != Some(&Errno::LOOP) {
                break;
            }
        }
        opened
    }

    /// Returns `relative` without any link in it, if that is still beneath the root.
    fn resolve_relative(&self, relative: &Path) -> Result<PathBuf, Errno> {
        let target = crate::platform::paths::canonicalize(self.root.join(relative)).map_err(to_errno)?;
        match target.strip_prefix(&self.root) {
            Ok(inside) if inside.as_os_str().is_empty() => Ok(PathBuf::from(".")),
            Ok(inside) => Ok(inside.to_owned()),
            Err(_) => Err(Errno::XDEV),
        }
    }
}

/// Opens the canonical `root`. A link among the folders that lead to it would mean that another
/// user chose the target, so it is refused.
fn open_root(root: &Path) -> Result<OwnedFd, Errno> {
    open_unlinked(root, OFlags::DIRECTORY)
}

/// Returns a handle of the object at the absolute `path`; `ELOOP` if a part of it is a link.
#[cfg(linux_kernel)]
pub(crate) fn open_unlinked(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let flags = location_flags() | OFlags::NOFOLLOW | flags;
    let resolve = rustix::fs::ResolveFlags::NO_SYMLINKS;
    match retry_openat2(|| rustix::fs::openat2(rustix::fs::CWD, path, flags, Mode::empty(), resolve)) {
        Err(Errno::NOSYS) => open_from_top(path, flags),
        opened => opened,
    }
}

/// Returns a handle of the object at the absolute `path`; `ELOOP` if a part of it is a link.
#[cfg(not(linux_kernel))]
pub(crate) fn open_unlinked(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    open_from_top(path, location_flags() | flags)
}

/// Opens the absolute `path` name by name.
fn open_from_top(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let top = rustix::fs::open("/", folder_flags(), Mode::empty())?;
    open_by_steps(top, path.strip_prefix("/").map_err(|_| Errno::INVAL)?, flags)
}

/// Opens `relative` beneath `folder` name by name, each beneath the folder that was opened before
/// it; `ELOOP` if one of them is a link.
fn open_by_steps(mut folder: OwnedFd, relative: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let mut names = relative.components().peekable();
    while let Some(name) = names.next() {
        let (Component::Normal(_) | Component::CurDir) = name else { return Err(Errno::XDEV) };
        let name = name.as_os_str();
        let is_last = names.peek().is_none();
        let step = if is_last { flags } else { folder_flags() };
        folder = match rustix::fs::openat(&folder, name, step | OFlags::NOFOLLOW, Mode::empty()) {
            // A link is not a folder either; macOS and Linux return different errors.
            Err(Errno::NOTDIR) if is_link(&folder, name) => return Err(Errno::LOOP),
            opened => opened?,
        };
        // A handle that reads nothing opens even a link.
        if is_last && is_symlink(rustix::fs::fstat(&folder)) {
            return Err(Errno::LOOP);
        }
    }
    Ok(folder)
}

fn is_link(folder: &OwnedFd, name: &std::ffi::OsStr) -> bool {
    is_symlink(rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW))
}

fn is_symlink(stat: Result<rustix::fs::Stat, Errno>) -> bool {
    stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_symlink())
}

/// Returns a handle of the object at `path`, like [`Jail::locate`] but anywhere.
pub(crate) fn locate_anywhere(path: &Path) -> Result<OwnedFd, Errno> {
    open_by_names(path, location_flags())
}

/// Opens `path` for reading, like [`Jail::open`] but anywhere.
pub(crate) fn open_anywhere(path: &Path) -> Result<OwnedFd, Errno> {
    open_by_names(path, READ)
}

/// Opens an object that has a name in a file system. Returns `ELOOP` if the path leads through an
/// open file of some process (`/proc/1/fd/3`): such a file may have no name, and the kernel does
/// not count its writers.
#[cfg(linux_kernel)]
fn open_by_names(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let resolve = rustix::fs::ResolveFlags::NO_MAGICLINKS;
    match retry_openat2(|| rustix::fs::openat2(rustix::fs::CWD, path, flags, Mode::empty(), resolve)) {
        // There is no better way on this system.
        Err(Errno::NOSYS) => rustix::fs::open(path, flags, Mode::empty()),
        opened => opened,
    }
}

#[cfg(not(linux_kernel))]
fn open_by_names(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    rustix::fs::open(path, flags, Mode::empty())
}

fn folder_flags() -> OFlags {
    location_flags() | OFlags::DIRECTORY
}

#[cfg(linux_kernel)]
pub(crate) fn location_flags() -> OFlags {
    OFlags::PATH | OFlags::CLOEXEC
}

#[cfg(not(linux_kernel))]
pub(crate) fn location_flags() -> OFlags {
    READ
}

/// The number of attempts to open a path in which names are exchanged (`EAGAIN`, see openat2(2)).
const MAX_OPEN_ATTEMPTS: usize = 16;

#[cfg(linux_kernel)]
fn open_beneath(root: std::os::fd::BorrowedFd<'_>, relative: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    use rustix::fs::ResolveFlags;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    retry_openat2(|| rustix::fs::openat2(root, relative, flags, Mode::empty(), resolve))
}

#[cfg(linux_kernel)]
fn retry_openat2(open: impl Fn() -> Result<OwnedFd, Errno>) -> Result<OwnedFd, Errno> {
    let mut result = Err(Errno::AGAIN);
    for _ in 0..MAX_OPEN_ATTEMPTS {
        result = open();
        if !matches!(result, Err(Errno::AGAIN | Errno::INTR)) {
            break;
        }
    }
    result
}

#[cfg(not(linux_kernel))]
fn open_beneath(_: std::os::fd::BorrowedFd<'_>, _: &Path, _: OFlags) -> Result<OwnedFd, Errno> {
    Err(Errno::NOSYS)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// The hostile links on which both ways of opening must agree.
    fn tree() -> (tempfile::TempDir, PathBuf) {
        let outer = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(outer.path()).unwrap().join("w");
        std::fs::create_dir_all(root.join("d")).unwrap();
        std::fs::create_dir_all(root.with_file_name("w-evil")).unwrap();
        std::fs::write(root.join("d/a"), "inside").unwrap();
        std::fs::write(root.with_file_name("w-evil").join("a"), "outside").unwrap();
        symlink("d/a", root.join("in")).unwrap();
        symlink(root.join("d/a"), root.join("in-absolute")).unwrap();
        symlink("../w/d/a", root.join("out-and-in")).unwrap();
        symlink("../w-evil/a", root.join("out")).unwrap();
        symlink(root.with_file_name("w-evil"), root.join("out-dir")).unwrap();
        symlink("/proc/self/root/etc/passwd", root.join("magic")).unwrap();
        symlink("loop-b", root.join("loop-a")).unwrap();
        symlink("loop-a", root.join("loop-b")).unwrap();
        (outer, root)
    }

    #[test]
    fn jail_fallback_gives_same_errors_as_openat2() {
        let (_keep, root) = tree();
        let jail = Jail::new(root.clone()).unwrap();
        let cases = [
            ("d/a", None),
            ("in", None),
            ("in-absolute", None),
            ("out-and-in", None),
            ("out", Some(Errno::XDEV)),
            ("out-dir/a", Some(Errno::XDEV)),
            ("magic", Some(Errno::XDEV)),
            ("loop-a", Some(Errno::LOOP)),
            ("missing", Some(Errno::NOENT)),
            ("d/a/b", Some(Errno::NOTDIR)),
        ];
        for (path, expected) in cases {
            assert_eq!(jail.open(Path::new(path)).err(), expected, "openat2: {path}");
            let opened = jail.open_resolved(Path::new(path), READ);
            assert_eq!(opened.err(), expected, "without openat2: {path}");
        }
    }

    #[test]
    fn jail_opens_recreated_root_and_refuses_symlink_in_its_place() {
        let (_keep, root) = tree();
        let jail = Jail::new(root.clone()).unwrap();
        std::fs::remove_dir_all(&root).unwrap();
        assert_eq!(jail.open(Path::new("d/a")).err(), Some(Errno::NOENT));
        std::fs::create_dir_all(root.join("d")).unwrap();
        std::fs::write(root.join("d/a"), "new").unwrap();
        assert!(jail.open(Path::new("d/a")).is_ok());
        // A link in its place is not followed, for any target.
        std::fs::remove_dir_all(&root).unwrap();
        symlink(root.with_file_name("w-evil"), &root).unwrap();
        assert!(jail.open(Path::new("a")).is_err());
        // Neither is one in the place of a folder above it.
        let above = root.parent().unwrap();
        std::fs::rename(above, above.with_extension("moved")).unwrap();
        let elsewhere = above.with_extension("elsewhere");
        std::fs::create_dir_all(elsewhere.join("w")).unwrap();
        std::fs::write(elsewhere.join("w/a"), "outside").unwrap();
        symlink(&elsewhere, above).unwrap();
        let opened = jail.open(Path::new("a"));
        std::fs::remove_file(above).unwrap();
        std::fs::rename(above.with_extension("moved"), above).unwrap();
        std::fs::remove_dir_all(&elsewhere).unwrap();
        assert!(opened.is_err());
    }
}
