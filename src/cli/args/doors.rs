//! Arguments of the doors for programs: `mcp`, `lsp`, `daemon`, `init`, `hook`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use super::tools::ProfileName;
use crate::bridges::host_hook::{HookHost, HookOccasion};
use crate::bridges::init::{HostScope, McpHost};

/// `mcp`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct McpCommandArgs {
    /// Look at mounted servers instead of serving
    #[command(subcommand)]
    pub(crate) mounted: Option<MountedServersCommand>,
    /// How it is served.
    #[command(flatten)]
    pub(crate) serve: McpServe,
}

/// `mcp` as a server
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct McpServe {
    /// Listen for HTTP at ADDR:PORT instead of stdin and stdout; plain HTTP, so leave TLS to a proxy
    #[arg(long, value_name = "ADDR:PORT")]
    pub(crate) http: Option<String>,
    /// Take the token that HTTP clients must send from FILE, which only you can read [default: a new one at each start]
    #[arg(long, value_name = "FILE", env = "LSP_TOOLS_MCP_TOKEN_FILE", requires = "http")]
    pub(crate) token_file: Option<PathBuf>,
    /// Listen on an address that other machines can reach
    #[arg(long, requires = "http")]
    pub(crate) allow_remote: bool,
    /// Serve requests that were sent to NAME, as by a proxy; may be given several times
    #[arg(long, value_name = "NAME", requires = "http")]
    pub(crate) allow_host: Vec<String>,
    /// Let in clients of this machine whose process cannot be seen, as behind `ssh -L`; commands of `bash` can hide among them
    #[arg(long, requires = "http")]
    pub(crate) allow_unseen: bool,
    /// A choice of tools [default: that of the settings, else core]
    #[arg(long, value_enum, value_name = "PROFILE")]
    pub(crate) profile: Option<ProfileName>,
    /// Answer with text alone, for hosts that show their models the structured form as well, or nothing else
    #[arg(long)]
    pub(crate) text_answers: bool,
    /// List the schemas of answers too, for clients that check answers or make types of them; the list is twice as long
    #[arg(long, conflicts_with = "text_answers")]
    pub(crate) output_schemas: bool,
}

/// `mcp list|show|call|doctor`: MCP servers mounted in ours
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum MountedServersCommand {
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
pub(crate) struct MountedCall {
    /// SERVER/TOOL
    #[arg(value_name = "SERVER/TOOL")]
    pub(crate) name: String,
    /// Its arguments, a JSON object; `-` reads them from stdin
    #[arg(value_name = "JSON")]
    pub(crate) arguments: Option<String>,
}

/// `lsp`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct LspCommandArgs {}

/// `view`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
pub(crate) struct ViewCommandArgs {
    /// Close the page
    #[arg(long)]
    pub(crate) stop: bool,
    /// Let in browsers whose process cannot be seen, as behind `ssh -L`; commands of `bash` can hide among them
    #[arg(long, conflicts_with = "stop")]
    pub(crate) allow_unseen: bool,
}

/// `daemon`
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum DaemonCommand {
    /// Start it; commands do so by themselves
    Start,
    /// End it, with all its servers and commands, when the calls that run are done
    Stop(AllDaemons),
    /// What runs: clients, servers, memory, latencies
    Status(AllDaemons),
    /// What it has logged
    Logs(DaemonLogsArgs),
    /// Be the daemon, in the foreground
    #[command(hide = true)]
    Run,
}

/// `daemon status`, `daemon stop`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
pub(crate) struct AllDaemons {
    /// Every daemon of yours, whatever its workspace
    #[arg(long)]
    pub(crate) all: bool,
}

/// `daemon logs`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct DaemonLogsArgs {
    /// Go on with what is logged from now on
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// So many of the last lines
    #[arg(long, short = 'n', value_name = "N", default_value_t = 200)]
    pub(crate) lines: usize,
}

/// `hook`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
pub(crate) struct HookCommandArgs {
    /// The host that asks
    #[arg(value_enum)]
    pub(crate) host: HookHostName,
    /// What its model did
    #[arg(value_enum)]
    pub(crate) event: HookEventName,
}

impl HookCommandArgs {
    /// Returns the time limit for the answer: `given`, or the default of the event.
    pub(crate) fn time_limit(self, given: Option<Duration>) -> Duration {
        given.unwrap_or(match self.event {
            // Hosts configured by `init` wait for 10 s. A warm server needs a fraction of that.
            HookEventName::Edit => Duration::from_secs(8),
            HookEventName::Search | HookEventName::Start => Duration::from_secs(2),
        })
    }
}

/// A host with hooks, as it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HookHostName {
    /// Claude Code
    ClaudeCode,
    /// Codex CLI
    Codex,
    /// GitHub Copilot CLI
    CopilotCli,
    /// Gemini CLI
    Gemini,
    /// opencode
    #[value(name = "opencode")]
    OpenCode,
    /// Qwen Code
    QwenCode,
}

