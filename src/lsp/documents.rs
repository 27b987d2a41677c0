//! The documents that a server has open, version by version. Each is compared before use with the disk or, where a caller's
//! view hides that, with its unsaved text.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use async_lsp::lsp_types::notification::{
    DidChangeTextDocument, DidCloseTextDocument, DidOpenTextDocument, DidSaveTextDocument, Notification,
};
use async_lsp::lsp_types::{
    self, DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DidSaveTextDocumentParams, TextDocumentContentChangeEvent, TextDocumentIdentifier, TextDocumentItem,
    VersionedTextDocumentIdentifier,
};
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::sync::{Mutex, OwnedMutexGuard};
use url::Url;

use super::capabilities::SyncKind;
use super::request::{notify_server, position_of};
use super::session::Session;
use super::uri;
use crate::config::spec;
use crate::text::{Buffer, TextChange};
use crate::workspace::{FileStamp, ReadError, WorkspacePath};

/// Above this size reading moves off the async threads.
const MAX_INLINE_READ_BYTES: u64 = 256 * 1024;

/// One document as the server knows it.
#[derive(Debug)]
pub(crate) struct SessionDocument {
    /// The file.
    pub(crate) path: WorkspacePath,
    /// Its URI, as the server was given it.
    pub(crate) uri: Url,
    /// LSP `languageId`.
    pub(crate) language_id: String,
    /// The text the server has.
    pub(crate) buffer: Buffer,
    /// Its version; grows with every change.
    pub(crate) version: i32,
    source: DocumentSource,
    /// How many pushes had come for the document when its last version was sent.
    pub(crate) pushes_before: u64,
    /// When the last version was sent, some earlier version still waited for its push.
    pub(crate) owed: bool,
    /// How often the server had said that it is done with the document when its last version was sent.
    idle_before: u64,
    /// The same, that it works on it.
    worked_before: u64,
    /// The server was made to check this version, and pushes for it even if nothing changed.
    forced: bool,
    /// The state's epoch for which diagnostics of this version were last asked.
    pub(crate) epoch: u64,
    /// The epoch of which the server has shown that it read the other files for this document.
    pub(crate) settled: u64,
    last_used: Instant,
    /// How the file looked when its text was last shown as it is on disk.
    disk_stamp: Option<FileStamp>,
}

/// Where a text came from, and how to tell that it is still the one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DocumentSource {
    /// Read from disk, when the file looked like this.
    Disk(FileStamp),
    /// From disk as well, but the stamp cannot tell a later change of the same size.
    Racy(FileStamp),
    /// From a caller, by its [`UnsavedText`](super::view::UnsavedText) id.
    Unsaved(u64),
}

impl DocumentSource {
    fn disk(stamp: FileStamp) -> Self {
        // A file that was changed just before it was read may change again and keep its stamp.
        if stamp.is_settled(SystemTime::now()) { Self::Disk(stamp) } else { Self::Racy(stamp) }
    }

    /// How the file looked that it was read from.
    fn stamp(self) -> Option<FileStamp> {
        match self {
            Self::Disk(stamp) | Self::Racy(stamp) => Some(stamp),
            Self::Unsaved(_) => None,
        }
    }
}

/// What one query works on: the text at the moment it was sent.
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
    pub(super) source: DocumentSource,
    /// As in [`SessionDocument`].
    pub(crate) pushes_before: u64,
    /// As in [`SessionDocument`].
    pub(crate) owed: bool,
    /// How often the server had said that it is done with the document before this version.
    pub(crate) idle_before: u64,
    /// The same, that it works on it.
    pub(crate) worked_before: u64,
    /// The server pushes for this version even if nothing changed.
    pub(crate) forced: bool,
}

impl Snapshot {
    /// LSP 3.17 *TextDocumentIdentifier*.
    pub(crate) fn identifier(&self) -> TextDocumentIdentifier {
        TextDocumentIdentifier::new(self.uri.clone())
    }
}

