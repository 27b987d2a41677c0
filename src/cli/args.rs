//! The arguments of the command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum, ValueHint};

pub(crate) use self::at::AddressArgs;
pub(crate) use self::checks::{
    CheckCommandArgs, IndexCommandArgs, ReportFile, StoreCommand, TestsCommandArgs,
};
use self::copilot::CopilotCommandArgs;
use self::doors::{
    DaemonCommand, HookCommandArgs, InitCommandArgs, LspCommandArgs, McpCommandArgs, ViewCommandArgs,
};
use self::edits::EditingCommand;
use self::files::FileReadingCommand;
pub(crate) use self::output_format::CliOutputFormat;
pub(crate) use self::questions::{
    CallsCommandArgs, CompletionCommandArgs, ExploreCommandArgs, LimitedAddressArgs, SymbolsCommandArgs,
    TypesCommandArgs,
};
use self::tools::ToolsCommand;
use self::values::parse_duration;

mod at;
mod checks;
pub(crate) mod copilot;
pub(crate) mod doors;
pub(crate) mod edits;
pub(crate) mod files;
mod output_format;
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
  1  answered: problems found, or no results
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
    /// Options of every command.
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    /// --workspace, accepted before the command only; after `grep`, -w means whole words
    #[arg(short = 'w', value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "workspace", help_heading = "Global options")]
    short_workspace: Option<PathBuf>,
    /// The command.
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

/// Options of every command.
#[derive(Debug, Clone, PartialEq, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalArgs {
    /// The workspace [default: the nearest folder above with .git or .lsp-tools]
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) workspace: Option<PathBuf>,
    /// The output format; sarif, github, gitlab and junit are for `check`, the last five for `tools
    /// schema` and `tools show`
    #[arg(long, global = true, value_enum, default_value_t, hide_possible_values = false)]
    pub(crate) format: CliOutputFormat,
    /// Install a missing server first, into the private prefix
    #[arg(long = "install", id = "install-missing", global = true)]
    pub(crate) install: bool,
    /// The time limit for an answer: seconds (10, 1.5) or milliseconds (500ms)
    #[arg(long, global = true, value_name = "SECONDS", value_parser = parse_duration)]
    pub(crate) timeout: Option<Duration>,
    /// Do everything in this process; neither start nor use a daemon
    #[arg(long, global = true)]
    pub(crate) no_daemon: bool,
    /// Log more to stderr: -v events, -vv everything
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Use colour in the output
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) color: Color,
    /// Record every message between lsp-tools and the servers in FILE
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) trace: Option<PathBuf>,
}

