//! A cache folder that mirrors the user's: real folders, with links to the user's entries at their
//! ends.
//!
//! A write through a link ends in the user's folder, where the sandbox denies it. Commands can
//! write to the mirror too, so nothing in it is trusted: each step goes from an open folder to an
//! entry in it and follows no link.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::platform::files::{
    AsFd, AtFlags, BorrowedFd, CWD, Errno, FileType, Mode, OFlags, OwnedFd, entries, mkdirat, openat,
    readlinkat, symlinkat, unlinkat,
};
use crate::workspace::{FileStamp, Workspace};

/// The greatest depth of a mirror.
const MAX_MIRROR_DEPTH: u8 = 32;
/// The most entries of one mirror. Entries beyond are downloaded again.
const MAX_MIRROR_ENTRIES: usize = 40_000;
/// The depth to which changes of the user's folders are detected. New entries below it appear
/// together with entries above it.
const MAX_WATCHED_MIRROR_DEPTH: u8 = 1;
/// The largest file that is copied, in bytes.
const MAX_MIRROR_COPY_BYTES: u64 = 16 << 20;
/// The maximum number of watched folders of one mirror.
const MAX_WATCHED_MIRROR_FOLDERS: usize = 64;

/// The mirrored part of a tool's folder.
#[derive(Debug)]
pub(super) struct Mirror {
    /// The relative path of the part.
    pub of: &'static str,
    pub ending: MirrorEnd,
    /// Names that are hidden at any depth; a leading `*` matches any text.
    pub hidden: &'static [&'static str],
}

/// The boundary between real folders and links.
#[derive(Debug, Clone, Copy)]
pub(super) enum MirrorEnd {
    /// Links to entries at this depth, counted from 1, and to files above.
    Depth(u8),
    /// Links to files.
    Files,
    /// Bare git repositories at the first level. Git follows a link to a file that it writes, and
    /// finds no objects through links. Therefore the small files are copied, and the user's objects
    /// are alternates of the repository.
    Repositories,
}

/// The state of a user's folder when it was listed, or of a file when it was copied; `None` if it
/// did not exist.
pub(super) type MirrorStamp = (PathBuf, Option<[i64; 2]>);

impl Mirror {
    fn is_leaf_depth(&self, depth: u8) -> bool {
        match self.ending {
            MirrorEnd::Depth(deepest) => depth >= deepest,
            MirrorEnd::Files | MirrorEnd::Repositories => depth >= MAX_MIRROR_DEPTH,
        }
    }

    fn is_hidden_name(&self, name: &OsStr) -> bool {
        let name = name.as_encoded_bytes();
        self.hidden.iter().any(|hidden| match hidden.strip_prefix('*') {
            Some(end) => name.ends_with(end.as_bytes()),
            None => name == hidden.as_bytes(),
        })
    }
}

/// The present state of a file or folder. A different state later means that it was written, or
/// that entries were added or removed.
pub(super) fn stat_stamp(path: &Path) -> Option<[i64; 2]> {
    let seen = FileStamp::from_path(path)?;
    Some([seen.inode.cast_signed(), seen.mtime_ns])
}

/// Mirrors the part of the user's folder `theirs` in `to`, until `until` at most. Returns the
/// stamps of the visited entries.
///
/// # Errors
/// If the folder of commands cannot be opened.
pub(super) fn mirror_folder(
    mirror: &Mirror,
    theirs: &Path,
    to: BorrowedFd<'_>,
    until: Instant,
) -> io::Result<Vec<MirrorStamp>> {
    let from = if mirror.of.is_empty() { theirs.to_owned() } else { theirs.join(mirror.of) };
    let mut walk = MirrorWalk { mirror, left: MAX_MIRROR_ENTRIES, until, stamps: Vec::new() };
    if stat_stamp(&from).is_none() {
        return Ok(vec![(from, None)]);
    }
    let folder = open_path(to, Path::new(mirror.of))?;
    walk.mirror_level(&from, folder.as_fd(), 0);
    if walk.is_over() {
        tracing::warn!("of {} only a part is shown to commands: it has too many files", from.display());
    }
    Ok(walk.stamps)
}

