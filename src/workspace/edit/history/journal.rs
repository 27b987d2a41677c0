//! The journal of transactions: one folder per workspace in the user's state folder, one entry per
//! transaction.
//!
//! An entry is a folder with the record and the old contents. Its name shows the progress of the
//! transaction: `N.begun` until all steps are done, `N.done` until their temporary files are
//! removed, `N` after that. Each change of name is one rename, so an entry is always in one of
//! these states.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::record::{StoredContentRange, TRANSACTION_FORMAT_VERSION, TransactionRecord};
use crate::platform::files::sync_folder;
use crate::platform::private;
use crate::text::hex;
use crate::workspace::edit::{ContentHash, EditError, EditId, EditLimits};

const RECORD: &str = "record.json";
const IMAGES: &str = "images";
const COUNTER: &str = "last";
const LOCK: &str = "lock";
const BEGUN: &str = "begun";
const DONE: &str = "done";
/// An entry that is being removed, or whose writing was never completed.
const DEBRIS: &str = "debris";
/// An entry that cannot be parsed; it may hold the only copy of something.
const DAMAGED: &str = "damaged";

/// The entries of one workspace.
#[derive(Debug)]
pub(crate) struct Journal {
    folder: PathBuf,
}

/// The progress of an entry's transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JournalProgress {
    Begun,
    Done,
    Tidy,
}

/// An existing entry.
#[derive(Debug, Clone)]
pub(crate) struct JournalEntry {
    pub(crate) id: EditId,
    pub(crate) progress: JournalProgress,
    path: PathBuf,
}

pub(crate) fn journal_error(action: &'static str, path: &Path, error: impl ToString) -> EditError {
    let file = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    EditError::Journal { action, file, reason: error.to_string() }
}

impl Journal {
    /// The journal of the workspace at the canonical path `root`, below the user's folder `state`.
    pub(crate) fn new(state: &Path, root: &Path) -> Self {
        let digest = Sha256::digest(root.as_os_str().as_encoded_bytes());
        let key = hex(&digest[..16]);
        Self { folder: state.join("edits").join(key) }
    }

    /// Creates its folder, for the user alone, and returns the path of the lock file in it.
    pub(crate) fn prepare(&self) -> Result<PathBuf, EditError> {
        private::make_folder(&self.folder).map_err(|error| journal_error("make", &self.folder, error))?;
        Ok(self.folder.join(LOCK))
    }

    /// Returns true if any transaction was ever journaled.
    #[cfg(any(all(test, unix), feature = "fuzzing"))]
    pub(crate) fn exists(&self) -> bool {
        self.folder.is_dir()
    }

    /// The entries, oldest first.
    pub(crate) fn entries(&self) -> Result<Vec<JournalEntry>, EditError> {
        let listed = match fs::read_dir(&self.folder) {
            Ok(listed) => listed,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(journal_error("list", &self.folder, error)),
        };
        let mut entries = Vec::new();
        for listed in listed {
            let path = listed.map_err(|error| journal_error("list", &self.folder, error))?.path();
            entries.extend(JournalEntry::from_path(path));
        }
        entries.sort_by_key(|entry| entry.id);
        Ok(entries)
    }

    /// Returns an id for the next transaction, which neither any of `entries` nor any removed one
    /// has.
    pub(crate) fn next_id(&self, entries: &[JournalEntry]) -> Result<EditId, EditError> {
        let path = self.folder.join(COUNTER);
        let counted = match fs::read_to_string(&path) {
            Ok(text) => text.trim().parse().unwrap_or(0),
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(error) => return Err(journal_error("read", &path, error)),
        };
        let highest = entries.last().map_or(0, |entry| entry.id.0);
        let next: u64 = highest.max(counted) + 1;
        private::write(&path, next.to_string().as_bytes())
            .map_err(|error| journal_error("write", &path, error))?;
        Ok(EditId(next))
    }

    /// Writes a new entry; it gets its name only when it is complete.
    pub(crate) fn begin(
        &self,
        record: &TransactionRecord,
        images: &[Arc<[u8]>],
    ) -> Result<JournalEntry, EditError> {
        let draft = self.folder.join(format!("{}.{DEBRIS}", record.id.0));
        let path = self.folder.join(format!("{}.{BEGUN}", record.id.0));
        let write = || -> io::Result<()> {
            private::make_folder(&draft)?;
            let mut file = new_file(&draft.join(IMAGES))?;
            for image in images {
                file.write_all(image)?;
            }
            file.sync_data()?;
            let text = serde_json::to_vec(record).map_err(io::Error::other)?;
            let mut file = new_file(&draft.join(RECORD))?;
            file.write_all(&text)?;
            file.sync_data()?;
            fs::rename(&draft, &path)?;
            sync_folder(&self.folder)
        };
        match write() {
            Ok(()) => Ok(JournalEntry { id: record.id, progress: JournalProgress::Begun, path }),
            Err(error) => {
                let failure = journal_error("write", &path, &error);
                for path in [&draft, &path] {
                    match fs::remove_dir_all(path) {
                        Err(error) if error.kind() != io::ErrorKind::NotFound => {
                            tracing::warn!("the journal entry {} cannot be removed: {error}", path.display());
                        }
                        _ => {}
                    }
                }
                Err(failure)
            }
        }
    }

