//! Open handles of the folders that a transaction works in.
//!
//! Work ends in the folder in which it began, even if another folder now has its name.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::platform::files::Errno;

use super::atomic::sync_folder;
use super::locate::{FolderHandle, WorkspaceTree};

/// The maximum number of handles kept open; others are opened each time, since descriptors are few.
const MAX_OPEN_FOLDER_HANDLES: usize = 64;

#[derive(Debug)]
pub(crate) struct FolderHandleCache {
    tree: WorkspaceTree,
    open: BTreeMap<PathBuf, FolderHandle>,
    /// The folders with new or changed names that are not synced to the disk yet.
    unsettled: BTreeSet<PathBuf>,
}

impl FolderHandleCache {
    pub(crate) fn new(tree: WorkspaceTree) -> Self {
        Self { tree, open: BTreeMap::new(), unsettled: BTreeSet::new() }
    }

    /// Returns the folder of `place`, and its name there.
    pub(crate) fn folder_of<'p>(&mut self, place: &'p Path) -> Result<(FolderHandle, &'p OsStr), Errno> {
        let above = place.parent().unwrap_or(Path::new(""));
        if let (Some(folder), Some(name)) = (self.open.get(above), place.file_name()) {
            return Ok((folder.clone(), name));
        }
        let (folder, name) = self.tree.folder_of(place)?;
        if self.open.len() < MAX_OPEN_FOLDER_HANDLES {
            self.open.insert(above.to_owned(), folder.clone());
        }
        Ok((folder, name))
    }

    /// Records that a name in the folder of `place` has changed.
    pub(crate) fn mark_unsynced(&mut self, place: &Path) {
        self.unsettled.insert(place.parent().unwrap_or(Path::new("")).to_owned());
    }

    /// Syncs and closes the handles of `place` and everything below it, because it is about to
    /// move or to be removed, or has moved.
    pub(crate) fn close_below_place(&mut self, place: &Path) -> Result<(), Errno> {
        let gone: Vec<PathBuf> =
            self.unsettled.iter().filter(|path| path.starts_with(place)).cloned().collect();
        for path in gone {
            self.settle_one(&path)?;
            self.unsettled.remove(&path);
        }
        self.open.retain(|path, _| !path.starts_with(place));
        Ok(())
    }

    /// Syncs all changed names to the disk.
    pub(crate) fn sync_all(&mut self) -> Result<(), (PathBuf, Errno)> {
        for path in std::mem::take(&mut self.unsettled) {
            self.settle_one(&path).map_err(|errno| (path, errno))?;
        }
        Ok(())
    }

    fn settle_one(&self, path: &Path) -> Result<(), Errno> {
        match self.open.get(path) {
            Some(folder) => sync_folder(folder),
            None => match self.tree.open_folder_at(path) {
                Ok(folder) => sync_folder(&folder),
                // A later step, or another program, has removed the folder: there is nothing left
                // to sync.
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(()),
                Err(errno) => Err(errno),
            },
        }
    }
}
