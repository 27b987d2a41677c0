//! The functions of [`platform::files`](super::super::files) on Windows.
//!
//! Folders are held open without the right to rename or delete them, so a path below an open folder
//! stays the same while it is used; no link is followed (`cap-primitives`). On Windows there are no
//! numeric owners and permission bits, and no exchange of two names. The standard library has no
//! time of a file's last change of any kind. [`GAPS`](crate::platform::GAPS) lists the
//! consequences.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom};
use std::os::windows::fs::{FileExt, OpenOptionsExt as _};
use std::os::windows::io::AsHandle;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bitflags::bitflags;
use cap_primitives::ambient_authority;
use cap_primitives::fs::{
    DirOptions, FollowSymlinks, Metadata, OpenOptions, OpenOptionsExt, open_ambient_dir, open_dir_nofollow,
};
use io_lifetimes::AsFilelike;

use super::attributes::{FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OPEN_REPARSE_POINT, open_to_inspect};
pub(crate) use super::attributes::{FileType, Stat, unix_time};
use super::errno::unless_in_use;
pub(crate) use super::errno::{Errno, Result};
use crate::platform::paths::is_usable_path;

/// An owned handle.
pub(crate) type OwnedFd = std::os::windows::io::OwnedHandle;
/// A borrowed handle.
pub(crate) type BorrowedFd<'a> = std::os::windows::io::BorrowedHandle<'a>;

/// A value with an open handle.
pub(crate) trait AsFd {
    /// Borrows the handle.
    fn as_fd(&self) -> BorrowedFd<'_>;
}

macro_rules! has_handle {
    ($($type:ty),*) => {$(
        impl AsFd for $type {
            fn as_fd(&self) -> BorrowedFd<'_> {
                self.as_handle()
            }
        }
    )*};
}

has_handle!(File, OwnedFd, BorrowedFd<'_>, io::Stdout, io::Stderr, io::StdoutLock<'_>, io::StderrLock<'_>);

impl<T: AsFd + ?Sized> AsFd for &T {
    fn as_fd(&self) -> BorrowedFd<'_> {
        (**self).as_fd()
    }
}

impl<T: AsFd + ?Sized> AsFd for Arc<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        (**self).as_fd()
    }
}

bitflags! {
    /// The ways to open an object.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) struct OFlags: u32 {
        const WRONLY = 1;
        const RDWR = 1 << 1;
        const CREATE = 1 << 2;
        const EXCL = 1 << 3;
        const DIRECTORY = 1 << 4;
        const NOFOLLOW = 1 << 5;
        /// Names an object without reading it.
        const PATH = 1 << 6;
        /// The default.
        const RDONLY = 0;
        /// Handles are never inherited.
        const CLOEXEC = 0;
        /// No file blocks.
        const NONBLOCK = 0;
        const NOCTTY = 0;
    }

    /// Permission bits; the system has none.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) struct Mode: u32 {
        const RUSR = 0o400;
        const WUSR = 0o200;
        const RWXU = 0o700;
    }

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) struct AtFlags: u32 {
        const SYMLINK_NOFOLLOW = 1;
        const REMOVEDIR = 1 << 1;
        const EACCESS = 1 << 2;
    }

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) struct RenameFlags: u32 {
        const NOREPLACE = 1;
        const EXCHANGE = 1 << 1;
    }

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) struct Access: u32 {
        const WRITE_OK = 1;
    }
}

impl Mode {
    pub(crate) fn from_raw_mode(mode: u32) -> Self {
        Self::from_bits_retain(mode)
    }
}

/// An owner. The system has none with a number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Uid;
/// A group. The system has none with a number.
pub(crate) type Gid = Uid;

impl Uid {
    pub(crate) fn from_raw(_: u32) -> Self {
        Self
    }
}

/// The present folder, beneath which absolute paths lie as well.
pub(crate) const CWD: CurrentFolder = CurrentFolder;

/// See [`CWD`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct CurrentFolder;

/// A folder in which a path begins.
pub(crate) trait Start {
    /// Returns an open handle of the folder of `path`, and the rest of the path.
    fn at<'p>(&self, path: &'p Path) -> Result<(File, &'p Path)>;
}

