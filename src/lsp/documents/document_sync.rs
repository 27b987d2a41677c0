//! The synchronization of a server's documents. Each is compared before use with the disk or, if a
//! caller's view hides that, with its unsaved text.

use std::sync::Arc;
use std::time::Instant;

use lsp_types::notification::{
    DidChangeTextDocument, DidCloseTextDocument, DidOpenTextDocument, DidSaveTextDocument, Notification,
};
use lsp_types::{
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DidSaveTextDocumentParams, TextDocumentContentChangeEvent, TextDocumentIdentifier, TextDocumentItem,
    VersionedTextDocumentIdentifier,
};
use serde::Serialize;
use serde_json::{Map, Value};

use super::open_documents::{DocumentSource, SessionDocument, Snapshot, SyncedDocument};
use super::view::UnsavedText;
use crate::config::spec;
use crate::lsp::session::ask::AskError;
use crate::lsp::session::capabilities::SyncKind;
use crate::lsp::session::live_session::Session;
use crate::lsp::session::request::{notify_server, position_of};
use crate::lsp::uri;
use crate::text::{Buffer, TextChange};
use crate::workspace::{ReadError, WorkspacePath};

/// The file size from which reading moves off the async threads, in bytes.
const MAX_INLINE_READ_BYTES: u64 = 256 * 1024;

impl Session {
    /// Synchronizes the server's text of `path` with the disk, or with the unsaved text that hides
    /// it: opens the document, or sends the change.
    ///
    /// Messages sent while the returned value is held reach the server before any later change of
    /// the document.
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
        match &unsaved {
            Some(unsaved) => self.show_unsaved(path, &mut slot, unsaved),
            None => match self.read(path).await {
                Ok(file) => {
                    let source = DocumentSource::disk(file.stamp);
                    match slot.as_mut() {
                        Some(document) => self.send_text_change(document, &file.text, source),
                        None => *slot = Some(self.open(path, &file.text, source)),
                    }
                }
                Err(error) => {
                    self.close(path, &mut slot);
                    return Err(error);
                }
            },
        }
        let snapshot = slot.as_ref().map(SessionDocument::snapshot);
        match snapshot {
            Some(snapshot) => Ok((SyncedDocument(slot), snapshot)),
            None => Err(ReadError::NotFound { path: path.display() }),
        }
    }

    /// LSP `languageId` of the document, which is opened if it is not open yet.
    pub(crate) async fn language_id_of(&self, path: &WorkspacePath) -> Result<String, ReadError> {
        if let Some(document) = self.documents.lock(path).await.as_ref() {
            return Ok(document.language_id.clone());
        }
        self.sync(path).await.map(|(_, snapshot)| snapshot.language_id)
    }

    /// Opens the document with an unsaved text, or sends the change to it. The document keeps the
    /// text's own rope: the next one, an edited clone of it, is compared without reading the shared
    /// part.
    fn show_unsaved(&self, path: &WorkspacePath, slot: &mut Option<SessionDocument>, unsaved: &UnsavedText) {
        let source = DocumentSource::Unsaved(unsaved.id);
        match slot.as_mut() {
            Some(document) => {
                let change = TextChange::between(&document.buffer, unsaved.buffer());
                self.send_one_change(document, change, source);
            }
            None => *slot = Some(self.open(path, unsaved.text(), source)),
        }
        if let Some(document) = slot.as_mut() {
            document.buffer = unsaved.buffer().clone();
        }
    }

    /// Like [`sync`](Self::sync), for a file that the server need not have: a file that cannot be
    /// read is closed, and that is logged.
    pub(crate) async fn sync_if_readable(&self, path: &WorkspacePath) {
        if let Err(error) = self.sync(path).await.map(drop) {
            tracing::debug!(path = %path.display(), "not open: {error}");
        }
    }

    /// Synchronizes several documents.
    pub(crate) async fn sync_all(&self, paths: &[&WorkspacePath]) {
        for path in paths {
            self.sync_if_readable(path).await;
        }
        if paths.len() > 1 && self.state.spec.diagnostics.sees_unsaved {
            // The server may have checked the first of them against the old text of the last.
            self.state.advance_epoch();
        }
    }

    /// Ensures that the server has `path` open.
    pub(crate) async fn ensure_open(
        &self,
        path: &WorkspacePath,
        deadline: tokio::time::Instant,
    ) -> Result<(), AskError> {
        if self.reads_in_order() {
            return Ok(self.sync(path).await.map(drop)?);
        }
        // The server's findings show that it has read a file.
        self.diagnostics(path, deadline).await.map(drop)
    }

    pub(super) async fn read(&self, path: &WorkspacePath) -> Result<crate::workspace::TextFile, ReadError> {
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

    /// Sends `textDocument/didOpen`.
    fn open(&self, path: &WorkspacePath, text: &str, source: DocumentSource) -> SessionDocument {
        let push_state = self.state.pushes(path);
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
            pushes_before: push_state.count,
            owed: false,
            idle_before: push_state.idle,
            worked_before: push_state.worked,
            forced: false,
            asked_signature: false,
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

    /// Sends `textDocument/didChange` with the smallest change, if there is one.
    fn send_text_change(&self, document: &mut SessionDocument, text: &str, source: DocumentSource) {
        let change = TextChange::to_text(&document.buffer, text);
        self.send_one_change(document, change, source);
    }

    fn send_one_change(
        &self,
        document: &mut SessionDocument,
        change: Option<TextChange>,
        source: DocumentSource,
    ) {
        document.source = source;
        let Some(change) = change else { return };
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
        document.asked_signature = false;
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
        let push_state = self.state.pushes(&document.path);
        let pushes = push_state.count;
        document.idle_before = push_state.idle;
        document.worked_before = push_state.worked;
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

    /// Returns true if the server is notified of saves. A text from the disk is always saved, so
    /// each such change counts as a save. Servers whose rule does not ask for it are spared the
    /// second check.
    fn wants_saves(&self) -> bool {
        let rule = &self.state.spec.diagnostics;
        rule.on_save || rule.source == spec::DiagnosticsSource::Auto
    }

    /// Builds LSP 3.17 *TextDocumentContentChangeEvent*, in the server's encoding.
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

    /// Closes the document of a file that no longer exists or can no longer be read.
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
        if self.documents.len() <= most {
            return;
        }
        let mut ages = Vec::new();
        for path in self.documents.paths() {
            let slot = self.documents.slot(&path);
            // One that is kept, or locked, is in use right now: beside the map's handle and this
            // one there is another.
            if Arc::strong_count(&slot) > 2 {
                continue;
            }
            if let Ok(document) = slot.try_lock()
                && let Some(document) = document.as_ref()
                // After a close, the server would use the file on disk, although the caller's view
                // has another text.
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

    /// Returns true if the file, or the unsaved text over it, is still the source of `snapshot`.
    pub(crate) fn is_current(&self, snapshot: &Snapshot) -> bool {
        match snapshot.source {
            DocumentSource::Disk(stamp) | DocumentSource::Racy(stamp) => {
                self.workspace.stamp(&snapshot.path).is_ok_and(|now| now == stamp)
            }
            DocumentSource::Unsaved(id) => {
                let unsaved = self.unsaved.lock();
                unsaved.unsaved(&snapshot.path).is_some_and(|unsaved| unsaved.id == id)
            }
            DocumentSource::Cell => true,
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

/// Params with the additional members of a server's recheck rule.
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
