//! Records of hosts' files before `init` changed them, so that `init --remove` restores their
//! bytes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::InitFileChange;
use crate::platform::private;
use crate::workspace::Workspace;
use crate::workspace::edit::ContentHash;

/// The size limit of a record, in bytes. It contains one host file, which is smaller.
const MAX_RECORD_BYTES: u64 = 64 << 20;

/// One file before the first and after the last change by `init`.
#[derive(Debug, Serialize, Deserialize)]
struct InitFileRecord {
    /// The text; `None` if `init` created the file.
    before: Option<String>,
    /// The folders that `init` created, the outermost first.
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
    /// Creates the store of records below `state`. Reads and writes nothing yet.
    pub(crate) fn new(state: &Path) -> Self {
        Self { folder: state.join("init") }
    }

    /// Records the files that `changes` are about to write. If `removing`, updates only existing
    /// records.
    ///
    /// # Errors
    /// The state folder cannot be written.
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

    /// Returns the change that removes our part from a file. If `whole` is set and the file is as
    /// `init` left it, the former bytes are restored. Otherwise only our part is removed, and a
    /// file that existed before is not deleted.
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

    /// Removes the records of applied `changes`, and the folders that `init` created for deleted
    /// files.
    pub(crate) fn forget(&self, changes: &[InitFileChange]) {
        for change in changes {
            let Some(known) = self.read(&change.path) else { continue };
            if change.after.is_none() {
                // A folder that is not empty stays.
                known.folders.iter().rev().for_each(|folder| drop(fs::remove_dir(folder)));
            }
            if change.after == known.before {
                // A remaining record no longer matches any file.
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

/// Returns true if the whole file is ours, judged by its name.
fn is_ours(path: &Path) -> bool {
    path.file_stem().is_some_and(|name| name == "lsp-tools")
}

/// Returns an empty document in the format of `path`.
fn empty_text(path: &Path) -> &'static str {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("json" | "jsonc") => "{}\n",
        _ => "",
    }
}
