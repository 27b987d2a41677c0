//! A runtime as an embedder opens it, in folders of its own; tools that are added to it.

mod chat_tool;
pub(crate) mod stage;
