//! Arguments of `lsp-tools copilot`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum, ValueHint};

use super::tools::ProfileName;
use super::values::parse_duration;
use crate::bridges::copilot::server::{CopilotMode, ResultFormat};

/// `copilot`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct CopilotCommandArgs {
    /// The action [default: status].
    #[command(subcommand)]
    pub(crate) command: Option<CopilotCommand>,
}

impl CopilotCommandArgs {
    /// Returns true if it only undoes edits and opens no door.
    pub(crate) fn is_undo(&self) -> bool {
        matches!(self.command, Some(CopilotCommand::Undo(_)))
    }
}

/// `copilot …`
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum CopilotCommand {
    /// Show whether the language server runs, whether you are signed in, and how to sign in
    #[command(
        after_help = "Exit status: 0 signed in, 1 not signed in, 3 the server is missing, 4 it failed."
    )]
    Status(CopilotStatus),
    /// List the tools of the language server: ours, its own, and which names hide others
    #[command(after_help = "Example: lsp-tools copilot tools --profile all")]
    Tools(CopilotStatus),
    /// Give a task to a Copilot agent with our tools
    #[command(after_help = "Examples:\n  lsp-tools copilot agent \"Fix the type errors in src\"\n  \
                            lsp-tools copilot agent - < task.md\n\n\
                            Exit status: 0 done, 4 the server failed or you are not signed in, 130 interrupted.")]
    Agent(CopilotAgent),
    /// Talk with an agent, one line at a time
    Chat(CopilotTurns),
    /// Undo the changes of one turn
    #[command(after_help = "Example: lsp-tools copilot undo turn-6921a3f0-1c2e-1")]
    Undo(CopilotUndo),
    /// Sign in to GitHub in your browser; the language server keeps the credentials
    SignIn,
    /// Drive the Copilot command line with our tools
    Host(CopilotHost),
}

/// `copilot status`, `copilot tools`
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct CopilotStatus {
    /// The tool profile [default: the one in the settings, else core]
    #[arg(long, value_enum, value_name = "PROFILE")]
    pub(crate) profile: Option<ProfileName>,
    /// The server's own tools to offer as well: usual, none, all, or names [default: usual, which
    /// omits tools that would replace better ones of the server]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) names: Vec<String>,
}

/// `copilot agent`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct CopilotAgent {
    /// The task; `-` reads it from stdin
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: String,
    /// Options of turns.
    #[command(flatten)]
    pub(crate) turns: CopilotTurns,
}

/// Options of turns.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct CopilotTurns {
    /// The tool profile [default: the one in the settings, else core]
    #[arg(long, value_enum, value_name = "PROFILE")]
    pub(crate) profile: Option<ProfileName>,
    /// The server's own tools to offer as well: usual, none, all, or names [default: usual, which
    /// omits tools that would replace better ones of the server]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) names: Vec<String>,
    /// The model, by id or name [default: the server's]
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// The provider of your own model, by the name you gave it in the server
    #[arg(long, value_name = "NAME", requires = "model")]
    pub(crate) provider: Option<String>,
    /// A file to open in the language server first; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) open: Vec<PathBuf>,
    /// The chat mode
    #[arg(long, value_enum, default_value = "agent")]
    pub(crate) mode: ModeName,
    /// The format of tool results; the language server itself uses tuple
    #[arg(long, value_enum, default_value = "tuple", value_name = "FORMAT")]
    pub(crate) result_format: ResultFormatName,
    /// The time limit of a turn, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "3600", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) turn_limit: u64,
}

impl CopilotTurns {
    /// The time limit of a turn.
    pub(crate) fn limit(&self) -> Duration {
        Duration::from_secs(self.turn_limit)
    }
}

/// The name of a chat mode on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeName {
    /// All tools, round after round
    Agent,
    /// The few tools that the server offers for questions
    Ask,
}

impl From<ModeName> for CopilotMode {
    fn from(name: ModeName) -> Self {
        match name {
            ModeName::Agent => Self::Agent,
            ModeName::Ask => Self::Ask,
        }
    }
}

/// The name of a result format on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ResultFormatName {
    /// `[{"content": […], "status": …}, null]`
    Tuple,
    /// `[{"type": "text", "value": …}]`
    List,
    /// `list` for tools that read, `{"result": "success"}` for tools that change something
    BuiltIn,
}

impl From<ResultFormatName> for ResultFormat {
    fn from(name: ResultFormatName) -> Self {
        match name {
            ResultFormatName::Tuple => Self::Tuple,
            ResultFormatName::List => Self::List,
            ResultFormatName::BuiltIn => Self::BuiltIn,
        }
    }
}

/// `copilot undo`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct CopilotUndo {
    /// The turn id, as printed by `agent` and `chat`
    #[arg(value_name = "TURN")]
    pub(crate) turn: String,
}

/// `copilot host`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:\n  lsp-tools copilot host 'Why does the build fail?'\n  \
                        lsp-tools copilot host --profile read-only < question.txt\n\n\
                        The model comes from the account that the command line is signed in with (copilot login), or from the \
                        provider in COPILOT_PROVIDER_BASE_URL and COPILOT_MODEL; with COPILOT_OFFLINE=true no other host is \
                        contacted. --format json prints every event of the session, one per line.")]
pub(crate) struct CopilotHost {
    /// The prompt [default: stdin]
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: Vec<String>,
    /// The model
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// The tool profile [default: the one in the settings]
    #[arg(long, value_enum, value_name = "PROFILE")]
    pub(crate) profile: Option<ProfileName>,
    /// Only these tools, both ours and the command line's own
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) available: Vec<String>,
    /// Exclude these tools; overrides --available
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) excluded: Vec<String>,
    /// The agent from the settings that starts the session
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Resume this session, with the current tools, agents and MCP servers
    #[arg(long, value_name = "SESSION")]
    pub(crate) resume: Option<String>,
    /// A file of MCP servers (`mcpServers`) for the session, in the command line's own format
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) mcp_config: Option<PathBuf>,
    /// The path of the command line's program [default: `copilot` on PATH, else in the private
    /// prefix]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::ExecutablePath)]
    pub(crate) cli: Option<PathBuf>,
    /// Get whole answers instead of streamed ones
    #[arg(long)]
    pub(crate) no_stream: bool,
    /// The time limit of the whole run: seconds (600) or milliseconds (500ms)
    #[arg(long, value_name = "SECONDS", default_value = "1800", value_parser = parse_duration)]
    pub(crate) limit: Duration,
}
