//! The client of the Copilot language server.
