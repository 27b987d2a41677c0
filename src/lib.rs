//! lsp-tools: real language servers on demand.
pub mod cli;
pub mod config;
pub mod lsp;
pub mod runtime;
pub mod text;
pub mod tools;
pub mod workspace;
