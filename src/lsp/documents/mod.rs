//! The documents of a session, equal to the disk or to a caller's unsaved texts, and proposed
//! edits.
//!
//! [`open_documents`] keeps the texts that a server has; [`document_sync`] compares a file with the
//! disk and sends the smallest change. A [`view`] lays unsaved texts over the disk, and
//! [`view_switch`] shows it to the server for a question. [`unseen_changes`] counts changes that
//! the server has not examined, [`open_notebook`] opens notebooks, [`edits`] reads proposed edits,
//! and [`snippet`] their placeholders.

pub(crate) mod document_sync;
pub(crate) mod edits;
pub(crate) mod open_documents;
pub(crate) mod open_notebook;
pub(crate) mod snippet;
pub(crate) mod unseen_changes;
pub(crate) mod view;
pub(crate) mod view_switch;
