//! The words of `lsp-tools copilot`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueHint};

use super::tools::ProfileName;

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
#[command(after_help = "Examples:\n  lsp-tools copilot host 'Why does the build fail?'\n  \
                        lsp-tools copilot host --profile read-only < question.txt\n\n\
                        The model is that of the account which the command line is signed in with (copilot login), or of the \
                        provider that COPILOT_PROVIDER_BASE_URL and COPILOT_MODEL name; with COPILOT_OFFLINE=true nothing else is \
                        spoken to. --format json prints every event of the session, one a line.")]
pub struct CopilotHost {
    /// What is asked of the model; by default what is piped in
    #[arg(value_name = "PROMPT")]
    pub prompt: Vec<String>,
    /// The model
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Which of our tools are offered [default: what the settings say]
    #[arg(long, value_enum, value_name = "PROFILE")]
    pub profile: Option<ProfileName>,
    /// Only these tools, of ours and of the command line's own
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub available: Vec<String>,
    /// None of these tools; goes after --available
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub excluded: Vec<String>,
    /// The agent of the settings as which the session begins
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// MCP servers for the session: a file with `mcpServers`, in the command line's own form
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub mcp_config: Option<PathBuf>,
    /// The command line's program [default: `copilot` on PATH, else in the private prefix]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::ExecutablePath)]
    pub cli: Option<PathBuf>,
    /// Have the model answer whole instead of word by word
    #[arg(long)]
    pub no_stream: bool,
    /// How long the whole may take: seconds (600) or milliseconds (500ms)
    #[arg(long, value_name = "SECONDS", default_value = "1800", value_parser = super::parse_duration)]
    pub limit: Duration,
}
