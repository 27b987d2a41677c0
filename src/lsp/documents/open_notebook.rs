//! Open notebooks (LSP 3.17, *Notebook Document Synchronization*), each opened for one check of its
//! file and closed after it.

use lsp_types::notification::{DidCloseTextDocument, DidOpenTextDocument};
use lsp_types::{
    DidCloseTextDocumentParams, DidOpenTextDocumentParams, TextDocumentIdentifier, TextDocumentItem,
};
use serde_json::{Value, json};
use url::Url;

use super::open_documents::{DocumentSource, Snapshot};
use crate::config::spec::NotebookRule;
use crate::lsp::session::live_session::Session;
use crate::lsp::session::request::notify_server;
use crate::lsp::uri;
use crate::text::Buffer;
use crate::text::notebook_code::NotebookCode;
use crate::workspace::{ReadError, WorkspacePath};

/// LSP's word for notebooks of Jupyter (3.17, *NotebookDocument*).
const JUPYTER: &str = "jupyter-notebook";
/// LSP 3.17 *NotebookCellKind* of a cell with code.
const CODE_CELL: u8 = 2;

/// A notebook that a server has open until this is dropped.
pub(crate) struct OpenNotebook<'a> {
    session: &'a Session,
    uri: Url,
    /// The documents of its code cells, in their order.
    pub(crate) cells: Vec<Snapshot>,
}

impl Session {
    /// Returns true if the server takes notebooks with code in `language`.
    pub(crate) fn checks_notebooks(&self, language: &str) -> bool {
        let language_id = self.catalogue.language_id(language, None);
        self.capabilities.takes_notebooks(JUPYTER, language_id)
    }

    /// The current text of the notebook at `path`, as a snapshot that the server will be shown.
    pub(crate) async fn notebook(&self, path: &WorkspacePath) -> Result<Snapshot, ReadError> {
        let unsaved = self.unsaved.lock().unsaved(path).cloned();
        let (buffer, source) = match unsaved {
            Some(unsaved) => (unsaved.buffer().clone(), DocumentSource::Unsaved(unsaved.id)),
            None => {
                let file = self.read(path).await?;
                (Buffer::new(&file.text), DocumentSource::disk(file.stamp))
            }
        };
        let uri = uri::from_path(&self.workspace.absolute(path));
        Ok(first_version(path.clone(), uri, JUPYTER, buffer, source))
    }

    /// Opens a notebook (`notebookDocument/didOpen`). `before` notebooks were opened earlier; no
    /// two have the same cell URIs, so findings of one are never taken for another's.
    pub(crate) fn open_notebook(
        &self,
        notebook: &Snapshot,
        code: &NotebookCode,
        language: &str,
        before: u64,
    ) -> OpenNotebook<'_> {
        let path = self.workspace.absolute(&notebook.path);
        let language_id = self.catalogue.language_id(language, None);
        let rule = self.state.spec.diagnostics.notebooks;
        let mut open = OpenNotebook { session: self, uri: notebook.uri.clone(), cells: Vec::new() };
        for cell in &code.cells {
            let uri = uri::of_cell(&path, &format!("{before}.{}", cell.number));
            let key = uri::cell_path(&self.workspace, uri.as_str()).unwrap_or_else(|| notebook.path.clone());
            let text = match rule {
                NotebookRule::WithoutCommands => Buffer::new(&cell.without_commands()),
                _ => cell.buffer.clone(),
            };
            self.state.expect_pushes(&key);
            open.cells.push(first_version(key, uri, language_id, text, DocumentSource::Cell));
        }
        let documents: Vec<TextDocumentItem> = open.cells.iter().map(text_document).collect();
        let cells = open.cells.iter().map(|cell| json!({ "kind": CODE_CELL, "document": cell.uri }));
        let notebook = json!({
            "uri": notebook.uri,
            "notebookType": JUPYTER,
            "version": notebook.version,
            "cells": cells.collect::<Value>(),
        });
        let params = json!({ "notebookDocument": notebook, "cellTextDocuments": documents });
        self.connection.notify("notebookDocument/didOpen", &params);
        if rule == NotebookRule::OpenedCells {
            for text_document in documents {
                let params = DidOpenTextDocumentParams { text_document };
                notify_server::<DidOpenTextDocument>(&self.connection, &params);
            }
        }
        self.state.with_readiness(|readiness| readiness.on_document_opened());
        open
    }
}

impl Drop for OpenNotebook<'_> {
    fn drop(&mut self) {
        let session = self.session;
        let documents: Vec<TextDocumentIdentifier> = self.cells.iter().map(Snapshot::identifier).collect();
        let params = json!({ "notebookDocument": { "uri": self.uri }, "cellTextDocuments": documents });
        if session.state.spec.diagnostics.notebooks == NotebookRule::OpenedCells {
            for text_document in documents {
                let params = DidCloseTextDocumentParams { text_document };
                notify_server::<DidCloseTextDocument>(&session.connection, &params);
            }
        }
        session.connection.notify("notebookDocument/didClose", &params);
        self.cells.iter().for_each(|cell| session.state.forget_cell(&cell.path));
    }
}

/// LSP 3.17 *TextDocumentItem*.
fn text_document(cell: &Snapshot) -> TextDocumentItem {
    let text = cell.buffer.to_string();
    TextDocumentItem::new(cell.uri.clone(), cell.language_id.clone(), cell.version, text)
}

/// A document of which no other version was sent.
fn first_version(
    path: WorkspacePath,
    uri: Url,
    language_id: &str,
    buffer: Buffer,
    source: DocumentSource,
) -> Snapshot {
    Snapshot {
        path,
        uri,
        language_id: language_id.to_owned(),
        buffer,
        version: 1,
        source,
        pushes_before: 0,
        owed: false,
        idle_before: 0,
        worked_before: 0,
        forced: false,
    }
}
