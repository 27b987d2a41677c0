//! The arguments of the command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum, ValueHint};

pub(crate) use self::at::AddressArgs;
pub(crate) use self::checks::{CheckCommandArgs, TestsCommandArgs};
use self::copilot::CopilotCommandArgs;
use self::doors::{
    DaemonCommand, HookCommandArgs, InitCommandArgs, LspCommandArgs, McpCommandArgs, ViewCommandArgs,
};
use self::edits::EditingCommand;
use self::files::FileReadingCommand;
pub(crate) use self::questions::{
    CallsCommandArgs, CompletionCommandArgs, ExploreCommandArgs, LimitedAddressArgs, SymbolsCommandArgs,
    TypesCommandArgs,
};
use self::tools::ToolsCommand;
use self::values::parse_duration;
use crate::tools::export::ToolListFormat as List;

mod at;
mod checks;
pub(crate) mod copilot;
pub(crate) mod doors;
pub(crate) mod edits;
pub(crate) mod files;
mod questions;
pub(crate) mod tools;
mod values;

const ABOUT: &str = "Ask real language servers about code";

const LONG_ABOUT: &str = "Ask real language servers about code: what something is, where it is defined and used, what is \
wrong with it. The server of a language is started when it is needed, and only if it is installed; without it the answer \
comes from text search, says so, and names the command that installs the server.

An ADDRESS names a place, all numbers counted from 1:
  FILE:LINE:COL    a column, counted in characters          src/app.py:12:8
  FILE:LINE:NAME   a name on a line                         src/app.py:12:greet
  FILE:NAME        a symbol of the file                     src/app.py:Greeter.greet
  NAME             a symbol of the whole workspace          Greeter";

const EXIT: &str = "Exit status:
  0  answered
  1  answered: problems were found, or there is nothing
  2  wrong usage
  3  answered from text search, because the server is missing
  4  the server failed or did not answer in time
  5  denied

Examples:
  lsp-tools hover src/app.py:12:greet
  lsp-tools references src/app.py:Greeter
  lsp-tools check src --format github
  lsp-tools rename src/app.py:12:greet welcome --dry-run
  lsp-tools edit src/app.py --old 'x = 1' --new 'x = 2' --diagnostics
  lsp-tools doctor";

/// The whole command line.
#[derive(Debug, Clone, PartialEq, Parser)]
#[command(name = "lsp-tools", version, about = ABOUT, long_about = LONG_ABOUT, after_long_help = EXIT, max_term_width = 100)]
pub struct Cli {
    /// What holds for every command.
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    /// As --workspace, before the command: behind `grep` it means whole words
    #[arg(short = 'w', value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "workspace", help_heading = "Global options")]
    short_workspace: Option<PathBuf>,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

/// A parsed command line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ParsedCommandLine {
    /// The parsed arguments.
    pub(crate) cli: Cli,
    /// The command's name as typed.
    pub(crate) name: String,
}

impl ParsedCommandLine {
    /// Makes `check --index` use the index of the commit in progress (`git commit -a`,
    /// `git commit FILE`), which git passes to its hooks. For all other commits it is the
    /// repository's own index.
    pub(crate) fn take_index_of_commit(&mut self, named: Option<PathBuf>) {
        if let CliCommand::Check(check) = &mut self.cli.command
            && check.index
        {
            check.index_file = named.filter(|file| file.file_name().is_some_and(|name| name != "index"));
        }
    }
}

impl Cli {
    /// Parses a command line, the program's own name first.
    ///
    /// # Errors
    /// The output of clap, which includes help and versions.
    pub(crate) fn parse_words(
        words: impl IntoIterator<Item = OsString>,
    ) -> Result<ParsedCommandLine, clap::Error> {
        let mut command = Self::command();
        let mut matches = command.try_get_matches_from_mut(words)?;
        let name = matches.subcommand_name().unwrap_or_default().to_owned();
        let mut cli = Self::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))?;
        if let Some(folder) = cli.short_workspace.take() {
            cli.global.workspace = Some(folder);
        }
        Ok(ParsedCommandLine { cli, name })
    }
}