impl From<HookHostName> for HookHost {
    fn from(name: HookHostName) -> Self {
        match name {
            HookHostName::ClaudeCode => Self::ClaudeCode,
            HookHostName::Codex => Self::Codex,
            HookHostName::CopilotCli => Self::CopilotCli,
            HookHostName::Gemini => Self::Gemini,
            HookHostName::OpenCode => Self::OpenCode,
            HookHostName::QwenCode => Self::QwenCode,
        }
    }
}

/// An event of a host, as it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HookEventName {
    /// It edited files: the errors that this brought
    Edit,
    /// It searches: where the symbol is defined
    Search,
    /// Its session begins: servers are started
    Start,
}

impl From<HookEventName> for HookOccasion {
    fn from(name: HookEventName) -> Self {
        match name {
            HookEventName::Edit => Self::Edit,
            HookEventName::Search => Self::Search,
            HookEventName::Start => Self::Start,
        }
    }
}

/// `init`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct InitCommandArgs {
    /// The agent or editor; without one, those on this machine are listed
    #[arg(value_enum)]
    pub(crate) host: Option<HostName>,
    /// For everyone who works on this project, or for you alone [default: as that host's users have it; hooks and instructions: project]
    #[arg(long, value_enum, value_name = "SCOPE")]
    pub(crate) scope: Option<ScopeName>,
    /// A choice of tools [default: lsp, beside the host's own tools for files]
    #[arg(long, value_enum, value_name = "PROFILE")]
    pub(crate) profile: Option<ProfileName>,
    /// Hooks as well: what an edit broke, and where a symbol is that is searched for; LSP_TOOLS_HOOKS=off switches them off
    #[arg(long, requires = "host")]
    pub(crate) hooks: bool,
    /// A few lines about the tools as well, in the host's file of instructions
    #[arg(long, requires = "host")]
    pub(crate) instructions: bool,
    /// Take out what was written: all of it, or what --hooks and --instructions name
    #[arg(long, requires = "host", conflicts_with = "force")]
    pub(crate) remove: bool,
    /// As a language server in front of all others, for hosts that speak to such: copilot-cli, opencode
    #[arg(long)]
    pub(crate) editor_door: bool,
    /// Replace another entry of our name
    #[arg(long)]
    pub(crate) force: bool,
    /// Print what the file would say; write nothing
    #[arg(long)]
    pub(crate) print: bool,
}

/// A host, as it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HostName {
    /// Claude Code: .mcp.json
    ClaudeCode,
    /// GitHub Copilot CLI: ~/.copilot/mcp-config.json
    #[value(alias = "copilot")]
    CopilotCli,
    /// Visual Studio Code: .vscode/mcp.json
    #[value(name = "vscode")]
    VsCode,
    /// Cursor: .cursor/mcp.json
    Cursor,
    /// Codex CLI: ~/.codex/config.toml
    Codex,
    /// opencode: opencode.json
    #[value(name = "opencode")]
    OpenCode,
    /// Zed: ~/.config/zed/settings.json
    Zed,
    /// Gemini CLI: .gemini/settings.json
    Gemini,
    /// goose: ~/.config/goose/config.yaml
    Goose,
    /// Qwen Code: .qwen/settings.json
    QwenCode,
    /// Cline: ~/.cline/data/settings/cline_mcp_settings.json
    Cline,
    /// Crush: crush.json
    Crush,
    /// Kiro: .kiro/settings/mcp.json
    Kiro,
    /// Windsurf: ~/.codeium/windsurf/mcp_config.json
    Windsurf,
}

impl From<HostName> for McpHost {
    fn from(name: HostName) -> Self {
        match name {
            HostName::ClaudeCode => Self::ClaudeCode,
            HostName::CopilotCli => Self::CopilotCli,
            HostName::VsCode => Self::VsCode,
            HostName::Cursor => Self::Cursor,
            HostName::Codex => Self::Codex,
            HostName::OpenCode => Self::OpenCode,
            HostName::Zed => Self::Zed,
            HostName::Gemini => Self::Gemini,
            HostName::Goose => Self::Goose,
            HostName::QwenCode => Self::QwenCode,
            HostName::Cline => Self::Cline,
            HostName::Crush => Self::Crush,
            HostName::Kiro => Self::Kiro,
            HostName::Windsurf => Self::Windsurf,
        }
    }
}

/// A scope, as it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeName {
    /// Everyone who works on this project
    Project,
    /// You, in all projects
    User,
}

impl From<ScopeName> for HostScope {
    fn from(name: ScopeName) -> Self {
        match name {
            ScopeName::Project => Self::Project,
            ScopeName::User => Self::User,
        }
    }
}
