//! lsp documents TODO.

pub(crate) mod document_sync;
pub(crate) mod edits;
pub(crate) mod open_documents;
pub(crate) mod open_notebook;
pub(crate) mod snippet;
pub(crate) mod unseen_changes;
pub(crate) mod view;
pub(crate) mod view_switch;