impl<T: AsFd> Start for T {
    fn at<'p>(&self, path: &'p Path) -> Result<(File, &'p Path)> {
        if !is_usable_path(path) {
            return Err(Errno::INVAL);
        }
        Ok((File::from(self.as_fd().try_clone_to_owned()?), path))
    }
}

impl Start for CurrentFolder {
    fn at<'p>(&self, path: &'p Path) -> Result<(File, &'p Path)> {
        let folder = if path.file_name().is_some() { path.parent().unwrap_or(path) } else { path };
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let rest = path.file_name().map_or(Path::new("."), Path::new);
        Ok((open_ambient_dir(folder, ambient_authority())?, rest))
    }
}

/// Opens `path`, one name or `.`, in `folder`.
///
/// # Errors
/// `LOOP` if it is a link and links are not to be followed, `NOTDIR` if it is no folder and should
/// be one.
pub(crate) fn openat(folder: impl Start, path: impl AsRef<Path>, flags: OFlags, _: Mode) -> Result<OwnedFd> {
    let (start, name) = folder.at(path.as_ref())?;
    Ok(open_in(&start, name, flags)?.into())
}

/// Opens `name`, one name or `.`, in the open `folder`; no link is followed.
pub(crate) fn open_in(folder: &File, name: &Path, flags: OFlags) -> Result<File> {
    if flags.contains(OFlags::DIRECTORY) || name == Path::new(".") {
        return open_dir_nofollow(folder, name).map_err(|error| kind_of_refusal(folder, name, error));
    }
    let writes = flags.intersects(OFlags::WRONLY | OFlags::RDWR);
    let mut options = OpenOptions::new();
    options
        .read(!flags.contains(OFlags::WRONLY))
        .write(writes)
        .create(flags.contains(OFlags::CREATE) && !flags.contains(OFlags::EXCL))
        .create_new(flags.contains(OFlags::CREATE | OFlags::EXCL))
        .custom_flags(FILE_FLAG_BACKUP_SEMANTICS)
        ._cap_fs_ext_follow(FollowSymlinks::No);
    cap_primitives::fs::open(folder, name, &options).map_err(|error| kind_of_refusal(folder, name, error))
}

/// A link is refused with an error that does not say so.
fn kind_of_refusal(folder: &File, name: &Path, error: io::Error) -> Errno {
    match cap_primitives::fs::stat(folder, name, FollowSymlinks::No) {
        Ok(metadata) if metadata.is_symlink() => Errno::LOOP,
        _ => error.into(),
    }
}

/// Opens the object at `path`, links followed unless `flags` forbid it.
pub(crate) fn open(path: impl AsRef<Path>, flags: OFlags, _: Mode) -> Result<OwnedFd> {
    let mut attributes = FILE_FLAG_BACKUP_SEMANTICS;
    if flags.contains(OFlags::NOFOLLOW) {
        attributes |= FILE_FLAG_OPEN_REPARSE_POINT;
    }
    let file = fs::OpenOptions::new().read(true).custom_flags(attributes).open(path)?;
    let metadata = file.metadata()?;
    match () {
        () if metadata.is_symlink() => Err(Errno::LOOP),
        () if flags.contains(OFlags::DIRECTORY) && !metadata.is_dir() => Err(Errno::NOTDIR),
        () => Ok(file.into()),
    }
}

pub(crate) fn fstat(open: impl AsFd) -> Result<Stat> {
    let open = open.as_fd();
    let file = open.as_filelike_view::<File>();
    Stat::of(&file)
}

/// Like stat(2): links are followed.
pub(crate) fn stat(path: impl AsRef<Path>) -> Result<Stat> {
    Stat::of(&open_to_inspect(path, 0)?)
}

/// Like lstat(2): of a link itself.
pub(crate) fn lstat(path: impl AsRef<Path>) -> Result<Stat> {
    Stat::of(&open_to_inspect(path, FILE_FLAG_OPEN_REPARSE_POINT)?)
}

