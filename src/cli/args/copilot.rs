//! The words of `lsp-tools copilot`.

use clap::{Args, Subcommand};

/// `copilot`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Copilot {
    /// What is to be done with it.
    #[command(subcommand)]
    pub command: CopilotCommand,
}

/// `copilot …`
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum CopilotCommand {
    /// Whether the language server runs, whether you are signed in, and how to
    Status(CopilotStatus),
    /// Drive the Copilot command line with our tools
    Host(CopilotHost),
}

/// `copilot status`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct CopilotStatus {}

/// `copilot host`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct CopilotHost {}
