//! Tools that compare trees of git.

pub(crate) mod changed_files;
pub(crate) mod lsp_changes;
pub(crate) mod lsp_tests;