    /// Marks that all steps are done: from here on the transaction is committed.
    pub(crate) fn mark_done(&self, entry: JournalEntry) -> Result<JournalEntry, EditError> {
        self.rename(entry, JournalProgress::Done)
    }

    /// Marks that nothing is left to clean up.
    pub(crate) fn mark_tidy(&self, entry: JournalEntry) -> Result<JournalEntry, EditError> {
        self.rename(entry, JournalProgress::Tidy)
    }

    fn rename(&self, entry: JournalEntry, progress: JournalProgress) -> Result<JournalEntry, EditError> {
        let name = match progress {
            JournalProgress::Begun => format!("{}.{BEGUN}", entry.id.0),
            JournalProgress::Done => format!("{}.{DONE}", entry.id.0),
            JournalProgress::Tidy => entry.id.0.to_string(),
        };
        let path = self.folder.join(name);
        fs::rename(&entry.path, &path).map_err(|error| journal_error("rename", &entry.path, error))?;
        Ok(JournalEntry { id: entry.id, progress, path })
    }

    /// Removes the entry of a transaction that was rolled back, or is too old.
    pub(crate) fn remove_entry(&self, entry: &JournalEntry) -> Result<(), EditError> {
        let debris = self.folder.join(format!("{}.{DEBRIS}", entry.id.0));
        // Half an entry must never look like a whole one.
        fs::rename(&entry.path, &debris).map_err(|error| journal_error("rename", &entry.path, error))?;
        fs::remove_dir_all(&debris).map_err(|error| journal_error("remove", &debris, error))
    }

    /// Moves an entry that cannot be parsed aside, for a person to inspect.
    pub(crate) fn quarantine(&self, entry: &JournalEntry) -> Result<(), EditError> {
        let aside = self.folder.join(format!("{}.{DAMAGED}", entry.id.0));
        fs::rename(&entry.path, &aside).map_err(|error| journal_error("rename", &entry.path, error))
    }

    /// Reads the record of an entry.
    pub(crate) fn read_record(&self, entry: &JournalEntry) -> Result<TransactionRecord, EditError> {
        let path = entry.path.join(RECORD);
        let bytes = fs::read(&path).map_err(|error| journal_error("read", &path, error))?;
        let record: TransactionRecord =
            serde_json::from_slice(&bytes).map_err(|error| journal_error("understand", &path, error))?;
        if record.version != TRANSACTION_FORMAT_VERSION || record.id != entry.id {
            return Err(journal_error("understand", &path, "it is of another version of this program"));
        }
        Ok(record)
    }

    /// Reads an old content, checked against its hash.
    pub(crate) fn read_image(
        &self,
        entry: &JournalEntry,
        image: &StoredContentRange,
    ) -> Result<Vec<u8>, EditError> {
        let path = entry.path.join(IMAGES);
        let read = || -> io::Result<Vec<u8>> {
            let mut file = File::open(&path)?;
            file.seek(SeekFrom::Start(image.offset))?;
            let mut bytes = Vec::new();
            file.take(image.length).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let bytes = read().map_err(|error| journal_error("read", &path, error))?;
        if ContentHash::compute(&bytes) != image.hash {
            return Err(journal_error("believe", &path, "it is damaged: its checksum does not match"));
        }
        Ok(bytes)
    }

    /// Removes the oldest entries until the rest is within the limits, and the remains of entries
    /// that were being written or removed.
    pub(crate) fn prune(&self, limits: &EditLimits) -> Result<(), EditError> {
        self.remove_debris()?;
        let entries: Vec<JournalEntry> =
            self.entries()?.into_iter().filter(|entry| entry.progress == JournalProgress::Tidy).collect();
        let mut bytes = 0;
        for (newer, entry) in entries.iter().rev().enumerate() {
            bytes += entry.size_bytes();
            // The newest one stays, regardless of its size.
            if newer > 0 && (newer >= limits.journal_entries || bytes > limits.journal_bytes) {
                self.remove_entry(entry)?;
            }
        }
        Ok(())
    }

    fn remove_debris(&self) -> Result<(), EditError> {
        let listed =
            fs::read_dir(&self.folder).map_err(|error| journal_error("list", &self.folder, error))?;
        for path in listed.flatten().map(|listed| listed.path()) {
            if path.extension().is_some_and(|extension| extension == DEBRIS) {
                fs::remove_dir_all(&path).map_err(|error| journal_error("remove", &path, error))?;
            }
        }
        Ok(())
    }
}

impl JournalEntry {
    fn from_path(path: PathBuf) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let (number, progress) = match name.split_once('.') {
            None => (name, JournalProgress::Tidy),
            Some((number, BEGUN)) => (number, JournalProgress::Begun),
            Some((number, DONE)) => (number, JournalProgress::Done),
            Some(_) => return None,
        };
        Some(Self { id: EditId(number.parse().ok()?), progress, path })
    }

    /// The size in bytes; a file whose size is unknown counts as empty.
    fn size_bytes(&self) -> u64 {
        let length = |name| fs::metadata(self.path.join(name)).map_or(0, |metadata| metadata.len());
        length(RECORD) + length(IMAGES)
    }
}

fn new_file(path: &Path) -> io::Result<File> {
    private::open(private::open_options().write(true).create_new(true), path)
}