pub(crate) fn statat(folder: impl Start, path: impl AsRef<Path>, flags: AtFlags) -> Result<Stat> {
    let (start, name) = folder.at(path.as_ref())?;
    let follow =
        if flags.contains(AtFlags::SYMLINK_NOFOLLOW) { FollowSymlinks::No } else { FollowSymlinks::Yes };
    Ok(Stat::new(&cap_primitives::fs::stat(&start, name, follow)?))
}

/// The names in the open `folder`, each with its type.
///
/// # Errors
/// The folder cannot be read. An item is an error if reading ends early.
pub(crate) fn entries(folder: impl AsFd) -> Result<impl Iterator<Item = Result<(OsString, FileType)>>> {
    let folder = File::from(folder.as_fd().try_clone_to_owned()?);
    let entries = cap_primitives::fs::read_base_dir(&folder)?;
    Ok(entries.map(|entry| {
        let entry = entry?;
        let kind = entry.file_type()?;
        let kind = match () {
            () if kind.is_symlink() => FileType::Symlink,
            () if kind.is_dir() => FileType::Directory,
            () if kind.is_file() => FileType::RegularFile,
            () => FileType::Unknown,
        };
        Ok((entry.file_name(), kind))
    }))
}

/// Returns Ok if the object may be written to, as far as its attributes tell.
pub(crate) fn accessat(folder: impl Start, path: impl AsRef<Path>, _: Access, flags: AtFlags) -> Result<()> {
    let stat = statat(folder, path, flags | AtFlags::SYMLINK_NOFOLLOW)?;
    if stat.st_mode & 0o222 == 0 { Err(Errno::ACCESS) } else { Ok(()) }
}

/// Sets the attribute "read-only" as the permission to write says.
pub(crate) fn fchmod(open: impl AsFd, mode: Mode) -> Result<()> {
    let open = open.as_fd();
    let file = open.as_filelike_view::<File>();
    Ok(set_mode(&file, mode.bits())?)
}

/// Does nothing: a file belongs to the user who creates it.
pub(crate) fn fchown(_: impl AsFd, _: Option<Uid>, _: Option<Gid>) -> Result<()> {
    Ok(())
}

/// Syncs a file to the disk. The names in a folder need none: NTFS has a journal of them.
pub(crate) fn fsync(open: impl AsFd) -> Result<()> {
    let open = open.as_fd();
    let file = open.as_filelike_view::<File>();
    if file.metadata()?.is_dir() { Ok(()) } else { Ok(file.sync_all()?) }
}

pub(crate) fn mkdirat(folder: impl Start, path: impl AsRef<Path>, _: Mode) -> Result<()> {
    let (start, name) = folder.at(path.as_ref())?;
    Ok(cap_primitives::fs::create_dir(&start, name, &DirOptions::new())?)
}

/// Removes a file, a link, or with [`AtFlags::REMOVEDIR`] an empty folder.
///
/// # Errors
/// `ISDIR` or `NOTDIR` if it is of the other kind.
pub(crate) fn unlinkat(folder: impl Start, path: impl AsRef<Path>, flags: AtFlags) -> Result<()> {
    let (start, name) = folder.at(path.as_ref())?;
    let metadata = cap_primitives::fs::stat(&start, name, FollowSymlinks::No)?;
    match (flags.contains(AtFlags::REMOVEDIR), metadata.is_dir()) {
        (true, true) => Ok(cap_primitives::fs::remove_dir(&start, name)?),
        (true, false) => Err(Errno::NOTDIR),
        (false, true) => Err(Errno::ISDIR),
        (false, false) if metadata.is_symlink() => remove_link(&start, name),
        (false, false) => {
            if metadata.permissions().readonly() {
                // A file that may not be written cannot be removed either, unlike on Unix.
                let file = open_in(&start, name, OFlags::RDONLY)?;
                set_mode(&file, 0o666)?;
            }
            unless_in_use(|| {
                let removed = cap_primitives::fs::remove_file(&start, name);
                removed.map_err(|error| kind_of_denial(&start, name, error))
            })
        }
    }
}

/// The code for access (`DELETE`) that removal and replacement need.
const DELETE: u32 = 0x0001_0000;

