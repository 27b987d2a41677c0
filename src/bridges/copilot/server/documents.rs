//! The documents open in the server, and the notifications of changes by our tools.
//!
//! A file changed by a call is reported before the response to the call, on the same pipe. So the
//! server never shows an outdated text to a model. Open files are also compared with the disk
//! before each turn, since other programs change them too. Files that the rules hide are never
//! reported.

use std::collections::BTreeMap;

use serde_json::json;
use tokio::sync::Mutex;

use crate::lsp::uri;
use crate::policy::request::PolicyVerdict;
use crate::rpc::Peer;
use crate::runtime::Runtime;
use crate::tools::api::tool::Caller;
use crate::workspace::edit::ContentHash;
use crate::workspace::{ChangeBatch, ChangeKind, WorkspacePath};

/// The limit on open documents. Beyond it, the least recently changed one is closed.
const MAX_OPEN_COPILOT_DOCUMENTS: usize = 50;
/// The limit on documents opened after one call. A checkout of thousands of files would otherwise
/// open them all.
const MAX_NEWLY_OPENED_DOCUMENTS: usize = 20;
/// The size limit of a reported file, in bytes.
const MAX_SYNCED_DOCUMENT_BYTES: u64 = 1_000_000;

/// The documents of one server.
#[derive(Debug, Default)]
pub(super) struct CopilotDocuments(Mutex<CopilotDocumentTable>);

#[derive(Debug, Default)]
struct CopilotDocumentTable {
    open: BTreeMap<WorkspacePath, CopilotDocument>,
    clock: u64,
}

#[derive(Debug)]
struct CopilotDocument {
    version: i32,
    hash: ContentHash,
    changed: u64,
}

impl CopilotDocuments {
    /// Sends `changes` to the server.
    pub(super) async fn notify_changes(
        &self,
        changes: &ChangeBatch,
        runtime: &Runtime,
        caller: &Caller,
        connection: &Peer,
    ) {
        let mut state = self.0.lock().await;
        let mut paths: Vec<WorkspacePath> = Vec::new();
        let mut new = 0;
        for (path, kind) in &changes.changes {
            let known = state.open.contains_key(path);
            if known || (*kind != ChangeKind::Deleted && new < MAX_NEWLY_OPENED_DOCUMENTS) {
                new += usize::from(!known);
                paths.push(path.clone());
            }
        }
        if changes.overflowed {
            paths.extend(state.open.keys().filter(|path| !paths.contains(path)).cloned().collect::<Vec<_>>());
        }
        state.sync_paths(paths, runtime, caller, connection).await;
    }

    /// Syncs all open documents with the disk.
    pub(super) async fn refresh(&self, runtime: &Runtime, caller: &Caller, connection: &Peer) {
        let mut state = self.0.lock().await;
        let paths = state.open.keys().cloned().collect();
        state.sync_paths(paths, runtime, caller, connection).await;
    }

    /// Opens a file, or syncs it with the disk.
    pub(super) async fn open(
        &self,
        path: WorkspacePath,
        runtime: &Runtime,
        caller: &Caller,
        connection: &Peer,
    ) {
        self.0.lock().await.sync_paths(vec![path], runtime, caller, connection).await;
    }

    /// The paths of the open documents.
    pub(super) async fn paths(&self) -> Vec<WorkspacePath> {
        self.0.lock().await.open.keys().cloned().collect()
    }
}

impl CopilotDocumentTable {
    async fn sync_paths(
        &mut self,
        paths: Vec<WorkspacePath>,
        runtime: &Runtime,
        caller: &Caller,
        connection: &Peer,
    ) {
        if paths.is_empty() {
            return;
        }
        let (runtime, caller) = (runtime.clone(), caller.clone());
        let language = |path: &WorkspacePath| language_id(&runtime, path);
        let looked = tokio::task::spawn_blocking({
            let (runtime, caller) = (runtime.clone(), caller.clone());
            move || {
                paths
                    .into_iter()
                    .map(|path| {
                        let limit = MAX_SYNCED_DOCUMENT_BYTES;
                        (runtime.text_for(&caller, &path, limit, PolicyVerdict::Allow), path)
                    })
                    .collect::<Vec<_>>()
            }
        });
        let Ok(looked) = looked.await else { return };
        for (now, path) in looked {
            match now {
                Ok(text) => self.send_text(&path, &text, &language(&path), &runtime, connection),
                // Deleted, too large, not text, or hidden from this caller.
                Err(_) => self.close(&path, &runtime, connection),
            }
        }
    }

    /// Sends `text` as the content of the document (LSP 3.17, *didOpen*, *didChange*: a change
    /// without a range replaces the whole text).
    fn send_text(
        &mut self,
        path: &WorkspacePath,
        text: &str,
        language: &str,
        runtime: &Runtime,
        connection: &Peer,
    ) {
        let uri = uri::from_path(&runtime.workspace().absolute(path));
        let hash = ContentHash::compute(text.as_bytes());
        self.clock += 1;
        let clock = self.clock;
        if let Some(open) = self.open.get_mut(path) {
            if open.hash == hash {
                return;
            }
            open.version += 1;
            open.hash = hash;
            open.changed = clock;
            let document = json!({"uri": uri, "version": open.version});
            let params = json!({"textDocument": document, "contentChanges": [{"text": text}]});
            return connection.notify("textDocument/didChange", &params);
        }
        if self.open.len() >= MAX_OPEN_COPILOT_DOCUMENTS {
            let oldest = self.open.iter().min_by_key(|(_, open)| open.changed).map(|(path, _)| path.clone());
            if let Some(oldest) = oldest {
                self.close(&oldest, runtime, connection);
            }
        }
        self.open.insert(path.clone(), CopilotDocument { version: 1, hash, changed: clock });
        let document = json!({"uri": uri, "languageId": language, "version": 1, "text": text});
        connection.notify("textDocument/didOpen", &json!({"textDocument": document}));
    }

    fn close(&mut self, path: &WorkspacePath, runtime: &Runtime, connection: &Peer) {
        if self.open.remove(path).is_some() {
            let uri = uri::from_path(&runtime.workspace().absolute(path));
            connection.notify("textDocument/didClose", &json!({"textDocument": {"uri": uri}}));
        }
    }
}

fn language_id(runtime: &Runtime, path: &WorkspacePath) -> String {
    let catalogue = runtime.catalogue();
    let language = path.file_name().and_then(|name| catalogue.language_of(name, None));
    language.map_or("plaintext", |language| catalogue.language_id(language, path.extension())).to_owned()
}
