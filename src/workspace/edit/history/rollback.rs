//! Rollback of a transaction that is not complete, after a failed step or the death of its process.
//!
//! The disk alone shows which steps were done: the temporary name of a new content holds the new
//! file before the exchange and the old one after it; a removed object has its spare name. A
//! rollback can therefore be restarted any number of times.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::platform::files::{AtFlags, Errno, RenameFlags, readlinkat, renameat_with, unlinkat};

use super::record::{ContentWrite, ReplacedFile, StoredContentRange, StructureStep, TransactionRecord};
use crate::platform::inode::InodeIdentity;
use crate::workspace::edit::ContentHash;
use crate::workspace::edit::disk::atomic;
use crate::workspace::edit::disk::atomic::Obstacle;
use crate::workspace::edit::disk::folders::FolderHandleCache;
use crate::workspace::edit::disk::inspect::{SeenObject, identity_at, inspect_object};
use crate::workspace::edit::disk::locate::FolderHandle;

/// A function that reads an old content from the journal.
pub(super) type OldContent<'a> =
    &'a dyn Fn(&StoredContentRange) -> Result<Vec<u8>, crate::workspace::edit::EditError>;

/// Restores the state before `record`. Files that another program has changed since are left alone
/// and returned.
pub(crate) fn roll_back(
    folders: &mut FolderHandleCache,
    record: &TransactionRecord,
    old: OldContent<'_>,
) -> Result<Vec<PathBuf>, (PathBuf, String)> {
    let mut back = RollBack { folders, old, left_alone: Vec::new() };
    for put in record.puts.iter().rev() {
        back.roll_back_write(put).map_err(|reason| (put.path.clone(), reason))?;
    }
    for step in record.structure.iter().rev() {
        let place = match step {
            StructureStep::MakeDir { path, .. }
            | StructureStep::MakeLink { path, .. }
            | StructureStep::Remove { path, .. } => path,
            StructureStep::Move { from, .. } => from,
        };
        back.roll_back_step(step).map_err(|errno| (place.clone(), errno.to_string()))?;
    }
    back.folders.sync_all().map_err(|(place, errno)| (place, errno.to_string()))?;
    Ok(back.left_alone)
}

struct RollBack<'a> {
    folders: &'a mut FolderHandleCache,
    old: OldContent<'a>,
    left_alone: Vec<PathBuf>,
}

