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
    /// Inspect mounted servers instead of serving
    #[command(subcommand)]
    pub(crate) mounted: Option<MountedServersCommand>,
    /// Options of the MCP server.
    #[command(flatten)]
    pub(crate) serve: McpServe,
}

/// `mcp` as a server
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct McpServe {
    /// Listen for plain HTTP at ADDR:PORT instead of stdin and stdout; leave TLS to a proxy
    #[arg(long, value_name = "ADDR:PORT")]
    pub(crate) http: Option<String>,
    /// The file with the token that HTTP clients must send, readable only by you [default: a new
    /// token at each start]
    #[arg(long, value_name = "FILE", env = "LSP_TOOLS_MCP_TOKEN_FILE", requires = "http")]
    pub(crate) token_file: Option<PathBuf>,
    /// Allow an address that other machines can reach
    #[arg(long, requires = "http")]
    pub(crate) allow_remote: bool,
    /// Accept requests for the host NAME, for example from a proxy; may be repeated
    #[arg(long, value_name = "NAME", requires = "http")]
    pub(crate) allow_host: Vec<String>,
    /// Accept clients of this machine whose process is not visible, as behind `ssh -L`; `bash`
    /// commands can hide among them
    #[arg(long, requires = "http")]
    pub(crate) allow_unseen: bool,
    /// The tool profile [default: the one in the settings, else core]
    #[arg(long, value_enum, value_name = "PROFILE")]
    pub(crate) profile: Option<ProfileName>,
    /// Answer with text only, for hosts that pass structured content to their models as well, or
    /// instead
    #[arg(long)]
    pub(crate) text_answers: bool,
    /// List output schemas too, for clients that validate answers or generate types; doubles the
    /// list
    #[arg(long, conflicts_with = "text_answers")]
    pub(crate) output_schemas: bool,
}

/// `mcp list|show|call|doctor`: MCP servers mounted in lsp-tools
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum MountedServersCommand {
    /// List the servers mounted by the settings, with their state
    #[command(after_help = "Exit status: 0 servers found, 1 none.")]
    List,
    /// Show a server's tools, and the tools held back because their definitions changed after
    /// approval
    #[command(after_help = "Example: lsp-tools mcp show files")]
    Show {
        /// The server
        name: String,
    },
    /// Call a tool of a mounted server
    #[command(after_help = "Example: lsp-tools mcp call files/read_text_file '{\"path\": \"README.md\"}'")]
    Call(MountedCall),
    /// Approve the changed definitions that are held back
    #[command(after_help = "Example: lsp-tools mcp approve files")]
    Approve {
        /// The server
        name: String,
    },
    /// Check everything that mounted tools depend on
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
    /// Accept browsers whose process is not visible, as behind `ssh -L`; `bash` commands can hide
    /// among them
    #[arg(long, conflicts_with = "stop")]
    pub(crate) allow_unseen: bool,
}

/// `daemon`
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum DaemonCommand {
    /// Start the daemon; commands do so automatically
    Start,
    /// Stop the daemon with its servers and commands, after running calls have finished
    Stop(AllDaemons),
    /// Show the daemon's clients, servers, memory and latencies
    Status(AllDaemons),
    /// Show the daemon's log
    Logs(DaemonLogsArgs),
    /// Run as the daemon, in the foreground
    #[command(hide = true)]
    Run,
}

/// `daemon status`, `daemon stop`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
pub(crate) struct AllDaemons {
    /// All your daemons, for any workspace
    #[arg(long)]
    pub(crate) all: bool,
}

/// `daemon logs`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct DaemonLogsArgs {
    /// Follow the log
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Number of last lines to show
    #[arg(long, short = 'n', value_name = "N", default_value_t = 200)]
    pub(crate) lines: usize,
}

/// `hook`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
pub(crate) struct HookCommandArgs {
    /// The host
    #[arg(value_enum)]
    pub(crate) host: HookHostName,
    /// The event
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
            HookEventName::Turn => Duration::from_secs(5),
            // The edits of a whole turn; `init` has hosts wait for 30 s.
            HookEventName::Stop => Duration::from_secs(25),
        })
    }
}

/// The name of a host with hooks on the command line.
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

/// The name of a host's event on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HookEventName {
    /// The model edited files: report new errors
    Edit,
    /// The model searches: report where the symbol is defined
    Search,
    /// A session begins: start the servers
    Start,
    /// A turn of the model begins: note the state of the files
    Turn,
    /// A turn of the model ends: report what its edits broke, once
    Stop,
}

impl From<HookEventName> for HookOccasion {
    fn from(name: HookEventName) -> Self {
        match name {
            HookEventName::Edit => Self::Edit,
            HookEventName::Search => Self::Search,
            HookEventName::Start => Self::Start,
            HookEventName::Turn => Self::Turn,
            HookEventName::Stop => Self::Stop,
        }
    }
}

/// `init`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct InitCommandArgs {
    /// The agent or editor; if omitted, the hosts on this machine are listed
    #[arg(value_enum)]
    pub(crate) host: Option<HostName>,
    /// Configure for everyone who works on this project, or for you alone [default: the host's
    /// usual scope; hooks and instructions: project]
    #[arg(long, value_enum, value_name = "SCOPE")]
    pub(crate) scope: Option<ScopeName>,
    /// The tool profile [default: lsp, beside the host's own file tools]
    #[arg(long, value_enum, value_name = "PROFILE")]
    pub(crate) profile: Option<ProfileName>,
    /// Add hooks: new errors after an edit, definitions at a search for a symbol;
    /// LSP_TOOLS_HOOKS=off disables them
    #[arg(long, requires = "host")]
    pub(crate) hooks: bool,
    /// Add a few lines about the tools to the host's instruction file
    #[arg(long, requires = "host")]
    pub(crate) instructions: bool,
    /// Remove the written entries: all, or only --hooks and --instructions
    #[arg(long, requires = "host", conflicts_with = "force")]
    pub(crate) remove: bool,
    /// Register as a language server in front of all others, for hosts that use language servers:
    /// copilot-cli, opencode
    #[arg(long)]
    pub(crate) editor_door: bool,
    /// Replace a different entry with our name
    #[arg(long)]
    pub(crate) force: bool,
    /// Print the new file; write nothing
    #[arg(long)]
    pub(crate) print: bool,
}

/// The name of a host on the command line.
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

/// The name of a scope on the command line.
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