/// The use of colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
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
    /// Show the type, signature and documentation of a symbol
    #[command(after_help = "Example: lsp-tools hover src/app.py:12:greet")]
    Hover(AddressArgs),
    /// Find the definition of a symbol
    #[command(after_help = "Example: lsp-tools definition src/app.py:12:8")]
    Definition(AddressArgs),
    /// Find the declaration of a symbol (a header, an interface), if it differs from the definition
    #[command(after_help = "Example: lsp-tools declaration src/main.c:40:parse")]
    Declaration(AddressArgs),
    /// Show a symbol with its source, docs, callers, callees, tests and errors
    #[command(after_help = "Examples:\n  lsp-tools explore src/app.py:Greeter.greet\n  \
                            lsp-tools explore --budget 6000 Greeter     a longer answer")]
    Explore(ExploreCommandArgs),
    /// Find the definition of a symbol's type
    #[command(after_help = "Example: lsp-tools type-definition src/app.ts:7:session")]
    TypeDefinition(AddressArgs),
    /// Find the implementations of an interface, or the overrides of a method
    #[command(after_help = "Example: lsp-tools implementation src/shape.ts:Shape.area")]
    Implementation(AddressArgs),
    /// Find the references to a symbol
    #[command(after_help = "Example: lsp-tools references src/app.py:Greeter.greet --limit 50")]
    References(LimitedAddressArgs),
    /// List the symbols of a file, or the workspace symbols that match a name
    #[command(after_help = "Examples:\n  lsp-tools symbols src/app.py     the outline of a file\n  \
                            lsp-tools symbols Greeter        symbols anywhere in the workspace")]
    Symbols(SymbolsCommandArgs),
    /// Show the callers or callees of a function as a tree
    #[command(after_help = "Example: lsp-tools calls --incoming --depth 3 src/app.py:greet")]
    Calls(CallsCommandArgs),
    /// Show supertypes or subtypes as a tree
    #[command(after_help = "Example: lsp-tools types --sub src/shape.ts:Shape")]
    Types(TypesCommandArgs),
    /// Show the signatures of the call around a position, and the parameter there
    #[command(after_help = "Example: lsp-tools signature src/app.py:20:15")]
    Signature(AddressArgs),
    /// List completions at a position
    #[command(after_help = "Example: lsp-tools completion src/app.py:20:9 --limit 20")]
    Completion(CompletionCommandArgs),
    /// Check files, folders or the whole workspace
    #[command(after_help = "Examples:\n  lsp-tools check                      the whole workspace\n  \
                            lsp-tools check src tests/a.py       a part\n  \
                            lsp-tools check --severity error     only errors\n  \
                            lsp-tools check --format sarif > report.sarif\n  \
                            lsp-tools check --report gitlab=quality.json --report junit=junit.xml\n\n\
                            Exit status: 0 nothing found, 1 problems found, 3 no server, 4 incomplete.")]
    Check(CheckCommandArgs),
    /// Find the tests that reach a change or a symbol, each with its path to the code; `--run` runs
    /// them
    #[command(
        after_help = "Examples:\n  lsp-tools tests --against HEAD             the uncommitted changes\n  \
                            lsp-tools tests --against main... --run    the changes of the branch, and run the tests\n  \
                            lsp-tools tests src --against HEAD         only the changes in a folder\n  \
                            lsp-tools tests src/app.py:Greeter.greet   the tests that reach a symbol\n\n\
                            Exit status: 0 tests found, 1 none, 3 found by names only because the server is missing; with --run \
                            0 all passed, 1 some failed."
    )]
    Tests(TestsCommandArgs),
    /// Commands that read files.
    #[command(flatten)]
    Files(FileReadingCommand),
    /// Commands that change files.
    #[command(flatten)]
    Edits(EditingCommand),
    /// List the languages of the workspace with their servers: running, installed or missing
    #[command(after_help = "Example: lsp-tools servers --format json")]
    Servers,
    /// Find problems that make answers incomplete, with fixes; ends with a real query per server
    #[command(after_help = "Example: lsp-tools doctor\n\nExit status: 0 only when all is well.")]
    Doctor,
    /// Install pinned language servers into a private prefix, not into the system
    #[command(after_help = "Examples:\n  lsp-tools install python            the servers of a language\n  \
                            lsp-tools install pyright ruff      these servers\n  \
                            lsp-tools install --list            all available and installed servers")]
    Install(InstallCommandArgs),
    /// Allow the programs that this project's settings want to run
    #[command(
        after_help = "Examples:\n  lsp-tools trust            show what the project would run, and ask\n  \
                            lsp-tools trust --yes      allow it without asking\n  \
                            lsp-tools trust --revoke   revoke the permission"
    )]
    Trust(TrustCommandArgs),
    /// Write an index of the workspace's symbols, for code browsers and as a first answer elsewhere
    #[command(after_help = "Example: lsp-tools index --scip\n\n\
                            Run it again after an interruption: it goes on where it ended, if no source file has changed.\n\n\
                            Exit status: 0 written, 1 written without some symbols, 3 no server.")]
    Index(IndexCommandArgs),
    /// Show or empty the store of earlier checks, from which unchanged trees are answered
    #[command(subcommand)]
    Store(StoreCommand),
    /// Show the decision of the rules for a tool call, and the deciding rule
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// List, show, call or export the tools for agents
    #[command(subcommand)]
    Tools(ToolsCommand),
    /// Serve tools to an agent over MCP, on stdin and stdout or over HTTP; inspect mounted MCP
    /// servers
    #[command(
        after_help = "Examples:\n  lsp-tools mcp                             for hosts that start it\n  \
                            lsp-tools mcp --http 127.0.0.1:8000       for hosts that connect\n  \
                            lsp-tools mcp list                        the servers mounted here"
    )]
    Mcp(McpCommandArgs),
    /// Serve an editor: one language server in front of all others
    #[command(after_help = "Example: in the editor, the command of a language server: lsp-tools lsp")]
    Lsp(LspCommandArgs),
    /// Use GitHub Copilot with the tools: its language server, and its command line
    Copilot(CopilotCommandArgs),
    /// Control the process that keeps servers warm for all clients of this workspace
    #[command(subcommand)]
    Daemon(DaemonCommand),
    /// Open a live page in your browser: servers, calls, edits, findings, clients and the log
    #[command(after_help = "Examples:\n  lsp-tools view            open it, and print its address\n  \
                            lsp-tools view --stop     close it\n\n\
                            The page is served on 127.0.0.1 only and changes nothing. Its address contains a token: everyone who has it \
                            sees the page. Run the command again for a new token; the old one becomes invalid.\n\n\
                            Exit status: 0 opened (or closed), 1 no page to close, 5 refused inside of a tool.")]
    View(ViewCommandArgs),
    /// Write the configuration with which an agent or editor starts lsp-tools
    #[command(
        after_help = "Examples:\n  lsp-tools init                        the hosts on this machine, and the remaining steps\n  \
                            lsp-tools init claude-code --hooks --instructions\n  \
                            lsp-tools init claude-code --remove\n  \
                            lsp-tools init vscode --print"
    )]
    Init(InitCommandArgs),
    /// Answer a hook of a host, with the event from stdin; `init HOST --hooks` configures it
    #[command(after_help = "Example: lsp-tools hook claude-code edit < event.json\n\n\
                            The exit status is always 0. Nothing is printed if there is no finding, on failure, or after \
                            --timeout (8 s after an edit, 2 s at a search, 25 s at the end of a turn). LSP_TOOLS_HOOKS=off disables it.")]
    Hook(HookCommandArgs),
    /// Print the JSON Schema of a settings file, for editors
    #[command(after_help = "Example: lsp-tools schema settings > lsp-tools.schema.json")]
    Schema(SettingsSchemaArgs),
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
    /// List the available languages and servers, with the installed versions
    #[arg(long, conflicts_with = "names")]
    pub(crate) list: bool,
    /// Save the packages in a folder, for machines without a network, and install nothing
    #[arg(long, value_name = "DIR", conflicts_with_all = ["list", "from"])]
    pub(crate) download: Option<PathBuf>,
    /// Install packages that `--download` has saved in a folder
    #[arg(long, value_name = "DIR", conflicts_with = "list")]
    pub(crate) from: Option<PathBuf>,
}

/// `trust`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct TrustCommandArgs {
    /// Do not ask for confirmation
    #[arg(long, short = 'y', conflicts_with = "revoke")]
    pub(crate) yes: bool,
    /// Revoke the permission
    #[arg(long)]
    pub(crate) revoke: bool,
}

/// `policy`
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Show whether a call would run, be asked about, or be denied, without running it
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
    /// Check on behalf of this agent
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// A shell command for `bash`
    #[arg(last = true)]
    pub(crate) command: Vec<String>,
}

/// `schema`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct SettingsSchemaArgs {
    /// The file
    #[arg(value_enum)]
    pub(crate) file: SettingsFileName,
}

/// A file of settings on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SettingsFileName {
    /// lsp-tools.toml
    Settings,
    /// servers.toml
    Servers,
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
    /// The folder for the pages; without it the main page goes to stdout
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
