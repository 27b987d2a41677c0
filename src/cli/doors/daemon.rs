//! `lsp-tools daemon`.
