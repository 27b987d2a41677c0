//! Tools that compare trees of git.
//!
//! [`changed_files`] lists the files that differ from the last commit; [`lsp_changes`] finds the
//! new errors of a difference, and [`lsp_tests`] the tests that reach it. [`turn_check`] judges the
//! edits of an agent's turn.

pub(crate) mod changed_files;
pub(crate) mod lsp_changes;
pub(crate) mod lsp_tests;
pub(crate) mod turn_check;
