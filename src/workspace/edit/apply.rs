//! Carrying out what was checked, and taking it back where a step fails.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::EditLimits;
use super::atomic::{self, Obstacle};
use super::locate::{Folder, Tree};
use super::record::{Put, Record, Step, final_place};
use super::survey::identity_at;
use super::trees;

/// A step that was not done.
#[derive(Debug)]
pub(super) struct Failure {
    pub place: PathBuf,
    pub obstacle: Obstacle,
}

/// Which folders have to be brought to the disk at the end.
#[derive(Debug, Default)]
pub(super) struct Touched(BTreeMap<PathBuf, Folder>);

impl Touched {
    pub(super) fn add(&mut self, place: &Path, folder: &Folder) {
        let above = place.parent().unwrap_or(Path::new("")).to_owned();
        self.0.entry(above).or_insert_with(|| folder.clone());
    }

    pub(super) fn settle(self) -> Result<(), (PathBuf, Errno)> {
        self.0
            .into_iter()
            .try_for_each(|(path, folder)| atomic::settle(&folder).map_err(|errno| (path, errno)))
    }
}

/// Does every step of `record`. After a failure some are done and some are not: [`roll_back`](super::rollback) is next.
pub(super) fn apply(tree: &Tree, record: &Record, limits: &EditLimits) -> Result<(), Failure> {
    let mut touched = Touched::default();
    for step in &record.structure {
        structure(tree, step, limits, &mut touched)
            .map_err(|obstacle| Failure { place: step.place().to_owned(), obstacle })?;
    }
    // All new contents are on the disk, where space and quota may end, before the first of them is in its place.
    let failure = |put: &Put, obstacle| Failure { place: put.path.clone(), obstacle };
    let mut folders = Vec::with_capacity(record.puts.len());
    for put in &record.puts {
        let folder = stage(tree, put).map_err(|errno| failure(put, errno.into()))?;
        folders.push(folder);
    }
    for (put, folder) in record.puts.iter().zip(&folders) {
        exchange(folder, put).map_err(|obstacle| failure(put, obstacle))?;
        touched.add(&put.path, folder);
    }
    touched.settle().map_err(|(place, errno)| Failure { place, obstacle: Obstacle::System(errno) })
}

fn stage(tree: &Tree, put: &Put) -> Result<Folder, Errno> {
    let (folder, _) = tree.folder_of(&put.path)?;
    atomic::stage(&folder, &put.temp, &put.content, put.metadata.as_ref(), put.executable)?;
    Ok(folder)
}

fn exchange(folder: &Folder, put: &Put) -> Result<(), Obstacle> {
    let name = put.path.file_name().ok_or(Obstacle::System(Errno::ISDIR))?;
    match &put.before {
        None => atomic::put_new(folder, &put.temp, name),
        Some(before) => atomic::exchange(folder, &put.temp, name, before.identity, before.image.hash),
    }
}

fn structure(tree: &Tree, step: &Step, limits: &EditLimits, touched: &mut Touched) -> Result<(), Obstacle> {
    match step {
        Step::MakeDir { path, mode } => {
            let (folder, name) = tree.folder_of(path)?;
            atomic::make_dir(&folder, name, *mode)?;
            touched.add(path, &folder);
        }
        Step::MakeLink { path, target } => {
            let (folder, name) = tree.folder_of(path)?;
            rustix::fs::symlinkat(target.as_slice(), &folder, name)?;
            touched.add(path, &folder);
        }
        Step::Move { from, to, identity, hash } => {
            let (source, target) = (tree.folder_of(from)?, tree.folder_of(to)?);
            let found = identity_at(&source.0, source.1)?.ok_or(Obstacle::Changed)?;
            if identity.is_some_and(|identity| identity != found) {
                return Err(Obstacle::Changed);
            }
            atomic::rename((&source.0, source.1), (&target.0, target.1))?;
            // Looked at after it was moved, so that what was written to it until then is noticed.
            let same = match (identity, hash) {
                (Some(identity), Some(hash)) => atomic::is_file(&target.0, target.1, *identity, *hash)?,
                _ => identity_at(&target.0, target.1)? == Some(found),
            };
            if !same {
                return Err(Obstacle::Changed);
            }
            touched.add(from, &source.0);
            touched.add(to, &target.0);
        }
        Step::Remove { path, spare, identity, what } => {
            let (folder, name) = tree.folder_of(path)?;
            if identity_at(&folder, name)? != Some(*identity) {
                return Err(Obstacle::Changed);
            }
            atomic::rename((&folder, name), (&folder, spare.as_ref()))?;
            if !trees::is_same(&folder, spare.as_ref(), what, limits)? {
                return Err(Obstacle::Changed);
            }
            touched.add(path, &folder);
        }
    }
    Ok(())
}

/// Removes what the steps of a finished transaction have left beside the files, and the folders that it emptied.
pub(super) fn tidy(tree: &Tree, record: &Record) -> Result<(), (PathBuf, Errno)> {
    for (index, step) in record.structure.iter().enumerate() {
        if let Step::Remove { path, spare, .. } = step {
            let place = final_place(&record.structure, index, path);
            in_folder_of(tree, &place, |folder| atomic::remove(folder, spare.as_ref()))?;
        }
    }
    for put in &record.puts {
        in_folder_of(tree, &put.path, |folder| atomic::remove(folder, put.temp.as_ref()))?;
    }
    for place in &record.prunes {
        let name = place.file_name().unwrap_or_default();
        in_folder_of(tree, place, |folder| atomic::remove_empty(folder, name).map(drop))?;
    }
    Ok(())
}

/// Does `work` in the folder that `place` lies in, if that is still there.
fn in_folder_of(
    tree: &Tree,
    place: &Path,
    work: impl FnOnce(&Folder) -> Result<(), Errno>,
) -> Result<(), (PathBuf, Errno)> {
    let done = match tree.folder_of(place) {
        Ok((folder, _)) => work(&folder),
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(()),
        Err(errno) => Err(errno),
    };
    done.map_err(|errno| (place.to_owned(), errno))
}

impl Step {
    fn place(&self) -> &Path {
        match self {
            Self::MakeDir { path, .. } | Self::MakeLink { path, .. } | Self::Remove { path, .. } => path,
            Self::Move { from, .. } => from,
        }
    }
}
