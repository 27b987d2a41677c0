//! Execution of checked steps, and their reversal if one fails.

use std::path::{Path, PathBuf};

use crate::platform::files::{Errno, is_in_use, symlinkat};

use super::atomic::{self, Obstacle};
use super::folders::FolderHandleCache;
use super::inspect::identity_at;
use super::locate::FolderHandle;
use super::trees;
use crate::platform::inode::InodeIdentity;
use crate::workspace::edit::history::record::{ContentWrite, StructureStep, TransactionRecord, final_place};
use crate::workspace::edit::{ContentHash, EditLimits};

/// The failure of a step.
#[derive(Debug)]
pub(crate) struct EditStepFailure {
    pub(crate) place: PathBuf,
    pub(crate) obstacle: Obstacle,
}

/// Executes every step of `record`. After a failure some steps are done and some are not: the
/// caller must call [`roll_back`](crate::workspace::edit::history::rollback).
pub(crate) fn apply(
    folders: &mut FolderHandleCache,
    record: &TransactionRecord,
    limits: &EditLimits,
) -> Result<(), EditStepFailure> {
    for step in &record.structure {
        apply_step(folders, step, limits)
            .map_err(|obstacle| EditStepFailure { place: step.place().to_owned(), obstacle })?;
    }
    // All new contents are written to the disk, where space and quota may end, before the first of
    // them is in its place.
    let failure = |put: &ContentWrite, obstacle| EditStepFailure { place: put.path.clone(), obstacle };
    for put in &record.puts {
        stage(folders, put).map_err(|errno| failure(put, errno.into()))?;
    }
    for put in &record.puts {
        exchange(folders, put).map_err(|obstacle| failure(put, obstacle))?;
    }
    folders.sync_all().map_err(|(place, errno)| EditStepFailure { place, obstacle: Obstacle::System(errno) })
}

fn stage(folders: &mut FolderHandleCache, put: &ContentWrite) -> Result<(), Errno> {
    let (folder, _) = folders.folder_of(&put.path)?;
    atomic::stage(&folder, &put.temp, &put.content, put.metadata.as_ref(), put.executable)
}

fn exchange(folders: &mut FolderHandleCache, put: &ContentWrite) -> Result<(), Obstacle> {
    let (folder, name) = folders.folder_of(&put.path)?;
    folders.mark_unsynced(&put.path);
    match &put.before {
        None => atomic::put_new(&folder, &put.temp, name),
        Some(before) => atomic::exchange(&folder, &put.temp, name, before.identity, before.image.hash),
    }
}

fn apply_step(
    folders: &mut FolderHandleCache,
    step: &StructureStep,
    limits: &EditLimits,
) -> Result<(), Obstacle> {
    match step {
        StructureStep::MakeDir { path, mode } => {
            let (folder, name) = folders.folder_of(path)?;
            folders.mark_unsynced(path);
            atomic::make_dir(&folder, name, *mode)?;
        }
        StructureStep::MakeLink { path, target } => {
            let (folder, name) = folders.folder_of(path)?;
            folders.mark_unsynced(path);
            symlinkat(target.as_slice(), &folder, name)?;
        }
        StructureStep::Move { from, to, identity, hash } => move_one(folders, from, to, *identity, *hash)?,
        StructureStep::Remove { path, spare, identity, what } => {
            let (folder, name) = folders.folder_of(path)?;
            if identity_at(&folder, name)? != Some(*identity) {
                return Err(Obstacle::Changed);
            }
            folders.close_below_place(path)?;
            folders.mark_unsynced(path);
            atomic::rename((&folder, name), (&folder, spare.as_ref()))?;
            if !trees::is_same(&folder, spare.as_ref(), what, limits)? {
                return Err(Obstacle::Changed);
            }
        }
    }
    Ok(())
}

fn move_one(
    folders: &mut FolderHandleCache,
    from: &Path,
    to: &Path,
    identity: Option<InodeIdentity>,
    hash: Option<ContentHash>,
) -> Result<(), Obstacle> {
    let (source, old) = folders.folder_of(from)?;
    let (target, new) = folders.folder_of(to)?;
    let found = identity_at(&source, old)?.ok_or(Obstacle::Changed)?;
    if identity.is_some_and(|identity| identity != found) {
        return Err(Obstacle::Changed);
    }
    folders.close_below_place(from)?;
    folders.mark_unsynced(from);
    folders.mark_unsynced(to);
    atomic::rename((&source, old), (&target, new))?;
    // The check follows the move, so that a write until then is noticed.
    let same = match (identity, hash) {
        (Some(identity), Some(hash)) => atomic::is_file(&target, new, identity, hash)?,
        _ => identity_at(&target, new)? == Some(found),
    };
    if same { Ok(()) } else { Err(Obstacle::Changed) }
}

/// Removes the temporary files of a finished transaction's steps, and the folders that it emptied.
pub(crate) fn remove_leftovers(
    folders: &mut FolderHandleCache,
    record: &TransactionRecord,
) -> Result<(), (PathBuf, Errno)> {
    for (index, step) in record.structure.iter().enumerate() {
        if let StructureStep::Remove { path, spare, .. } = step {
            let place = final_place(&record.structure, index, path);
            in_folder_of(folders, &place, |folder| remove_unless_in_use(folder, spare))?;
        }
    }
    for put in &record.puts {
        in_folder_of(folders, &put.path, |folder| remove_unless_in_use(folder, &put.temp))?;
    }
    for place in &record.prunes {
        let name = place.file_name().unwrap_or_default();
        folders.close_below_place(place).map_err(|errno| (place.clone(), errno))?;
        in_folder_of(folders, place, |folder| atomic::remove_empty(folder, name).map(drop))?;
    }
    Ok(())
}

/// Removes a temporary file, unless a program has it open on a system that then keeps it: it stays
/// behind, since it must not block later edits.
fn remove_unless_in_use(folder: &FolderHandle, name: &str) -> Result<(), Errno> {
    match atomic::remove(folder, name.as_ref()) {
        Err(errno) if is_in_use(errno) => {
            tracing::warn!("{name} stays: a program has it open");
            Ok(())
        }
        done => done,
    }
}

/// Does `work` in the folder of `place`, if that still exists.
fn in_folder_of(
    folders: &mut FolderHandleCache,
    place: &Path,
    work: impl FnOnce(&FolderHandle) -> Result<(), Errno>,
) -> Result<(), (PathBuf, Errno)> {
    let done = match folders.folder_of(place) {
        Ok((folder, _)) => work(&folder),
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(()),
        Err(errno) => Err(errno),
    };
    done.map_err(|errno| (place.to_owned(), errno))
}

impl StructureStep {
    fn place(&self) -> &Path {
        match self {
            Self::MakeDir { path, .. } | Self::MakeLink { path, .. } | Self::Remove { path, .. } => path,
            Self::Move { from, .. } => from,
        }
    }
}