/// What holds for every command.
#[derive(Debug, Clone, PartialEq, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalArgs {
    /// The workspace [default: the nearest folder above with .git or .lsp-tools]
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) workspace: Option<PathBuf>,
    /// How the answer is written; sarif, github, gitlab and junit are for `check`, the last five for `tools schema` and `tools show`
    #[arg(long, global = true, value_enum, default_value_t, hide_possible_values = false)]
    pub(crate) format: CliOutputFormat,
    /// Install a missing server first, into the private prefix
    #[arg(long = "install", id = "install-missing", global = true)]
    pub(crate) install: bool,
    /// How long to wait for an answer: seconds (10, 1.5) or milliseconds (500ms)
    #[arg(long, global = true, value_name = "SECONDS", value_parser = parse_duration)]
    pub(crate) timeout: Option<Duration>,
    /// Do everything in this process; start no daemon and ask none
    #[arg(long, global = true)]
    pub(crate) no_daemon: bool,
    /// More on stderr: -v what happens, -vv everything
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Colour in the output
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) color: Color,
    /// Record every message between us and the servers in FILE
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) trace: Option<PathBuf>,
}

/// How answers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum CliOutputFormat {
    /// For people; plain lines where stdout is no terminal
    #[default]
    Text,
    /// The answer itself, as one JSON object
    Json,
    /// SARIF 2.1.0
    Sarif,
    /// Annotations of GitHub Actions
    Github,
    /// A code quality report of GitLab
    Gitlab,
    /// JUnit XML: a test case for every file
    Junit,
    /// A tool list, as MCP has it
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

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR says otherwise
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The commands.
#[derive(Debug, Clone, PartialEq, Subcommand)]
pub(crate) enum CliCommand {
    /// What something is: its type, signature and documentation
    #[command(after_help = "Example: lsp-tools hover src/app.py:12:greet")]
    Hover(AddressArgs),
    /// Where something is defined
    #[command(after_help = "Example: lsp-tools definition src/app.py:12:8")]
    Definition(AddressArgs),
    /// Where something is declared (a header, an interface), where that is not its definition
    #[command(after_help = "Example: lsp-tools declaration src/main.c:40:parse")]
    Declaration(AddressArgs),
    /// A symbol with its source, docs, callers, callees, tests and errors, in one answer
    #[command(after_help = "Examples:\n  lsp-tools explore src/app.py:Greeter.greet\n  \
                            lsp-tools explore --budget 6000 Greeter     more of it")]
    Explore(ExploreCommandArgs),
    /// Where the type of something is defined
    #[command(after_help = "Example: lsp-tools type-definition src/app.ts:7:session")]
    TypeDefinition(AddressArgs),
    /// What implements an interface, or overrides a method
    #[command(after_help = "Example: lsp-tools implementation src/shape.ts:Shape.area")]
    Implementation(AddressArgs),
    /// Where something is used
    #[command(after_help = "Example: lsp-tools references src/app.py:Greeter.greet --limit 50")]
    References(LimitedAddressArgs),
    /// The outline of a file, or the symbols of the workspace that match a name
    #[command(after_help = "Examples:\n  lsp-tools symbols src/app.py     the outline of a file\n  \
                            lsp-tools symbols Greeter        symbols anywhere in the workspace")]
    Symbols(SymbolsCommandArgs),
    /// Who calls a function, or what it calls, as a tree
    #[command(after_help = "Example: lsp-tools calls --incoming --depth 3 src/app.py:greet")]
    Calls(CallsCommandArgs),
    /// Supertypes or subtypes, as a tree
    #[command(after_help = "Example: lsp-tools types --sub src/shape.ts:Shape")]
    Types(TypesCommandArgs),
    /// The signatures of the call around a place, and the parameter that stands there
    #[command(after_help = "Example: lsp-tools signature src/app.py:20:15")]
    Signature(AddressArgs),
    /// What could be typed at a place
    #[command(after_help = "Example: lsp-tools completion src/app.py:20:9 --limit 20")]
    Completion(CompletionCommandArgs),
    /// What is wrong with files, folders or the whole workspace
    #[command(after_help = "Examples:\n  lsp-tools check                      the whole workspace\n  \
                            lsp-tools check src tests/a.py       some of it\n  \
                            lsp-tools check --severity error     errors only\n  \
                            lsp-tools check --format sarif > report.sarif\n  \
                            lsp-tools check --shard 2/4 --format sarif > 2.sarif    a quarter, on one of four machines\n  \
                            lsp-tools check --merge ?.sarif > report.sarif          or: --format gitlab, --format junit\n\n\
                            Exit status: 0 nothing found, 1 problems found, 3 no server, 4 not everything was answered.")]
    Check(CheckCommandArgs),
    /// The tests that reach a change, or one symbol, each with the way that leads there; `--run` runs them
    #[command(
        after_help = "Examples:\n  lsp-tools tests --against HEAD             what is not committed yet\n  \
                            lsp-tools tests --against main... --run    what the branch changed, and run the tests\n  \
                            lsp-tools tests src --against HEAD         only what changed in a folder\n  \
                            lsp-tools tests src/app.py:Greeter.greet   what reaches a symbol\n\n\
                            Exit status: 0 there are tests, 1 there are none, 3 followed by names alone for want of a server; with --run \
                            0 where all pass, 1 where one fails."
    )]
    Tests(TestsCommandArgs),
    /// Reading files.
    #[command(flatten)]
    Files(FileReadingCommand),
    /// Changing files.
    #[command(flatten)]
    Edits(EditingCommand),
    /// Every language of the workspace and its servers: what runs, what is missing
    #[command(after_help = "Example: lsp-tools servers --format json")]
    Servers,
    /// What keeps answers from being good, and how to mend it; ends in a real query per server
    #[command(after_help = "Example: lsp-tools doctor\n\nExit status: 0 only when all is well.")]
    Doctor,
    /// Install language servers, pinned, into a private prefix; the system is left alone
    #[command(after_help = "Examples:\n  lsp-tools install python            the servers of a language\n  \
                            lsp-tools install pyright ruff      these servers\n  \
                            lsp-tools install --list            what there is, and what is installed")]
    Install(InstallCommandArgs),
    /// Allow what this project's own settings want to run
    #[command(
        after_help = "Examples:\n  lsp-tools trust            show what the project would run, and ask\n  \
                            lsp-tools trust --yes      allow it without asking\n  \
                            lsp-tools trust --revoke   allow it no longer"
    )]
    Trust(TrustCommandArgs),
    /// What the rules for tool calls say, and which rule says it
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// The tools that agents call: look at them, call one, export their list
    #[command(subcommand)]
    Tools(ToolsCommand),
    /// Serve tools to an agent over MCP, on stdin and stdout or over HTTP; look at mounted MCP servers
    #[command(
        after_help = "Examples:\n  lsp-tools mcp                             for hosts that start it\n  \
                            lsp-tools mcp --http 127.0.0.1:8000       for hosts that connect\n  \
                            lsp-tools mcp list                        the servers mounted here"
    )]
    Mcp(McpCommandArgs),
    /// Serve an editor: one language server in front of all
    #[command(after_help = "Example: in the editor, the command of a language server: lsp-tools lsp")]
    Lsp(LspCommandArgs),
    /// GitHub Copilot with our tools: its language server, and its command line
    Copilot(CopilotCommandArgs),
    /// The process that keeps servers warm for everyone on this workspace
    #[command(subcommand)]
    Daemon(DaemonCommand),
    /// A page in your browser that shows what the daemon does: servers, calls, edits, findings, clients, its log
    #[command(after_help = "Examples:\n  lsp-tools view            open it, and print its address\n  \
                            lsp-tools view --stop     close it\n\n\
                            The page is served on 127.0.0.1 alone and changes nothing. Its address has a token: whoever has it sees \
                            what you would. Ask again for a new token; the former one is worth nothing then.\n\n\
                            Exit status: 0 it is open (or closed), 1 there was none to close, 5 not from inside of a tool.")]
    View(ViewCommandArgs),
    /// Write the configuration with which an agent or editor starts us
    #[command(
        after_help = "Examples:\n  lsp-tools init                        the hosts on this machine, and what is left to do\n  \
                            lsp-tools init claude-code --hooks --instructions\n  \
                            lsp-tools init claude-code --remove\n  \
                            lsp-tools init vscode --print"
    )]
    Init(InitCommandArgs),
    /// Answer a hook of a host, whose event is read from stdin; `init HOST --hooks` sets that up
    #[command(after_help = "Example: lsp-tools hook claude-code edit < event.json\n\n\
                            It always exits with 0, and prints nothing where it has nothing to say, fails, or takes longer than \
                            --timeout (3 s after an edit, 2 s at a search). LSP_TOOLS_HOOKS=off switches it off.")]
    Hook(HookCommandArgs),
    /// Print completions for a shell
    #[command(
        after_help = "Example: lsp-tools completions bash > ~/.local/share/bash-completion/completions/lsp-tools"
    )]
    Completions(ShellCompletionsArgs),
    /// Print the manual page, or write one page per command into a folder
    #[command(after_help = "Example: lsp-tools man ~/.local/share/man/man1")]
    Man(ManPageArgs),
}

