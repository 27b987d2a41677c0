//! The parts of `platform/` that are longer on Windows than a function.

mod attributes;
mod errno;
pub(crate) mod files;
pub(crate) mod jail;
pub(crate) mod names;
pub(crate) mod private;
pub(crate) mod process_tree;
pub(crate) mod stdio;
pub(crate) mod text;
pub(crate) mod xattr;
