//! Tools that ask language servers, and those that administer servers.
//!
//! The files `lsp_*` and [`explore`] are tools: each takes a deadline of its kind from the settings
//! and passes a question to `analysis`. [`doctor`], [`install`], [`install_list`], [`servers`] and
//! [`trust`] are reports and actions for the command line and `lsp_servers`.

pub(crate) mod doctor;
pub(crate) mod explore;
pub(crate) mod install;
pub(crate) mod install_list;
pub(crate) mod lsp_completion;
pub(crate) mod lsp_definition;
pub(crate) mod lsp_diagnostics;
pub(crate) mod lsp_hierarchy;
pub(crate) mod lsp_hover;
pub(crate) mod lsp_navigate;
pub(crate) mod lsp_overlay;
pub(crate) mod lsp_servers;
pub(crate) mod lsp_signature;
pub(crate) mod lsp_symbols;
pub(crate) mod scip_index;
pub(crate) mod servers;
pub(crate) mod trust;
