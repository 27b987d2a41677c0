//! LSP 3.17 *WillRenameFiles Request*, *DidRenameFiles Notification*: updates of imports when a
//! file moves.

use lsp_types::notification::{DidRenameFiles, Notification};
use lsp_types::request::{Request, WillRenameFiles};
use lsp_types::{FileRename, RenameFilesParams};
use tokio::time::Instant;

use super::{Proposal, ProposalError};
use crate::lsp::session::ask::AskError;
use crate::lsp::session::live_session::Session;
use crate::lsp::session::request::WorkspaceRequest;
use crate::lsp::uri;
use crate::workspace::WorkspacePath;

/// The method that requests updates of imports.
pub(crate) const WILL_RENAME_FILES: &str = WillRenameFiles::METHOD;

impl Session {
    /// Returns true if the server wants a request before `path` is moved.
    pub(crate) fn wants_will_rename(&self, path: &WorkspacePath) -> bool {
        self.capabilities.covers_file_operation("willRename", &self.workspace.absolute(path))
    }

    /// Returns the changes in other files that moving files (old and new name) needs. The request
    /// comes before the move.
    pub(crate) async fn will_rename(
        &self,
        moves: &[(WorkspacePath, WorkspacePath)],
        deadline: Instant,
    ) -> Result<Proposal, ProposalError> {
        let (edit, working) = self
            .ask_workspace(WorkspaceRequest::new::<WillRenameFiles>(self.rename_params(moves)), deadline)
            .await
            .map_err(|error: AskError| self.refusal_error(error))?;
        if let Some(work) = working {
            return Err(ProposalError::Busy { server: self.server().to_owned(), work });
        }
        self.proposal_from_edit(&edit).await
    }

    /// Notifies the server that files were moved.
    pub(crate) fn did_rename(&self, moves: &[(WorkspacePath, WorkspacePath)]) {
        let any = |(from, _): &(WorkspacePath, WorkspacePath)| {
            self.capabilities.covers_file_operation("didRename", &self.workspace.absolute(from))
        };
        if moves.iter().any(any) {
            self.connection.notify(DidRenameFiles::METHOD, &self.rename_params(moves));
        }
    }

    /// LSP 3.17 *RenameFilesParams*.
    fn rename_params(&self, moves: &[(WorkspacePath, WorkspacePath)]) -> RenameFilesParams {
        let uri = |path: &WorkspacePath| uri::from_path(&self.workspace.absolute(path)).to_string();
        let renamed =
            |(from, to): &(WorkspacePath, WorkspacePath)| FileRename { old_uri: uri(from), new_uri: uri(to) };
        RenameFilesParams { files: moves.iter().map(renamed).collect() }
    }
}
