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
    /// What is to be done with it [default: status].
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
    /// Whether the language server runs, whether you are signed in, and how to
    #[command(
        after_help = "Exit status: 0 signed in, 1 not signed in, 3 the server is missing, 4 it failed."
    )]
    Status(CopilotStatus),
    /// The tools that the language server lists: ours, its own, and what hides what
    #[command(after_help = "Example: lsp-tools copilot tools --profile all")]
    Tools(CopilotStatus),
    /// Let an agent of Copilot do something, with our tools
    #[command(after_help = "Examples:\n  lsp-tools copilot agent \"Mend the type errors in src\"\n  \
                            lsp-tools copilot agent - < task.md\n\n\
                            Exit status: 0 done, 4 the server failed or you are not signed in, 130 interrupted.")]
    Agent(CopilotAgent),
    /// Talk with it, a line at a time
    Chat(CopilotTurns),
    /// Take back what the calls of one turn changed
    #[command(after_help = "Example: lsp-tools copilot undo turn-6921a3f0-1c2e-1")]
    Undo(CopilotUndo),
    /// Sign in with GitHub, in your browser; the language server keeps what it gets
    SignIn,
    /// Drive the Copilot command line with our tools
    Host(CopilotHost),
}

/// `copilot status`, `copilot tools`
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct CopilotStatus {
    /// A choice of tools [default: that of the settings, else core]
    #[arg(long, value_enum, value_name = "PROFILE")]
    pub(crate) profile: Option<ProfileName>,
    /// Names of the server's own tools to offer as well: usual, none, all, or the names [default: usual, those that take no
    /// better tool away from the server]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) names: Vec<String>,
}

/// `copilot agent`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct CopilotAgent {
    /// What is to be done; `-` reads it from stdin
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: String,
    /// How.
    #[command(flatten)]
    pub(crate) turns: CopilotTurns,
}

/// How turns are run.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct CopilotTurns {
    /// A choice of tools [default: that of the settings, else core]
    #[arg(long, value_enum, value_name = "PROFILE")]
    pub(crate) profile: Option<ProfileName>,
    /// Names of the server's own tools to offer as well: usual, none, all, or the names [default: usual, those that take no
    /// better tool away from the server]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) names: Vec<String>,
    /// The model, by id or name [default: the server's]
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// The provider of a model of your own, as you named it to the server
    #[arg(long, value_name = "NAME", requires = "model")]
    pub(crate) provider: Option<String>,
    /// Open a file in the language server first; may be given several times
    #[arg(long, value_name = "FILE")]
    pub(crate) open: Vec<PathBuf>,
    /// How it answers
    #[arg(long, value_enum, default_value = "agent")]
    pub(crate) mode: ModeName,
    /// How results travel; the language server itself takes the tuple
    #[arg(long, value_enum, default_value = "tuple", value_name = "FORMAT")]
    pub(crate) result_format: ResultFormatName,
    /// End a turn after so many seconds
    #[arg(long, value_name = "SECONDS", default_value = "3600", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) turn_limit: u64,
}

impl CopilotTurns {
    /// The time limit of a turn.
    pub(crate) fn limit(&self) -> Duration {
        Duration::from_secs(self.turn_limit)
    }
}

/// How it answers, as it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeName {
    /// With all tools, round after round
    Agent,
    /// With the few tools that the server gives to questions
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

/// A format of results, as it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ResultFormatName {
    /// `[{"content": […], "status": …}, null]`
    Tuple,
    /// `[{"type": "text", "value": …}]`
    List,
    /// As `list` for what reads, `{"result": "success"}` for what changes something
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
    /// The turn, as `agent` and `chat` named it
    #[arg(value_name = "TURN")]
    pub(crate) turn: String,
}

/// `copilot host`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:\n  lsp-tools copilot host 'Why does the build fail?'\n  \
                        lsp-tools copilot host --profile read-only < question.txt\n\n\
                        The model is that of the account which the command line is signed in with (copilot login), or of the \
                        provider that COPILOT_PROVIDER_BASE_URL and COPILOT_MODEL name; with COPILOT_OFFLINE=true nothing else is \
                        spoken to. --format json prints every event of the session, one a line.")]
pub(crate) struct CopilotHost {
    /// What is asked of the model; by default what is piped in
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: Vec<String>,
    /// The model
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Which of our tools are offered [default: what the settings say]
    #[arg(long, value_enum, value_name = "PROFILE")]
    pub(crate) profile: Option<ProfileName>,
    /// Only these tools, of ours and of the command line's own
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) available: Vec<String>,
    /// None of these tools; goes after --available
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) excluded: Vec<String>,
    /// The agent of the settings as which the session begins
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Go on with this session, with the tools, agents and MCP servers of now
    #[arg(long, value_name = "SESSION")]
    pub(crate) resume: Option<String>,
    /// MCP servers for the session: a file with `mcpServers`, in the command line's own form
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) mcp_config: Option<PathBuf>,
    /// The command line's program [default: `copilot` on PATH, else in the private prefix]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::ExecutablePath)]
    pub(crate) cli: Option<PathBuf>,
    /// Have the model answer whole instead of word by word
    #[arg(long)]
    pub(crate) no_stream: bool,
    /// How long the whole may take: seconds (600) or milliseconds (500ms)
    #[arg(long, value_name = "SECONDS", default_value = "1800", value_parser = parse_duration)]
    pub(crate) limit: Duration,
}
