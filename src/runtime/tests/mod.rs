//! Tests of a runtime as an embedder opens it, in temporary folders, with added tools.

mod chat_tool;
pub(crate) mod stage;
