//! The words of the doors for programs: `mcp`, `lsp`, `daemon`, `init`.

use clap::{Args, Subcommand};

use super::tools::ProfileName;

/// `mcp`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Mcp {
    /// Look at mounted servers instead of serving
    #[command(subcommand)]
    pub mounted: Option<Mounted>,
    /// How it is served.
    #[command(flatten)]
    pub serve: McpServe,
}

/// `mcp` as a server
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct McpServe {
    /// Listen for HTTP at ADDR:PORT instead of stdin and stdout
    #[arg(long, value_name = "ADDR:PORT")]
    pub http: Option<String>,
    /// A choice of tools [default: that of the settings, else core]
    #[arg(long, value_enum, value_name = "PROFILE")]
    pub profile: Option<ProfileName>,
}

/// `mcp list|show|call|doctor`: MCP servers mounted in ours
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum Mounted {
    /// The servers that the settings mount, and their state
    #[command(after_help = "Exit status: 0 there are some, 1 there is none.")]
    List,
    /// One server: its tools, and what is held back because it differs from what was agreed to
    #[command(after_help = "Example: lsp-tools mcp show files")]
    Show {
        /// The server
        name: String,
    },
    /// Call a tool of a mounted server
    #[command(after_help = "Example: lsp-tools mcp call files/read_text_file '{\"path\": \"README.md\"}'")]
    Call(MountedCall),
    /// Agree to the definitions of a server that are held back
    #[command(after_help = "Example: lsp-tools mcp approve files")]
    Approve {
        /// The server
        name: String,
    },
    /// Try what could keep mounted tools from being called
    #[command(after_help = "Example: lsp-tools mcp doctor files\n\nExit status: 0 only when all is well.")]
    Doctor {
        /// The server [default: all]
        name: Option<String>,
    },
}

/// `mcp call`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct MountedCall {
    /// SERVER/TOOL
    #[arg(value_name = "SERVER/TOOL")]
    pub name: String,
    /// Its arguments, a JSON object; `-` reads them from stdin
    #[arg(value_name = "JSON")]
    pub arguments: Option<String>,
}

/// `lsp`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Lsp {}

/// `daemon`
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum Daemon {
    /// What runs: clients, servers, memory, latencies
    Status,
}

/// `init`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Init {
    /// The agent or editor
    pub host: String,
}
