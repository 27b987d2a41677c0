//! LSP 3.17 *Rename Request*, *Prepare Rename Request*.

use async_lsp::lsp_types::request::{PrepareRenameRequest, Rename, Request};
use async_lsp::lsp_types::{RenameParams, WorkDoneProgressParams};
use serde_json::Value;
use tokio::time::Instant;

use super::{EditError, Proposal};
use crate::lsp::ask::{DocumentRequest, at};
use crate::lsp::documents::Snapshot;
use crate::lsp::session::{AskError, Scope, Session};
use crate::rpc::RequestError;
use crate::text::Position;
use crate::workspace::WorkspacePath;

/// The request's method.
pub(crate) const RENAME: &str = Rename::METHOD;

impl Session {
    /// What renaming the symbol at `position` to `name` would change in the whole project.
    pub(crate) async fn rename(
        &self,
        path: &WorkspacePath,
        position: Position,
        name: &str,
        deadline: Instant,
    ) -> Result<Proposal, EditError> {
        if self.capabilities.prepares_rename() {
            let params = |snapshot: &Snapshot, encoding| at(snapshot, position, encoding);
            let request = DocumentRequest::of::<PrepareRenameRequest>(Scope::File, params);
            let asked = self.ask(path, &request, deadline).await;
            if self.willing(asked)?.is_null() {
                return Err(self.refused("there is nothing at this place that can be renamed"));
            }
        }
        let params = |snapshot: &Snapshot, encoding| RenameParams {
            text_document_position: at(snapshot, position, encoding),
            new_name: name.to_owned(),
            work_done_progress_params: WorkDoneProgressParams::default(),
        };
        let request = DocumentRequest::of::<Rename>(Scope::Project, params);
        let asked = self.ask(path, &request, deadline).await;
        let asked = asked.map_err(|error| self.unwilling(error))?;
        if let Some(work) = asked.working {
            return Err(EditError::Busy { server: self.server().to_owned(), work });
        }
        if asked.value.is_null() {
            return Err(self.refused("there is nothing at this place that can be renamed"));
        }
        self.proposal(&asked.value).await
    }

    fn willing(
        &self,
        asked: Result<crate::lsp::session::Asked<Value>, AskError>,
    ) -> Result<Value, EditError> {
        asked.map(|asked| asked.value).map_err(|error| self.unwilling(error))
    }

    /// An error answer to such a question is the server's reason, meant to be shown.
    pub(super) fn unwilling(&self, error: AskError) -> EditError {
        match error {
            AskError::Request(RequestError::Refused { message, .. }) => self.refused(&message),
            other => EditError::Ask(other),
        }
    }

    pub(super) fn refused(&self, message: &str) -> EditError {
        EditError::Refused { server: self.server().to_owned(), message: message.to_owned() }
    }
}
