//! The words of the doors for programs: `mcp`, `lsp`, `daemon`, `init`.

use std::path::PathBuf;

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
    /// Listen for HTTP at ADDR:PORT instead of stdin and stdout; plain HTTP, so leave TLS to a proxy
    #[arg(long, value_name = "ADDR:PORT")]
    pub http: Option<String>,
    /// Take the token that HTTP clients must send from FILE, which only you can read [default: a new one at each start]
    #[arg(long, value_name = "FILE", env = "LSP_TOOLS_MCP_TOKEN_FILE", requires = "http")]
    pub token_file: Option<PathBuf>,
    /// Listen on an address that other machines can reach
    #[arg(long, requires = "http")]
    pub allow_remote: bool,
    /// Serve requests that were sent to NAME, as by a proxy; may be given several times
    #[arg(long, value_name = "NAME", requires = "http")]
    pub allow_host: Vec<String>,
    /// Let everybody in, for the conformance suite
    #[cfg(feature = "conformance")]
    #[arg(long, requires = "http")]
    pub no_token: bool,
    /// A choice of tools [default: that of the settings, else core]
    #[arg(long, value_enum, value_name = "PROFILE")]
    pub profile: Option<ProfileName>,
}

/// `mcp list|show|call|doctor`: MCP servers mounted in ours
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum Mounted {
    /// The servers that the settings mount, and their state
    List,
}

/// `lsp`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Lsp {}

/// `daemon`
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum Daemon {
    /// Start it; commands do so by themselves
    Start,
    /// End it, with all its servers and commands, when the calls that run are done
    Stop(AllDaemons),
    /// What runs: clients, servers, memory, latencies
    Status(AllDaemons),
    /// What it has logged
    Logs(Logs),
    /// Be the daemon, in the foreground
    #[command(hide = true)]
    Run,
}

/// `daemon status`, `daemon stop`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
pub struct AllDaemons {
    /// Every daemon of yours, whatever its workspace
    #[arg(long)]
    pub all: bool,
}

/// `daemon logs`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Logs {
    /// Go on with what is logged from now on
    #[arg(long, short)]
    pub follow: bool,
    /// So many of the last lines
    #[arg(long, short = 'n', value_name = "N", default_value_t = 200)]
    pub lines: usize,
}

/// `init`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Init {
    /// The agent or editor
    pub host: String,
}
