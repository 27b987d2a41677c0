//! LSP 3.17 *Rename Request*, *Prepare Rename Request*.

use lsp_types::request::{PrepareRenameRequest, Rename, Request};
use lsp_types::{RenameParams, WorkDoneProgressParams};
use serde_json::Value;
use tokio::time::Instant;

use super::{Proposal, ProposalError};
use crate::lsp::documents::open_documents::Snapshot;
use crate::lsp::session::ask::{AskError, SessionAnswer};
use crate::lsp::session::live_session::Session;
use crate::lsp::session::request::{DependencyScope, DocumentRequest, PlaceInText, text_document_position};
use crate::rpc::RequestError;
use crate::workspace::WorkspacePath;

/// The request's method.
pub(crate) const RENAME: &str = Rename::METHOD;

impl Session {
    /// Returns the changes in the whole project that renaming the symbol at `place` to `name`
    /// needs.
    pub(crate) async fn rename(
        &self,
        path: &WorkspacePath,
        place: &(impl PlaceInText + ?Sized),
        name: &str,
        deadline: Instant,
    ) -> Result<Proposal, ProposalError> {
        if self.capabilities.prepares_rename() {
            let params = |snapshot: &Snapshot, encoding| text_document_position(snapshot, place, encoding);
            let request = DocumentRequest::new::<PrepareRenameRequest>(DependencyScope::File, params);
            let answer = self.ask(path, &request, deadline).await;
            if self.value_or_refusal(answer)?.is_null() {
                return Err(self.refused_error("nothing at this position can be renamed"));
            }
        }
        let params = |snapshot: &Snapshot, encoding| {
            Some(RenameParams {
                text_document_position: text_document_position(snapshot, place, encoding)?,
                new_name: name.to_owned(),
                work_done_progress_params: WorkDoneProgressParams::default(),
            })
        };
        let request = DocumentRequest::new::<Rename>(DependencyScope::Project, params);
        let answer = self.ask(path, &request, deadline).await;
        let answer = answer.map_err(|error| self.refusal_error(error))?;
        if let Some(work) = answer.unfinished_work {
            return Err(ProposalError::Busy { server: self.server().to_owned(), work });
        }
        if answer.value.is_null() {
            return Err(self.refused_error("nothing at this position can be renamed"));
        }
        let mut proposal = self.proposal_from_edit(&answer.value).await?;
        // rust-analyzer omits the text edits here and returns them for `workspace/willRenameFiles`.
        let moves: Vec<_> =
            proposal.moves().into_iter().filter(|(from, _)| self.wants_will_rename(from)).collect();
        if !moves.is_empty() {
            let of_moves = self.will_rename(&moves, deadline).await?;
            proposal.extend_with_missing(of_moves);
        }
        Ok(proposal)
    }

    fn value_or_refusal(
        &self,
        answer: Result<SessionAnswer<Value>, AskError>,
    ) -> Result<Value, ProposalError> {
        answer.map(|answer| answer.value).map_err(|error| self.refusal_error(error))
    }

    /// Converts an error response to the server's refusal, which is meant for the user.
    pub(super) fn refusal_error(&self, error: AskError) -> ProposalError {
        match error {
            AskError::Request(RequestError::Refused { message, .. }) => self.refused_error(&message),
            other => ProposalError::Ask(other),
        }
    }

    pub(super) fn refused_error(&self, message: &str) -> ProposalError {
        ProposalError::Refused { server: self.server().to_owned(), message: message.to_owned() }
    }
}