/// The system also denies access to an object that another program has open.
fn kind_of_denial(folder: &File, name: &Path, error: io::Error) -> Errno {
    let errno = Errno::from(error);
    let is_read_only = || {
        let metadata = cap_primitives::fs::stat(folder, name, FollowSymlinks::No);
        metadata.is_ok_and(|metadata| metadata.permissions().readonly())
    };
    if errno != Errno::ACCESS || is_read_only() {
        return errno;
    }
    let mut options = OpenOptions::new();
    options
        .access_mode(DELETE)
        .custom_flags(FILE_FLAG_BACKUP_SEMANTICS)
        ._cap_fs_ext_follow(FollowSymlinks::No);
    match cap_primitives::fs::open(folder, name, &options).map_err(Errno::from) {
        Ok(_) | Err(Errno::TXTBSY) => Errno::TXTBSY,
        Err(_) => errno,
    }
}

/// A link to a folder is removed like a folder.
fn remove_link(folder: &File, name: &Path) -> Result<()> {
    match cap_primitives::fs::remove_file(folder, name) {
        Ok(()) => Ok(()),
        Err(_) => Ok(cap_primitives::fs::remove_dir(folder, name)?),
    }
}

pub(crate) fn renameat(
    from: impl Start,
    old: impl AsRef<Path>,
    to: impl Start,
    new: impl AsRef<Path>,
) -> Result<()> {
    renameat_with(from, old, to, new, RenameFlags::empty())
}

/// Renames. Without replacement, the new name is looked for first: another program can create it in
/// between.
///
/// # Errors
/// `NOSYS` for an exchange, which Windows does not have.
pub(crate) fn renameat_with(
    from: impl Start,
    old: impl AsRef<Path>,
    to: impl Start,
    new: impl AsRef<Path>,
    flags: RenameFlags,
) -> Result<()> {
    if flags.contains(RenameFlags::EXCHANGE) {
        return Err(Errno::NOSYS);
    }
    let ((from, old), (to, new)) = (from.at(old.as_ref())?, to.at(new.as_ref())?);
    if flags.contains(RenameFlags::NOREPLACE)
        && let Ok(there) = cap_primitives::fs::stat(&to, new, FollowSymlinks::No)
    {
        // A name that differs in case alone is the same object.
        let is_same = cap_primitives::fs::stat(&from, old, FollowSymlinks::No)
            .is_ok_and(|object| identity_of(&object) == identity_of(&there));
        if !is_same {
            return Err(Errno::EXIST);
        }
        return rename_to_another_case(&from, old, &to, new);
    }
    unless_in_use(|| {
        cap_primitives::fs::rename(&from, old, &to, new).map_err(|error| {
            let is_new = cap_primitives::fs::stat(&to, new, FollowSymlinks::No).is_err();
            let (folder, name) = if is_new { (&from, old) } else { (&to, new) };
            kind_of_denial(folder, name, error)
        })
    })
}

/// Renames by way of a name that is free: a name that differs in case alone is taken by the object
/// itself.
fn rename_to_another_case(from: &File, old: &Path, to: &File, new: &Path) -> Result<()> {
    let mut between = OsString::from(".lsp-tools-case-");
    between.push(std::process::id().to_string());
    between.push(old.as_os_str());
    let between = Path::new(&between);
    cap_primitives::fs::rename(from, old, from, between)?;
    cap_primitives::fs::rename(from, between, to, new).map_err(|error| {
        // If this fails too, the object has the name between.
        let _kept = cap_primitives::fs::rename(from, between, from, old);
        error.into()
    })
}

fn identity_of(metadata: &Metadata) -> (Option<u32>, Option<u64>) {
    use cap_primitives::fs::_WindowsByHandle as _;
    (metadata.volume_serial_number(), metadata.file_index())
}

pub(crate) fn linkat(
    from: impl Start,
    old: impl AsRef<Path>,
    to: impl Start,
    new: impl AsRef<Path>,
    _: AtFlags,
) -> Result<()> {
    let ((from, old), (to, new)) = (from.at(old.as_ref())?, to.at(new.as_ref())?);
    Ok(cap_primitives::fs::hard_link(&from, old, &to, new)?)
}

