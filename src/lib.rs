//! lsp-tools: real language servers on demand.
pub mod config;
pub mod hints;
pub mod lsp;
pub mod text;
pub mod tools;
pub mod workspace;
