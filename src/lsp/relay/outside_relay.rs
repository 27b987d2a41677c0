//! The relay of questions about documents outside the workspace: the source of a library that a
//! definition led to, or unsaved documents.
//!
//! They are not read from disk: their text is the editor's own. A question about one locks the
//! document, and first sends the caller's text to the server.

use serde_json::{Value, json};
use tokio::time::Instant;

use super::conventions::EditorConventions;
use super::convert::{Converter, RelayDirection};
use super::outside_documents::{OpenOutsideDocuments, OutsideDocument};
use crate::lsp::session::ask::AskError;
use crate::lsp::session::live_session::Session;
use crate::lsp::session::request::WorkspaceRequest;

impl Session {
    /// Sends `method` about `stranger` with an editor's `params`; `None` if the server does not
    /// offer it at all.
    pub(crate) async fn relay_outside_document(
        &self,
        conventions: &EditorConventions,
        stranger: &OutsideDocument,
        method: &str,
        params: &Value,
        deadline: Instant,
    ) -> Result<Option<Value>, AskError> {
        if !self.offers_anywhere(method) {
            return Ok(None);
        }
        let mut open = self.outside.lock().await;
        self.send_outside_document(&mut open, stranger);
        let mut params = params.clone();
        Converter::for_outside_document(self, conventions, stranger, RelayDirection::ToServer)
            .convert(&mut params);
        let (mut value, _) = self.ask_workspace(WorkspaceRequest { method, params }, deadline).await?;
        Converter::for_outside_document(self, conventions, stranger, RelayDirection::ToEditor)
            .convert(&mut value);
        Ok(Some(value))
    }

    /// Closes the document, because the editor has closed it.
    pub(crate) async fn close_outside_document(&self, uri: &str) {
        if self.outside.lock().await.0.remove(uri).is_some() {
            self.connection.notify("textDocument/didClose", &json!({ "textDocument": { "uri": uri } }));
        }
    }

    /// Sends the server the editor's text.
    fn send_outside_document(&self, open: &mut OpenOutsideDocuments, stranger: &OutsideDocument) {
        let OutsideDocument { uri, language_id, text, .. } = stranger;
        match open.0.get_mut(uri) {
            Some((_, known)) if known == text => {}
            Some((version, known)) => {
                *version += 1;
                *known = text.clone();
                let document = json!({ "uri": uri, "version": version });
                let changes = json!([{ "text": text.to_string() }]);
                let params = json!({ "textDocument": document, "contentChanges": changes });
                self.connection.notify("textDocument/didChange", &params);
            }
            None => {
                let document = json!({
                    "uri": uri, "languageId": language_id, "version": 1, "text": text.to_string(),
                });
                self.connection.notify("textDocument/didOpen", &json!({ "textDocument": document }));
                open.0.insert(uri.clone(), (1, text.clone()));
            }
        }
    }
}
