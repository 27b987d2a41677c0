//! The values of `--format`.

use clap::ValueEnum;

use crate::tools::api::export::ToolListFormat as List;

/// The output formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum CliOutputFormat {
    /// For people; plain lines if stdout is not a terminal
    #[default]
    Text,
    /// The tool's answer as one JSON object
    Json,
    /// SARIF 2.1.0
    Sarif,
    /// GitHub Actions annotations
    Github,
    /// A GitLab code quality report
    Gitlab,
    /// JUnit XML, with a test case per file
    Junit,
    /// A tool list for MCP
    Mcp,
    /// A tool list for OpenAI
    #[value(name = "openai")]
    OpenAi,
    /// A tool list for Anthropic
    Anthropic,
    /// A tool list for Gemini
    Gemini,
    /// A tool list for the Copilot language server
    Copilot,
}

impl CliOutputFormat {
    /// Returns true if only `check` supports the format.
    pub(crate) fn is_for_findings(self) -> bool {
        matches!(self, Self::Sarif | Self::Github | Self::Gitlab | Self::Junit)
    }

    /// Returns the corresponding format of tool lists, if any.
    pub(crate) fn tool_list(self) -> Option<List> {
        match self {
            Self::Text | Self::Json => None,
            Self::Sarif | Self::Github | Self::Gitlab | Self::Junit => None,
            Self::Mcp => Some(List::Mcp),
            Self::OpenAi => Some(List::OpenAi),
            Self::Anthropic => Some(List::Anthropic),
            Self::Gemini => Some(List::Gemini),
            Self::Copilot => Some(List::Copilot),
        }
    }
}
