//! lsp servers TODO.

pub(crate) mod health;
pub(crate) mod install;
pub(crate) mod install_advice;
pub(crate) mod interpreters;
pub(crate) mod judge;
pub(crate) mod locate;
pub(crate) mod machine;
pub(crate) mod manager;
pub(crate) mod node_guard;
pub(crate) mod package_folders;
pub(crate) mod project;
pub(crate) mod python;
pub(crate) mod server_choice;
