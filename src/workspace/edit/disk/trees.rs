//! The contents of whole folders before they are removed or renamed.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::platform::files::{Errno, fstat};

use super::atomic::is_temporary;
use super::inspect::{SeenObject, inspect_object, names_in};
use super::locate::FolderHandle;
use crate::workspace::edit::history::record::{LeafKind, RemovedItem, RemovedTreeEntry, StoredContentRange};
use crate::workspace::edit::{ContentHash, EditLimits};
use crate::workspace::path::MAX_PATH_DEPTH;

/// The old contents that a transaction has to keep.
#[derive(Debug, Default)]
pub(crate) struct StoredContentRanges {
    pub(crate) contents: Vec<Arc<[u8]>>,
    pub(crate) length: u64,
}

/// The reasons why a folder cannot be removed or renamed as a whole. Paths are relative to it.
#[derive(Debug)]
pub(crate) enum TreeError {
    System(Errno),
    TooMany,
    TooDeep,
    TooLarge(PathBuf),
    Special(PathBuf, &'static str),
}

impl From<Errno> for TreeError {
    fn from(errno: Errno) -> Self {
        Self::System(errno)
    }
}

impl StoredContentRanges {
    /// Keeps `content`, and returns its position.
    pub(crate) fn store(&mut self, content: &Arc<[u8]>, hash: ContentHash) -> StoredContentRange {
        let image = StoredContentRange { offset: self.length, length: content.len() as u64, hash };
        self.length += image.length;
        self.contents.push(Arc::clone(content));
        image
    }
}

/// Lists everything in `folder`, itself first, each entry after its folder, with the contents
/// stored in `images`.
pub(crate) fn list_tree(
    parent: &FolderHandle,
    name: &OsStr,
    limits: &EditLimits,
    images: &mut StoredContentRanges,
) -> Result<Vec<RemovedTreeEntry>, TreeError> {
    let mut listing = TreeLister { limits, images, leaves: Vec::new() };
    listing.list_directory(parent, name, Path::new(""), 0)?;
    Ok(listing.leaves)
}

struct TreeLister<'a> {
    limits: &'a EditLimits,
    images: &'a mut StoredContentRanges,
    leaves: Vec<RemovedTreeEntry>,
}

impl TreeLister<'_> {
    fn list_directory(
        &mut self,
        parent: &FolderHandle,
        name: &OsStr,
        path: &Path,
        depth: usize,
    ) -> Result<(), TreeError> {
        if depth > MAX_PATH_DEPTH {
            return Err(TreeError::TooDeep);
        }
        let folder = parent.open_subfolder(name)?;
        #[allow(clippy::unnecessary_cast)] // field types differ between systems
        let mode = fstat(&folder)?.st_mode as u32;
        self.add_leaf(path.to_owned(), LeafKind::Directory { mode: mode & 0o7777 })?;
        for name in names_in(&folder)? {
            let path = path.join(&name);
            match inspect_object(&folder, &name, self.limits.file_bytes)? {
                SeenObject::Absent => {}
                SeenObject::Directory(_) => self.list_directory(&folder, &name, &path, depth + 1)?,
                SeenObject::Link(link) => self.add_leaf(path, LeafKind::Link(link.target))?,
                SeenObject::Special(kind) => return Err(TreeError::Special(path, kind)),
                SeenObject::File(file) => {
                    let Some(content) = file.content else { return Err(TreeError::TooLarge(path)) };
                    let image = self.images.store(&content.bytes, content.hash);
                    self.add_leaf(path, LeafKind::File { image, metadata: file.metadata })?;
                }
            }
        }
        Ok(())
    }

    fn add_leaf(&mut self, path: PathBuf, what: LeafKind) -> Result<(), TreeError> {
        if self.leaves.len() >= self.limits.transaction_files {
            return Err(TreeError::TooMany);
        }
        if self.images.length > self.limits.transaction_bytes {
            return Err(TreeError::TooLarge(path));
        }
        self.leaves.push(RemovedTreeEntry { path, what });
        Ok(())
    }
}

/// The paths of everything below the folder `name`, relative to it; at most `limit`.
pub(crate) fn names_below(
    parent: &FolderHandle,
    name: &OsStr,
    limit: usize,
) -> Result<Vec<PathBuf>, TreeError> {
    let mut paths = Vec::new();
    add_names_below(parent, name, Path::new(""), (limit, MAX_PATH_DEPTH), &mut paths)?;
    Ok(paths)
}

fn add_names_below(
    parent: &FolderHandle,
    name: &OsStr,
    path: &Path,
    (limit, depth): (usize, usize),
    paths: &mut Vec<PathBuf>,
) -> Result<(), TreeError> {
    let folder = parent.open_subfolder(name)?;
    for name in names_in(&folder)? {
        let path = path.join(&name);
        if paths.len() >= limit {
            return Err(TreeError::TooMany);
        }
        if depth == 0 {
            return Err(TreeError::TooDeep);
        }
        paths.push(path.clone());
        match add_names_below(&folder, &name, &path, (limit, depth - 1), paths) {
            Err(TreeError::System(Errno::NOTDIR | Errno::LOOP | Errno::NOENT)) => {}
            other => other?,
        }
    }
    Ok(())
}

/// Returns true if the object moved aside as `name` is the one that was to be removed.
pub(super) fn is_same(
    parent: &FolderHandle,
    name: &OsStr,
    what: &RemovedItem,
    limits: &EditLimits,
) -> Result<bool, Errno> {
    match (what, inspect_object(parent, name, limits.file_bytes)?) {
        (RemovedItem::File { image, .. }, SeenObject::File(file)) => {
            Ok(file.content.is_some_and(|content| content.hash == image.hash))
        }
        (RemovedItem::Link(target), SeenObject::Link(link)) => Ok(*target == link.target),
        (RemovedItem::Emptied, SeenObject::Directory(_)) => {
            Ok(names_in(&parent.open_subfolder(name)?)?.iter().all(|name| is_temporary(name.as_ref())))
        }
        (RemovedItem::Tree(leaves), SeenObject::Directory(_)) => {
            match list_tree(parent, name, limits, &mut StoredContentRanges::default()) {
                Ok(found) => Ok(found == *leaves),
                Err(TreeError::System(errno)) => Err(errno),
                Err(_) => Ok(false),
            }
        }
        _ => Ok(false),
    }
}
