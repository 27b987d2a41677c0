//! Records of files of hosts as they were before `init` changed them, so that `init --remove` restores their bytes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::InitFileChange;
use crate::workspace::edit::ContentHash;
use crate::workspace::{Workspace, private};

/// Host files are smaller, and a record holds one.
const MAX_RECORD_BYTES: u64 = 64 << 20;

/// One file before the first and after the last change by `init`.
#[derive(Debug, Serialize, Deserialize)]
struct InitFileRecord {
    /// The text; `None` if `init` made the file.
    before: Option<String>,
    /// The folders that `init` made, the outermost first.
    folders: Vec<PathBuf>,
    /// The hash of the text that `init` left.
    after: ContentHash,
}

/// The records in the user's state folder, one file each.
#[derive(Debug)]
pub(crate) struct InitRecords {
    folder: PathBuf,
}

impl InitRecords {
    /// The records below `state`. Nothing is read or made yet.
    pub(crate) fn new(state: &Path) -> Self {
        Self { folder: state.join("init") }
    }

    /// Records the files that `changes` are about to write; those that something is taken out of only if they have a record.
    ///
    /// # Errors
    /// Where the state folder cannot be written.
    pub(crate) fn keep(&self, changes: &[InitFileChange], removing: bool) -> io::Result<()> {
        for change in changes.iter().filter(|change| !change.is_done()) {
            let Some(after) = &change.after else { continue };
            let known = self.read(&change.path).filter(|known| known.is_of(change.before.as_deref()));
            let (before, folders) = match known {
                Some(known) => (known.before, known.folders),
                None if removing => continue,
                None => (change.before.clone(), missing_folders(&change.path)),
            };
            let record = InitFileRecord { before, folders, after: ContentHash::compute(after.as_bytes()) };
            private::make_folder(&self.folder)?;
            private::write(&self.place(&change.path), &serde_json::to_vec(&record)?)?;
        }
        Ok(())
    }

    /// The change that takes our part out of a file. If `whole` and the file is as `init` left it, the bytes from before
    /// come back. Otherwise only our part goes, and a file that the user had is not deleted.
    pub(crate) fn restored(&self, change: InitFileChange, whole: bool) -> InitFileChange {
        if change.is_done() {
            return change;
        }
        let after = match self.read(&change.path) {
            Some(known) if whole && known.is_of(change.before.as_deref()) => known.before,
            Some(InitFileRecord { before: None, .. }) => change.after,
            _ if is_ours(&change.path) => change.after,
            _ => change.after.or_else(|| Some(empty_text(&change.path).to_owned())),
        };
        InitFileChange { after, ..change }
    }

    /// Removes the records of `changes` that were made, and the folders that `init` had made for files that are gone.
    pub(crate) fn forget(&self, changes: &[InitFileChange]) {
        for change in changes {
            let Some(known) = self.read(&change.path) else { continue };
            if change.after.is_none() {
                // A folder that holds something else stays.
                known.folders.iter().rev().for_each(|folder| drop(fs::remove_dir(folder)));
            }
            if change.after == known.before {
                // A record that stays fits no file any more.
                let _ = fs::remove_file(self.place(&change.path));
            }
        }
    }

    fn place(&self, path: &Path) -> PathBuf {
        self.folder.join(format!("{}.json", ContentHash::compute(path.as_os_str().as_encoded_bytes())))
    }

    fn read(&self, path: &Path) -> Option<InitFileRecord> {
        let text = Workspace::read_outside(&self.place(path), MAX_RECORD_BYTES).ok()?;
        serde_json::from_str(&text).ok()
    }
}

impl InitFileRecord {
    fn is_of(&self, text: Option<&str>) -> bool {
        text.is_some_and(|text| ContentHash::compute(text.as_bytes()) == self.after)
    }
}

fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let missing = path.ancestors().skip(1).take_while(|folder| folder.symlink_metadata().is_err());
    let mut missing: Vec<PathBuf> = missing.map(Path::to_owned).collect();
    missing.reverse();
    missing
}

/// Returns true if the whole file is ours, by its name.
fn is_ours(path: &Path) -> bool {
    path.file_stem().is_some_and(|name| name == "lsp-tools")
}

/// The text of a file of the kind of `path` that says nothing.
fn empty_text(path: &Path) -> &'static str {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("json" | "jsonc") => "{}\n",
        _ => "",
    }
}
