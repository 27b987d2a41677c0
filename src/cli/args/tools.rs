//! Arguments of `lsp-tools tools`.

use clap::{Args, Subcommand, ValueEnum};

use crate::config::Profile;

/// `tools`
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum ToolsCommand {
    /// List the tools that agents see, and manifests that cannot be used
    #[command(after_help = "Example: lsp-tools tools list --profile all")]
    List(ToolProfileArgs),
    /// Show a tool's description and arguments
    #[command(after_help = "Examples:\n  lsp-tools tools show lsp_hover\n  \
                            lsp-tools tools show lsp_hover --format anthropic")]
    Show(ToolsShowArgs),
    /// Call a tool as an agent would; typing the command approves the call
    #[command(after_help = "Examples:\n  lsp-tools tools call lsp_servers\n  \
                            lsp-tools tools call lsp_hover '{\"path\": \"src/app.py\", \"symbol\": \"greet\"}'\n  \
                            echo '{\"path\": \"src\"}' | lsp-tools tools call list -\n\n\
                            Exit status: 0 done, 2 wrong usage, 3 answered without the server, 4 failed, 5 denied.")]
    Call(ToolsCallArgs),
    /// Print the tool list as JSON, in the format of --format [default: mcp]
    #[command(after_help = "Example: lsp-tools tools schema --format openai --profile edit > tools.json")]
    Schema(ToolProfileArgs),
}

/// The choice of tools.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct ToolProfileArgs {
    /// The tool profile [default: the one in the settings, else core]
    #[arg(long, value_enum, value_name = "PROFILE")]
    pub(crate) profile: Option<ProfileName>,
}

/// `tools show`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct ToolsShowArgs {
    /// The tool
    pub(crate) name: String,
}

/// `tools call`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct ToolsCallArgs {
    /// The tool
    pub(crate) name: String,
    /// The arguments, a JSON object; `-` reads them from stdin
    #[arg(value_name = "JSON")]
    pub(crate) arguments: Option<String>,
}

/// The name of a profile on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProfileName {
    /// The tools for daily work of agents
    Core,
    /// The language tools
    Lsp,
    /// Tools that only read the workspace
    ReadOnly,
    /// Tools that read and change the workspace
    Edit,
    /// All tools
    All,
}

impl From<ProfileName> for Profile {
    fn from(name: ProfileName) -> Self {
        match name {
            ProfileName::Core => Self::Core,
            ProfileName::Lsp => Self::Lsp,
            ProfileName::ReadOnly => Self::ReadOnly,
            ProfileName::Edit => Self::Edit,
            ProfileName::All => Self::All,
        }
    }
}