/// `install`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct InstallCommandArgs {
    /// Languages or servers
    #[arg(value_name = "LANG|SERVER", required_unless_present = "list")]
    pub(crate) names: Vec<String>,
    /// The languages and servers that there are, and which of them are installed, in which version
    #[arg(long, conflicts_with = "names")]
    pub(crate) list: bool,
}

/// `trust`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct TrustCommandArgs {
    /// Do not ask
    #[arg(long, short = 'y', conflicts_with = "revoke")]
    pub(crate) yes: bool,
    /// Take back what was allowed
    #[arg(long)]
    pub(crate) revoke: bool,
}

/// `policy`
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Would a call run, be asked about, or be denied; nothing is run
    #[command(after_help = "Examples:\n  lsp-tools policy check -- git status\n  \
                            lsp-tools policy check -- 'ls; rm -rf .'\n  \
                            lsp-tools policy check lsp_hover '{\"path\": \"src/app.py\", \"symbol\": \"greet\"}'\n\n\
                            Exit status: 0 allow, 1 ask, 5 deny.")]
    Check(PolicyCheck),
}

/// `policy check`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct PolicyCheck {
    /// The tool
    #[arg(conflicts_with = "command")]
    pub(crate) tool: Option<String>,
    /// Its arguments, a JSON object
    #[arg(value_name = "JSON")]
    pub(crate) arguments: Option<String>,
    /// On behalf of this agent
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// A shell command, as `bash` would get it
    #[arg(last = true)]
    pub(crate) command: Vec<String>,
}