impl RollBack<'_> {
    fn roll_back_write(&mut self, put: &ContentWrite) -> Result<(), String> {
        let Some((folder, name)) = self.folder_of(&put.path).map_err(text)? else { return Ok(()) };
        let temp = identity_at(&folder, put.temp.as_ref()).map_err(text)?;
        match (&put.before, temp) {
            (None, temp) => self.remove_new_file(&folder, name, put, temp).map_err(text)?,
            (Some(before), Some(temp)) if temp == before.identity => {
                self.exchange_back(&folder, name, put).map_err(text)?;
            }
            // Only staged.
            (Some(_), Some(_)) => atomic::remove(&folder, put.temp.as_ref()).map_err(text)?,
            (Some(before), None) => self.rewrite(&folder, name, put, before)?,
        }
        self.folders.mark_unsynced(&put.path);
        Ok(())
    }

    /// Removes a new file.
    fn remove_new_file(
        &mut self,
        folder: &FolderHandle,
        name: &OsStr,
        put: &ContentWrite,
        temp: Option<InodeIdentity>,
    ) -> Result<(), Errno> {
        let ours = match temp {
            // If the file system cannot rename without replacing, the file has both names for a
            // moment.
            Some(temp) => identity_at(folder, name)? == Some(temp),
            None => content_at(folder, name)? == Some(put.after),
        };
        if ours {
            atomic::remove(folder, name)?;
        } else if temp.is_none() && identity_at(folder, name)?.is_some() {
            self.left_alone.push(put.path.clone());
        }
        atomic::remove(folder, put.temp.as_ref())
    }

    /// Restores the old file, which is at the temporary name.
    fn exchange_back(
        &mut self,
        folder: &FolderHandle,
        name: &OsStr,
        put: &ContentWrite,
    ) -> Result<(), Errno> {
        let temp = put.temp.as_str();
        if identity_at(folder, name)?.is_none() {
            return renameat_with(folder, temp, folder, name, RenameFlags::NOREPLACE);
        }
        if content_at(folder, name)? == Some(put.after) {
            renameat_with(folder, temp, folder, name, RenameFlags::EXCHANGE)?;
        } else {
            self.left_alone.push(put.path.clone());
        }
        atomic::remove(folder, temp.as_ref())
    }

    /// Restores a file without a temporary file: nothing has been done yet, or the old file was
    /// replaced for lack of an exchange.
    fn rewrite(
        &mut self,
        folder: &FolderHandle,
        name: &OsStr,
        put: &ContentWrite,
        before: &ReplacedFile,
    ) -> Result<(), String> {
        let replaced = identity_at(folder, name).map_err(text)? != Some(before.identity);
        if !replaced || content_at(folder, name).map_err(text)? != Some(put.after) {
            return Ok(());
        }
        let content = (self.old)(&before.image).map_err(|error| error.to_string())?;
        atomic::stage(folder, &put.temp, &content, Some(&before.metadata), false).map_err(text)?;
        renameat_with(folder, put.temp.as_str(), folder, name, RenameFlags::empty()).map_err(text)
    }

    fn roll_back_step(&mut self, step: &StructureStep) -> Result<(), Errno> {
        match step {
            StructureStep::MakeDir { path, .. } => {
                self.folders.close_below_place(path)?;
                let Some((folder, name)) = self.folder_of(path)? else { return Ok(()) };
                if !atomic::remove_empty(&folder, name)? && identity_at(&folder, name)?.is_some() {
                    self.left_alone.push(path.clone());
                }
                self.folders.mark_unsynced(path);
            }
            StructureStep::MakeLink { path, target } => {
                let Some((folder, name)) = self.folder_of(path)? else { return Ok(()) };
                if readlinkat(&folder, name, Vec::new()).is_ok_and(|found| found.as_bytes() == target) {
                    unlinkat(&folder, name, AtFlags::empty())?;
                }
                self.folders.mark_unsynced(path);
            }
            StructureStep::Move { from, to, identity, .. } => self.move_back(from, to, *identity)?,
            StructureStep::Remove { path, spare, identity, .. } => {
                self.restore_spare(path, spare, *identity)?
            }
        }
        Ok(())
    }

    fn move_back(&mut self, from: &Path, to: &Path, identity: Option<InodeIdentity>) -> Result<(), Errno> {
        let Some((target, new)) = self.folder_of(to)? else { return Ok(()) };
        let Some((source, old)) = self.folder_of(from)? else { return Ok(()) };
        let found = identity_at(&target, new)?;
        if found.is_none() || (identity.is_some() && identity != found) {
            return Ok(());
        }
        self.folders.close_below_place(to)?;
        match atomic::rename((&target, new), (&source, old)) {
            Ok(()) => {}
            // An object without a known identity was not moved yet, or another program has taken
            // its old name.
            Err(Obstacle::Changed) if identity.is_none() => {}
            Err(Obstacle::Changed) => self.left_alone.push(to.to_owned()),
            Err(Obstacle::System(errno)) => return Err(errno),
        }
        self.folders.mark_unsynced(from);
        self.folders.mark_unsynced(to);
        Ok(())
    }

    fn restore_spare(&mut self, path: &Path, spare: &str, identity: InodeIdentity) -> Result<(), Errno> {
        let Some((folder, name)) = self.folder_of(path)? else { return Ok(()) };
        if identity_at(&folder, spare.as_ref())? != Some(identity) {
            return Ok(());
        }
        self.folders.close_below_place(path)?;
        match atomic::rename((&folder, spare.as_ref()), (&folder, name)) {
            Ok(()) => {}
            Err(Obstacle::Changed) => {
                self.left_alone.push(path.to_owned());
                atomic::remove(&folder, spare.as_ref())?;
            }
            Err(Obstacle::System(errno)) => return Err(errno),
        }
        self.folders.mark_unsynced(path);
        Ok(())
    }

    /// Returns the folder of `path`; `None` if it does not exist, so that nothing can have been
    /// done in it.
    fn folder_of<'p>(&mut self, path: &'p Path) -> Result<Option<(FolderHandle, &'p OsStr)>, Errno> {
        match self.folders.folder_of(path) {
            Ok(found) => Ok(Some(found)),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
            Err(errno) => Err(errno),
        }
    }
}

fn content_at(folder: &FolderHandle, name: &OsStr) -> Result<Option<ContentHash>, Errno> {
    Ok(match inspect_object(folder, name, u64::MAX)? {
        SeenObject::File(file) => file.content.map(|content| content.hash),
        _ => None,
    })
}

fn text(errno: Errno) -> String {
    errno.to_string()
}
