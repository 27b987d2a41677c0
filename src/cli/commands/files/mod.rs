//! Commands that read, search and edit files.

pub(crate) mod edit_reply;
pub(crate) mod edits;
pub(crate) mod file_commands;
pub(crate) mod grep;
pub(crate) mod rewrites;