/// Copies the user's file into the folder `to`, and replaces an existing one.
///
/// # Errors
/// If the operating system denies it.
pub(super) fn copy(file: &str, theirs: &Path, to: BorrowedFd<'_>) -> io::Result<()> {
    let from = theirs.join(file);
    let path = Path::new(file);
    let (Some(above), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
    let folder = open_path(to, above)?;
    match unlinkat(&folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(error) => return Err(error.into()),
    }
    copy_new(&from, folder.as_fd(), name)
}

/// Copies the user's file to `name` in `folder`, if that does not exist. An unreadable file is left
/// out.
fn copy_new(from: &Path, folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
    let content = match Workspace::read_bytes_outside(from, MAX_MIRROR_COPY_BYTES) {
        Ok(content) => content,
        Err(error) => {
            tracing::debug!("{} is not shown to commands: {error}", from.display());
            return Ok(());
        }
    };
    write_new(&content, folder, name)
}

/// Writes `name` in `folder`, if it does not exist.
fn write_new(content: &[u8], folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat(folder, name, flags, Mode::RUSR | Mode::WUSR) {
        Ok(file) => fs::File::from(file).write_all(content),
        Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Adds the user's objects as alternates of the objects folder `to`.
fn write_alternates(from: &Path, to: BorrowedFd<'_>) -> io::Result<()> {
    // libgit2 requires the folder for packs that it downloads.
    open_or_create_folder(to, OsStr::new("pack"))?;
    let info = open_or_create_folder(to, OsStr::new("info"))?;
    let line = [from.as_os_str().as_encoded_bytes(), b"\n"].concat();
    write_new(&line, info.as_fd(), OsStr::new("alternates"))
}

/// Opens the folder `name` in the folder of all caches of a command, and creates it if necessary.
///
/// # Errors
/// If the operating system denies it.
pub(super) fn open(caches: &Path, name: &str) -> io::Result<OwnedFd> {
    let caches = openat(CWD, caches, FOLDER, Mode::empty())?;
    open_or_create_folder(caches.as_fd(), OsStr::new(name))
}

/// Opens the folder at a relative path below `to`, and creates missing ones.
fn open_path(to: BorrowedFd<'_>, path: &Path) -> io::Result<OwnedFd> {
    path.iter().try_fold(to.try_clone_to_owned()?, |folder, name| open_or_create_folder(folder.as_fd(), name))
}

const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Opens the folder `name` in `folder`, and creates it if necessary. Another entry that a command
/// has put there is removed.
fn open_or_create_folder(folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<OwnedFd> {
    let make = || match mkdirat(folder, name, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => openat(folder, name, FOLDER, Mode::empty()),
        Err(error) => Err(error),
    };
    let made = make().or_else(|error| match error {
        Errno::NOTDIR | Errno::LOOP => {
            unlinkat(folder, name, AtFlags::empty())?;
            make()
        }
        error => Err(error),
    });
    Ok(made?)
}

struct MirrorWalk<'a> {
    mirror: &'a Mirror,
    left: usize,
    until: Instant,
    stamps: Vec<MirrorStamp>,
}

impl MirrorWalk<'_> {
    fn is_over(&self) -> bool {
        self.left == 0 || Instant::now() > self.until
    }

    fn mirror_level(&mut self, from: &Path, to: BorrowedFd<'_>, depth: u8) {
        // Taken before the listing, so that a later entry causes another scan.
        let looked = stat_stamp(from);
        if depth <= MAX_WATCHED_MIRROR_DEPTH && self.stamps.len() < MAX_WATCHED_MIRROR_FOLDERS {
            self.stamps.push((from.to_owned(), looked));
        }
        // A folder that the user cannot read is unreadable for tools too.
        let Ok(listed) = fs::read_dir(from) else { return };
        let entries: Vec<(OsString, bool)> = listed
            .flatten()
            .take(MAX_MIRROR_ENTRIES)
            .map(|entry| (entry.file_name(), entry.file_type().is_ok_and(|kind| kind.is_dir())))
            .filter(|(name, _)| !self.mirror.is_hidden_name(name))
            .collect();
        for (name, is_folder) in &entries {
            if self.is_over() {
                return;
            }
            if let Err(error) = self.mirror_entry(from, to, name, *is_folder, depth + 1) {
                tracing::debug!("{} is not shown to commands: {error}", from.join(name).display());
            }
        }
        let names: BTreeSet<OsString> = entries.into_iter().map(|(name, _)| name).collect();
        if names.len() >= MAX_MIRROR_ENTRIES {
            return;
        }
        if let Err(error) = remove_stale_links(from, to, &names) {
            tracing::debug!("links to {} that lead nowhere stay: {error}", from.display());
        }
    }

    fn mirror_entry(
        &mut self,
        from: &Path,
        to: BorrowedFd<'_>,
        name: &OsStr,
        is_folder: bool,
        depth: u8,
    ) -> io::Result<()> {
        let from = from.join(name);
        if is_folder && !self.mirror.is_leaf_depth(depth) {
            let folder = open_or_create_folder(to, name)?;
            match self.mirror.ending {
                MirrorEnd::Repositories if depth == 2 && name == "objects" => {
                    write_alternates(&from, folder.as_fd())?
                }
                _ => self.mirror_level(&from, folder.as_fd(), depth),
            }
            return Ok(());
        }
        self.left -= 1;
        if !is_folder && matches!(self.mirror.ending, MirrorEnd::Repositories) {
            return copy_new(&from, to, name);
        }
        match symlinkat(&from, to, name) {
            // The link exists, or a command has created another entry.
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Removes the links of `to` to entries of `from` that are no longer among `names`: a tool would
/// treat the names as taken.
fn remove_stale_links(from: &Path, to: BorrowedFd<'_>, names: &BTreeSet<OsString>) -> io::Result<()> {
    use crate::platform::OsStrExt;

    for entry in entries(to)? {
        let (name, kind) = entry?;
        if kind != FileType::Symlink || names.contains(&name) {
            continue;
        }
        let target = readlinkat(to, &name, Vec::new())?;
        if target.as_bytes() == from.join(&name).as_os_str().as_bytes() {
            unlinkat(to, &name, AtFlags::empty())?;
        }
    }
    Ok(())
}
