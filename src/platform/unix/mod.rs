//! The parts of `platform/` that Unix systems share and that are longer than a function.

pub(crate) mod jail;
pub(crate) mod namespace;
pub(crate) mod private;
pub(crate) mod process_tree;
pub(crate) mod processes;
pub(crate) mod stdio;
pub(crate) mod xattr;
