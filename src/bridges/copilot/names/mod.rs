//! The names that the tools of the Copilot language server bear, as thin forms of the tools that exist.
