//! Edits that servers propose: renames, code actions, formatting, import updates. Nothing is
//! written here: a proposal is the whole old and new text of each file, computed for the text that
//! is on disk now. The caller writes it.
//!
//! [`proposal`] reads LSP 3.17 *WorkspaceEdit* and *TextEdit*; the other files each request one
//! kind of edit.

mod actions;
mod files;
mod format;
mod move_symbol;
mod proposal;
mod rename;
mod text_edits;

pub(crate) use actions::{CODE_ACTION, OfferedAction};
pub(crate) use files::WILL_RENAME_FILES;
pub(crate) use format::{FORMAT, FORMAT_RANGE};
pub(crate) use proposal::{Proposal, ProposedFile, ProposedFolderChange};
pub(crate) use rename::RENAME;

use crate::lsp::session::ask::AskError;
use crate::lsp::session::readiness;
use crate::rpc::RequestError;
use crate::workspace::ReadError;

/// The reasons why there is no usable proposal.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProposalError {
    /// The server did not answer.
    #[error(transparent)]
    Ask(#[from] AskError),
    /// The server refuses, with its message.
    #[error("{server} refused: {message}")]
    Refused {
        /// The server's key.
        server: String,
        /// Its message.
        message: String,
    },
    /// The server was still reading the project: its edit would have missed places.
    #[error("{}: an edit now would miss places; try again when it has finished", work.sentence(server))]
    Busy {
        /// The server's key.
        server: String,
        /// The unfinished work of the server.
        work: readiness::UnfinishedWork,
    },
    /// The edit was computed for another text than the present one.
    #[error("{path} changed while {server} computed the edit; nothing was changed, try again")]
    Stale {
        /// The server's key.
        server: String,
        /// The file.
        path: String,
    },
    /// The edit leads out of the workspace.
    #[error("{server} tried to change {place}, outside the workspace; nothing was changed")]
    Outside {
        /// The server's key.
        server: String,
        /// The path or URI.
        place: String,
    },
    /// The edit contradicts itself or cannot be parsed.
    #[error("{server} sent an invalid edit ({what}); nothing was changed")]
    Unusable {
        /// The server's key.
        server: String,
        /// A description of the fault.
        what: String,
    },
    /// A file that it concerns cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl From<RequestError> for ProposalError {
    fn from(error: RequestError) -> Self {
        Self::Ask(AskError::Request(error))
    }
}