impl SessionDocument {
    /// The document as it is now.
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

/// The open documents of one session.
#[derive(Debug, Default)]
pub(super) struct SessionDocuments {
    open: parking_lot::Mutex<HashMap<WorkspacePath, Arc<Mutex<Option<SessionDocument>>>>>,
}

impl SessionDocuments {
    /// Keeps the document of `path` from being closed as surplus while the returned value lives.
    pub(super) fn keep_open(&self, path: &WorkspacePath) -> impl Sized + use<> {
        self.slot(path)
    }

    fn slot(&self, path: &WorkspacePath) -> Arc<Mutex<Option<SessionDocument>>> {
        let mut open = self.open.lock();
        open.entry(path.clone()).or_default().clone()
    }

    /// The paths of all documents that are open or being opened.
    pub(super) fn paths(&self) -> Vec<WorkspacePath> {
        let open = self.open.lock();
        open.keys().cloned().collect()
    }

    /// How many documents are open.
    pub(super) fn len(&self) -> usize {
        self.open.lock().len()
    }

    /// Whether `path` is open.
    pub(super) fn contains(&self, path: &WorkspacePath) -> bool {
        self.open.lock().contains_key(path)
    }

    /// The text that the server has for `path`, where it is open and nobody is changing it right now.
    pub(super) fn buffer(&self, path: &WorkspacePath) -> Option<Buffer> {
        let slot = self.open.lock().get(path)?.clone();
        let document = slot.try_lock().ok()?;
        document.as_ref().map(|document| document.buffer.clone())
    }

    fn remove(&self, path: &WorkspacePath) {
        self.open.lock().remove(path);
    }

    /// Locks the document of `path`; one that was closed while this waited is not used again.
    async fn lock(&self, path: &WorkspacePath) -> OwnedMutexGuard<Option<SessionDocument>> {
        loop {
            let slot = self.slot(path);
            let guard = Arc::clone(&slot).lock_owned().await;
            let open = self.open.lock();
            if open.get(path).is_some_and(|current| Arc::ptr_eq(current, &slot)) {
                return guard;
            }
        }
    }
}

/// A document that is in step with the disk and stays so while this is held: nothing is sent for it by others.
pub(crate) struct SyncedDocument(OwnedMutexGuard<Option<SessionDocument>>);

impl SyncedDocument {
    /// The document.
    pub(crate) fn document(&mut self) -> Option<&mut SessionDocument> {
        self.0.as_mut()
    }
}

impl Session {
    /// Brings the server's text of `path` in step with the disk, or with the unsaved text that hides it: opens the document,
    /// or sends what changed.
    ///
    /// What is sent while the returned value is held reaches the server before any later change of the document.
    pub(crate) async fn sync(&self, path: &WorkspacePath) -> Result<(SyncedDocument, Snapshot), ReadError> {
        let mut slot = self.documents.lock(path).await;
        let unsaved = self.unsaved.lock().unsaved(path).cloned();
        if let Some(document) = slot.as_mut() {
            document.last_used = Instant::now();
            let same = match &unsaved {
                Some(unsaved) => document.source == DocumentSource::Unsaved(unsaved.id),
                None => self
                    .workspace
                    .stamp(path)
                    .is_ok_and(|stamp| document.source == DocumentSource::Disk(stamp)),
            };
            if same {
                let snapshot = document.snapshot();
                return Ok((SyncedDocument(slot), snapshot));
            }
        }
        let text: std::borrow::Cow<'_, str>;
        let source = match &unsaved {
            Some(unsaved) => {
                text = (&*unsaved.text).into();
                DocumentSource::Unsaved(unsaved.id)
            }
            None => match self.read(path).await {
                Ok(file) => {
                    text = file.text.into();
                    DocumentSource::disk(file.stamp)
                }
                Err(error) => {
                    self.close(path, &mut slot);
                    return Err(error);
                }
            },
        };
        match slot.as_mut() {
            Some(document) => self.send_text_change(document, &text, source),
            None => *slot = Some(self.open(path, &text, source)),
        }
        let snapshot = slot.as_ref().map(SessionDocument::snapshot);
        match snapshot {
            Some(snapshot) => Ok((SyncedDocument(slot), snapshot)),
            None => Err(ReadError::NotFound { path: path.display() }),
        }
    }

