//! The documents that a server has open, and the snapshots for questions.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use dashmap::DashMap;
use lsp_types::TextDocumentIdentifier;
use tokio::sync::{Mutex, OwnedMutexGuard};
use url::Url;

use crate::text::Buffer;
use crate::workspace::{FileStamp, WorkspacePath};

/// One document as the server knows it.
#[derive(Debug)]
pub(crate) struct SessionDocument {
    /// The file.
    pub(crate) path: WorkspacePath,
    /// Its URI, in the form that the server has.
    pub(crate) uri: Url,
    /// LSP `languageId`.
    pub(crate) language_id: String,
    /// The server's text.
    pub(crate) buffer: Buffer,
    /// Its version; grows with every change.
    pub(crate) version: i32,
    pub(super) source: DocumentSource,
    /// The number of pushes for the document when its last version was sent.
    pub(crate) pushes_before: u64,
    /// True if an earlier version still waited for its push when the last version was sent.
    pub(crate) owed: bool,
    /// The number of idle signs for the document when its last version was sent.
    pub(super) idle_before: u64,
    /// The number of work signs for the document when its last version was sent.
    pub(super) worked_before: u64,
    /// True if the server was made to check this version, and pushes for it even if nothing
    /// changed.
    pub(super) forced: bool,
    /// True if a signature was requested, answered or not, since the whole text was sent last, and
    /// the server may therefore keep old findings.
    pub(crate) asked_signature: bool,
    /// The state's epoch for which diagnostics of this version were last requested.
    pub(crate) epoch: u64,
    /// The epoch up to which the server has shown that it read the other files for this document.
    pub(crate) settled: u64,
    pub(super) last_used: Instant,
    /// The stamp of the file when its text was last shown as it is on disk.
    pub(super) disk_stamp: Option<FileStamp>,
}

/// The source of a text, with the means to check that it is unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DocumentSource {
    /// Read from disk, with this stamp of the file.
    Disk(FileStamp),
    /// Read from disk as well, but the stamp cannot show a later change of the same size.
    Racy(FileStamp),
    /// From a caller, by the id of its [`UnsavedText`](super::view::UnsavedText).
    Unsaved(u64),
    /// A cell of a notebook, which is compared with its file as a whole.
    Cell,
}

impl DocumentSource {
    pub(super) fn disk(stamp: FileStamp) -> Self {
        // A file that was changed just before it was read may change again and keep its stamp.
        if stamp.is_settled(SystemTime::now()) { Self::Disk(stamp) } else { Self::Racy(stamp) }
    }

    /// The stamp of the file from which the text was read.
    pub(super) fn stamp(self) -> Option<FileStamp> {
        match self {
            Self::Disk(stamp) | Self::Racy(stamp) => Some(stamp),
            Self::Unsaved(_) | Self::Cell => None,
        }
    }
}

/// The document of one query: its text at the moment it was sent.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    /// The file.
    pub(crate) path: WorkspacePath,
    /// Its URI.
    pub(crate) uri: Url,
    /// LSP `languageId`.
    pub(crate) language_id: String,
    /// The text.
    pub(crate) buffer: Buffer,
    /// Its version.
    pub(crate) version: i32,
    pub(crate) source: DocumentSource,
    /// See [`SessionDocument`].
    pub(crate) pushes_before: u64,
    /// See [`SessionDocument`].
    pub(crate) owed: bool,
    /// The number of idle signs for the document before this version.
    pub(crate) idle_before: u64,
    /// The number of work signs for the document before this version.
    pub(crate) worked_before: u64,
    /// True if the server pushes for this version even if nothing changed.
    pub(crate) forced: bool,
}

impl Snapshot {
    /// LSP 3.17 *TextDocumentIdentifier*.
    pub(crate) fn identifier(&self) -> TextDocumentIdentifier {
        TextDocumentIdentifier::new(self.uri.clone())
    }
}

impl SessionDocument {
    /// Returns the present document.
    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot {
            path: self.path.clone(),
            uri: self.uri.clone(),
            language_id: self.language_id.clone(),
            buffer: self.buffer.clone(),
            version: self.version,
            source: self.source,
            pushes_before: self.pushes_before,
            owed: self.owed,
            idle_before: self.idle_before,
            worked_before: self.worked_before,
            forced: self.forced,
        }
    }
}

/// The open documents of one session. Guards of the map are dropped before anything is awaited.
#[derive(Debug, Default)]
pub(crate) struct SessionDocuments {
    open: DashMap<WorkspacePath, Arc<Mutex<Option<SessionDocument>>>>,
}

impl SessionDocuments {
    /// Exempts the document of `path` from the limit of open documents while the returned value
    /// lives.
    pub(crate) fn keep_open(&self, path: &WorkspacePath) -> impl Sized + use<> {
        self.slot(path)
    }

    /// Returns the slot of the document of `path`, which is created if there is none.
    pub(super) fn slot(&self, path: &WorkspacePath) -> Arc<Mutex<Option<SessionDocument>>> {
        match self.open.get(path) {
            Some(slot) => slot.clone(),
            None => self.open.entry(path.clone()).or_default().clone(),
        }
    }

    /// The paths of all documents that are open or being opened.
    pub(crate) fn paths(&self) -> Vec<WorkspacePath> {
        self.open.iter().map(|document| document.key().clone()).collect()
    }

    /// The number of open documents.
    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }

    /// Returns true if `path` is open.
    pub(crate) fn contains(&self, path: &WorkspacePath) -> bool {
        self.open.contains_key(path)
    }

    /// Returns the server's text of `path`, if it is open and no other task is changing it right
    /// now.
    pub(crate) fn buffer(&self, path: &WorkspacePath) -> Option<Buffer> {
        let slot = self.open.get(path)?.clone();
        let document = slot.try_lock().ok()?;
        document.as_ref().map(|document| document.buffer.clone())
    }

    /// Removes the document of `path`.
    pub(super) fn remove(&self, path: &WorkspacePath) {
        self.open.remove(path);
    }

    /// Locks the document of `path`; one that was closed during the wait is not used again.
    pub(super) async fn lock(&self, path: &WorkspacePath) -> OwnedMutexGuard<Option<SessionDocument>> {
        loop {
            let slot = self.slot(path);
            let guard = Arc::clone(&slot).lock_owned().await;
            if self.open.get(path).is_some_and(|current| Arc::ptr_eq(&current, &slot)) {
                return guard;
            }
        }
    }
}

/// A document that is synchronized with the disk and stays so while this is held: other tasks send
/// nothing for it.
pub(crate) struct SyncedDocument(pub(super) OwnedMutexGuard<Option<SessionDocument>>);

impl SyncedDocument {
    /// The document.
    pub(crate) fn document(&mut self) -> Option<&mut SessionDocument> {
        self.0.as_mut()
    }
}
