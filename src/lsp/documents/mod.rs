//! The documents of a session, equal to the disk or to a caller's unsaved texts, and proposed edits.

pub(crate) mod document_sync;
pub(crate) mod edits;
pub(crate) mod open_documents;
pub(crate) mod open_notebook;
pub(crate) mod snippet;
pub(crate) mod unseen_changes;
pub(crate) mod view;
pub(crate) mod view_switch;