    async fn read(&self, path: &WorkspacePath) -> Result<crate::workspace::TextFile, ReadError> {
        let limit = self.limits.max_file_bytes;
        if self.workspace.stamp(path)?.size <= MAX_INLINE_READ_BYTES {
            return self.workspace.read_text_up_to(path, limit);
        }
        let (workspace, path) = (self.workspace.clone(), path.clone());
        let display = path.display();
        match tokio::task::spawn_blocking(move || workspace.read_text_up_to(&path, limit)).await {
            Ok(read) => read,
            Err(_) => Err(ReadError::NotFound { path: display }),
        }
    }

    /// `textDocument/didOpen`.
    fn open(&self, path: &WorkspacePath, text: &str, source: DocumentSource) -> SessionDocument {
        let heard = self.state.pushes(path);
        let absolute = self.workspace.absolute(path);
        let uri = uri::from_path(&absolute);
        let language_id = self.language_id(path, text);
        let document = SessionDocument {
            path: path.clone(),
            uri: uri.clone(),
            language_id: language_id.clone(),
            buffer: Buffer::new(text),
            version: 1,
            source,
            pushes_before: heard.count,
            owed: false,
            idle_before: heard.idle,
            worked_before: heard.worked,
            forced: false,
            epoch: self.state.epoch(),
            settled: self.state.epoch(),
            last_used: Instant::now(),
            disk_stamp: source.stamp(),
        };
        let text_document = TextDocumentItem::new(uri, language_id, 1, text.to_owned());
        notify_server::<DidOpenTextDocument>(&self.connection, &DidOpenTextDocumentParams { text_document });
        self.state.with_readiness(|readiness| readiness.on_document_opened());
        document
    }

    /// `textDocument/didChange` with the smallest change, if there is one.
    fn send_text_change(&self, document: &mut SessionDocument, text: &str, source: DocumentSource) {
        document.source = source;
        let Some(change) = TextChange::to_text(&document.buffer, text) else { return };
        if let Some(stamp) = source.stamp()
            && document.disk_stamp.replace(stamp) != Some(stamp)
        {
            self.state.with_background_check(|check| check.on_text_changed());
        }
        let before = document.buffer.clone();
        document.buffer.apply(&change);
        let event = self.change_event(&before, &document.buffer, &change);
        self.send_change(document, event, &Value::Null);
    }

    /// Sends the text again under a new version, so that a server that only pushes checks it again.
    pub(crate) fn resend_text(&self, document: &mut SessionDocument) {
        let event = whole_text(&document.buffer);
        let more = serde_json::to_value(&self.state.spec.diagnostics.recheck).unwrap_or_default();
        self.send_change(document, event, &more);
        document.forced = more.as_object().is_some_and(|more| !more.is_empty());
    }

    fn send_change(
        &self,
        document: &mut SessionDocument,
        event: TextDocumentContentChangeEvent,
        more: &Value,
    ) {
        if self.capabilities.sync == SyncKind::None {
            return;
        }
        let heard = self.state.pushes(&document.path);
        let pushes = heard.count;
        document.idle_before = heard.idle;
        document.worked_before = heard.worked;
        document.owed =
            pushes == document.pushes_before || (document.owed && pushes < document.pushes_before + 2);
        document.pushes_before = pushes;
        document.version += 1;
        document.epoch = self.state.epoch();
        let params = DidChangeTextDocumentParams {
            text_document: VersionedTextDocumentIdentifier::new(document.uri.clone(), document.version),
            content_changes: vec![event],
        };
        document.forced = false;
        match more.as_object() {
            Some(more) => self.connection.notify(DidChangeTextDocument::METHOD, &WithMore { params, more }),
            None => notify_server::<DidChangeTextDocument>(&self.connection, &params),
        }
        let saved = !matches!(document.source, DocumentSource::Unsaved(_));
        if let Some(with_text) = self.capabilities.save.filter(|_| saved && self.wants_saves()) {
            let params = DidSaveTextDocumentParams {
                text_document: TextDocumentIdentifier::new(document.uri.clone()),
                text: with_text.then(|| document.buffer.to_string()),
            };
            notify_server::<DidSaveTextDocument>(&self.connection, &params);
        }
    }

