//! An LSP server for editors.