/// The target of a link.
#[derive(Debug)]
pub(crate) struct LinkTarget(OsString);

impl LinkTarget {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.0.as_encoded_bytes()
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0.into_encoded_bytes()
    }
}

/// Returns the target of a link.
///
/// # Errors
/// `INVAL` if the object is not a link.
pub(crate) fn readlinkat(folder: impl Start, path: impl AsRef<Path>, _: Vec<u8>) -> Result<LinkTarget> {
    let (start, name) = folder.at(path.as_ref())?;
    if !cap_primitives::fs::stat(&start, name, FollowSymlinks::No)?.is_symlink() {
        return Err(Errno::INVAL);
    }
    let target: PathBuf = cap_primitives::fs::read_link_contents(&start, name)?;
    Ok(LinkTarget(target.into_os_string()))
}

/// Creates a link to `target`, which decides whether it is one to a folder.
pub(crate) fn symlinkat(target: impl AsTarget, folder: impl Start, path: impl AsRef<Path>) -> Result<()> {
    let (start, name) = folder.at(path.as_ref())?;
    let target = target.as_target();
    let is_folder = fs::metadata(&*target).is_ok_and(|metadata| metadata.is_dir())
        || cap_primitives::fs::stat(&start, &target, FollowSymlinks::Yes)
            .is_ok_and(|metadata| metadata.is_dir());
    if is_folder {
        Ok(cap_primitives::fs::symlink_dir(&target, &start, name)?)
    } else {
        Ok(cap_primitives::fs::symlink_file(&target, &start, name)?)
    }
}

/// A target of a link, as a path or as the bytes of a [`LinkTarget`].
pub(crate) trait AsTarget {
    fn as_target(&self) -> PathBuf;
}

impl AsTarget for &PathBuf {
    fn as_target(&self) -> PathBuf {
        PathBuf::clone(self)
    }
}

impl AsTarget for &[u8] {
    fn as_target(&self) -> PathBuf {
        String::from_utf8_lossy(self).into_owned().into()
    }
}

/// Creates a link at `place` to `target`.
///
/// # Errors
/// The system refuses: only developers and administrators may create links.
pub(crate) fn symlink(target: impl AsRef<Path>, place: impl AsRef<Path>) -> io::Result<()> {
    let (target, place) = (target.as_ref(), place.as_ref());
    let whole = place.parent().unwrap_or(Path::new("")).join(target);
    if whole.is_dir() {
        std::os::windows::fs::symlink_dir(target, place)
    } else {
        std::os::windows::fs::symlink_file(target, place)
    }
}

/// Sets the attribute "read-only" as the permission to write says.
///
/// # Errors
/// The system refuses.
pub(crate) fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    let mut permissions = file.metadata()?.permissions();
    let is_read_only = mode & 0o222 == 0;
    if permissions.readonly() == is_read_only {
        return Ok(());
    }
    permissions.set_readonly(is_read_only);
    file.set_permissions(permissions)
}

/// Fills `buffer` with the bytes of `file` at `offset`.
///
/// # Errors
/// The file is shorter, or cannot be read.
pub(crate) fn read_exact_at(mut file: &File, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
    // Unlike pread(2), the system's function moves the file position.
    let place = file.stream_position()?;
    let read = read_at(file, &mut buffer, &mut offset);
    file.seek(SeekFrom::Start(place))?;
    read
}

fn read_at(file: &File, buffer: &mut &mut [u8], offset: &mut u64) -> io::Result<()> {
    while !buffer.is_empty() {
        match file.seek_read(buffer, *offset)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => {
                *buffer = &mut std::mem::take(buffer)[count..];
                *offset += count as u64;
            }
        }
    }
    Ok(())
}

/// Does nothing: NTFS has a journal of the names in a folder.
pub(crate) fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Windows has no sockets among its files.
pub(crate) fn is_socket(_: &fs::Metadata) -> bool {
    false
}

/// Returns true if an object was not removed because a program has it open or runs it.
pub(crate) fn is_in_use(errno: Errno) -> bool {
    matches!(errno, Errno::ACCESS | Errno::TXTBSY)
}