    /// What comes from disk is saved, so every such change is a save; servers whose rule does not ask for it are spared
    /// the second check.
    fn wants_saves(&self) -> bool {
        let rule = &self.state.spec.diagnostics;
        rule.on_save || rule.source == spec::DiagnosticsSource::Auto
    }

    /// LSP 3.17 *TextDocumentContentChangeEvent*, in the server's encoding.
    fn change_event(
        &self,
        before: &Buffer,
        after: &Buffer,
        change: &TextChange,
    ) -> TextDocumentContentChangeEvent {
        let astral = || before.has_astral() || after.has_astral();
        let whole = self.capabilities.sync == SyncKind::Full
            || (self.state.spec.sync == spec::SyncRule::FullIfAstral && astral());
        if whole {
            return whole_text(after);
        }
        let range = before.encode_range(change.range, self.capabilities.encoding);
        let range = lsp_types::Range { start: position_of(range.start), end: position_of(range.end) };
        TextDocumentContentChangeEvent { range: Some(range), range_length: None, text: change.text.clone() }
    }

    /// Closes the document of a file that is gone or can no longer be read.
    fn close(&self, path: &WorkspacePath, slot: &mut Option<SessionDocument>) {
        if let Some(document) = slot.take() {
            let text_document = TextDocumentIdentifier::new(document.uri);
            notify_server::<DidCloseTextDocument>(
                &self.connection,
                &DidCloseTextDocumentParams { text_document },
            );
            self.state.forget_pushes(path);
        }
        self.documents.remove(path);
    }

    /// Closes the least recently used documents until at most `most` are open.
    pub(crate) async fn close_beyond(&self, most: usize) {
        let paths = self.documents.paths();
        if paths.len() <= most {
            return;
        }
        let mut ages = Vec::new();
        for path in paths {
            let slot = self.documents.slot(&path);
            // One that is kept, or locked, is in use right now: beside the map's handle and this one there is another.
            if Arc::strong_count(&slot) > 2 {
                continue;
            }
            if let Ok(document) = slot.try_lock()
                && let Some(document) = document.as_ref()
                // Closed, the file would be what is on disk to the server, and the caller whose text it is sees another.
                && !matches!(document.source, DocumentSource::Unsaved(_))
            {
                ages.push((document.last_used, path));
            }
        }
        ages.sort();
        let surplus = self.documents.len().saturating_sub(most);
        for (_, path) in ages.into_iter().take(surplus) {
            if let Ok(mut slot) = self.documents.slot(&path).try_lock_owned() {
                self.close(&path, &mut slot);
            }
        }
    }

    /// Whether the file, or the unsaved text over it, still is what `snapshot` was taken of.
    pub(crate) fn is_current(&self, snapshot: &Snapshot) -> bool {
        match snapshot.source {
            DocumentSource::Disk(stamp) | DocumentSource::Racy(stamp) => {
                self.workspace.stamp(&snapshot.path).is_ok_and(|now| now == stamp)
            }
            DocumentSource::Unsaved(id) => {
                let unsaved = self.unsaved.lock();
                unsaved.unsaved(&snapshot.path).is_some_and(|unsaved| unsaved.id == id)
            }
        }
    }

    fn language_id(&self, path: &WorkspacePath, text: &str) -> String {
        let language = self.catalogue.language_of(&path.name_lossy(), text.lines().next());
        let extension = path.extension();
        match language {
            Some(language) => self.catalogue.language_id(language, extension).to_owned(),
            None => "plaintext".to_owned(),
        }
    }
}

/// Params with the members that a server's own rule for checking again adds.
#[derive(Serialize)]
struct WithMore<'a> {
    #[serde(flatten)]
    params: DidChangeTextDocumentParams,
    #[serde(flatten)]
    more: &'a Map<String, Value>,
}

fn whole_text(buffer: &Buffer) -> TextDocumentContentChangeEvent {
    TextDocumentContentChangeEvent { range: None, range_length: None, text: buffer.to_string() }
}
