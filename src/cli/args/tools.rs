//! Arguments of `lsp-tools tools`.

use clap::{Args, Subcommand, ValueEnum};

use crate::config::Profile;

/// `tools`
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum ToolsCommand {
    /// The tools that agents are told of, and manifests that cannot be used
    #[command(after_help = "Example: lsp-tools tools list --profile all")]
    List(ToolProfileArgs),
    /// What one tool does and takes
    #[command(after_help = "Examples:\n  lsp-tools tools show lsp_hover\n  \
                            lsp-tools tools show lsp_hover --format anthropic")]
    Show(ToolsShowArgs),
    /// Call a tool as an agent would; typing it is agreeing to it
    #[command(after_help = "Examples:\n  lsp-tools tools call lsp_servers\n  \
                            lsp-tools tools call lsp_hover '{\"path\": \"src/app.py\", \"symbol\": \"greet\"}'\n  \
                            echo '{\"path\": \"src\"}' | lsp-tools tools call list -\n\n\
                            Exit status: 0 done, 2 wrong usage, 3 answered without the server, 4 failed, 5 denied.")]
    Call(ToolsCallArgs),
    /// The tool list as JSON, in the format that --format names [default: mcp]
    #[command(after_help = "Example: lsp-tools tools schema --format openai --profile edit > tools.json")]
    Schema(ToolProfileArgs),
}

/// Which tools.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct ToolProfileArgs {
    /// A choice of tools [default: that of the settings, else core]
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
    /// Its arguments, a JSON object; `-` reads them from stdin
    #[arg(value_name = "JSON")]
    pub(crate) arguments: Option<String>,
}

/// A profile, as it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProfileName {
    /// What agents need from day to day
    Core,
    /// The language tools
    Lsp,
    /// What only reads the workspace
    ReadOnly,
    /// What reads and changes the workspace
    Edit,
    /// Everything
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