/// `completions`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct ShellCompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

/// `man`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct ManPageArgs {
    /// Where to write the pages; without it the main page goes to stdout
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) folder: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clap_command_passes_debug_assert() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn global_flags_are_accepted_before_and_after_the_subcommand() {
        let before = Cli::try_parse_from(["lsp-tools", "--install", "hover", "a.py:1:1"]);
        let after = Cli::try_parse_from(["lsp-tools", "hover", "a.py:1:1", "--install"]);
        assert!(before.as_ref().is_ok_and(|cli| cli.global.install), "{before:?}");
        assert!(after.is_ok_and(|cli| cli.global.install));
    }

    #[test]
    fn short_workspace_before_the_command_is_the_workspace_and_behind_grep_whole_words() {
        let words =
            |words: &[&str]| Cli::parse_words(words.iter().map(OsString::from)).map(|parsed| parsed.cli);
        let agent = words(&["lsp-tools", "-w", "/p", "copilot", "agent", "go"]).unwrap();
        assert_eq!(agent.global.workspace, Some(PathBuf::from("/p")));
        let grep = words(&["lsp-tools", "-w", "/p", "grep", "-w", "go"]).unwrap();
        assert_eq!(grep.global.workspace, Some(PathBuf::from("/p")));
        let CliCommand::Files(FileReadingCommand::Grep(grep)) = grep.command else { panic!("no grep") };
        assert!(grep.word_regexp);
        assert!(words(&["lsp-tools", "-w", "/p", "--workspace", "/q", "copilot", "agent", "go"]).is_err());
    }

    #[test]
    fn conflicting_flags_zero_and_missing_arguments_are_refused() {
        for words in [
            &["lsp-tools", "calls", "--incoming", "--outgoing", "f"][..],
            &["lsp-tools", "types", "--super", "--sub", "f"],
            &["lsp-tools", "calls", "--depth", "0", "f"],
            &["lsp-tools", "references", "--limit", "0", "f"],
            &["lsp-tools", "install"],
            &["lsp-tools", "hover"],
            &["lsp-tools", "check", "--severity", "fatal"],
        ] {
            assert!(Cli::try_parse_from(words).is_err(), "{words:?}");
        }
    }
}
