//! Tools that change files, all by [`editing`].
//!
//! `lsp_rename`, `lsp_code_actions`, `lsp_format` and `move_symbol` apply proposals of servers.
//! [`made_edit`] judges edits of other programs.

pub(crate) mod contents;
pub(crate) mod delete;
pub(crate) mod edit_file;
pub(crate) mod edit_symbol;
pub(crate) mod editing;
pub(crate) mod fix;
pub(crate) mod located_symbol;
pub(crate) mod lsp_code_actions;
pub(crate) mod lsp_format;
pub(crate) mod lsp_rename;
pub(crate) mod made_edit;
pub(crate) mod mkdir;
pub(crate) mod move_file;
pub(crate) mod move_symbol;
pub(crate) mod multi_replace;
pub(crate) mod patch;
pub(crate) mod proposals;
pub(crate) mod undo;
pub(crate) mod write;
