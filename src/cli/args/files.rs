//! Arguments of the commands that read files.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::values::at_least_one;

/// The commands that read files.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum FileReadingCommand {
    /// The lines of a file, or its outline
    #[command(after_help = "Examples:\n  lsp-tools read src/app.py             the whole file\n  \
                            lsp-tools read -n src/app.py:10-20    some lines, numbered\n  \
                            lsp-tools read --outline src/app.py   what it defines")]
    Read(ReadCommandArgs),
    /// What is in a folder
    #[command(after_help = "Example: lsp-tools list src")]
    List(ListCommandArgs),
    /// Files whose paths match a pattern; git-ignored and hidden ones are left out
    #[command(after_help = "Example: lsp-tools glob 'src/**/*.{ts,tsx}'\n\n\
                            Exit status: 0 some found, 1 none.")]
    Glob(GlobCommandArgs),
    /// Lines that match a pattern, as ripgrep finds them
    #[command(after_help = "Examples:\n  lsp-tools grep 'fn \\w+_error' src\n  \
                            lsp-tools grep -F -w greet -t py -C 2\n\n\
                            Exit status: 0 some found, 1 none.")]
    Grep(GrepCommandArgs),
}

/// `read`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct ReadCommandArgs {
    /// A file, and if wanted one line of it (:12), some (:12-20) or all from one on (:12-)
    #[arg(value_name = "FILE[:LINE[-LINE]]", value_hint = ValueHint::FilePath)]
    pub(crate) file: OsString,
    /// Its definitions with their lines instead
    #[arg(long, conflicts_with = "numbers")]
    pub(crate) outline: bool,
    /// Number the lines
    #[arg(short = 'n', long = "line-number", id = "numbers")]
    pub(crate) numbers: bool,
}

/// `list`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct ListCommandArgs {
    /// The folder [default: the current one]
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) folder: Option<PathBuf>,
    /// Also everything below, without hidden and git-ignored files
    #[arg(short, long)]
    pub(crate) recursive: bool,
    /// Show at most so many
    #[arg(long, value_name = "N", default_value_t = 5_000, value_parser = at_least_one)]
    pub(crate) limit: usize,
}

/// `glob`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct GlobCommandArgs {
    /// Relative to the current folder: `*` stays within one name, `**/` stands for any folders
    pub(crate) pattern: String,
    /// Newest first
    #[arg(long)]
    pub(crate) newest: bool,
    /// Also hidden files
    #[arg(long)]
    pub(crate) hidden: bool,
    /// Also git-ignored files
    #[arg(long)]
    pub(crate) no_ignore: bool,
    /// Show at most so many
    #[arg(long, value_name = "N", default_value_t = 5_000, value_parser = at_least_one)]
    pub(crate) limit: usize,
}

/// `grep`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct GrepCommandArgs {
    /// A regular expression in Rust's syntax; after `--` it may begin with a hyphen
    #[arg(required_unless_present = "regexp")]
    pub(crate) pattern: Option<String>,
    /// A file or folder [default: the current folder]
    #[arg(value_hint = ValueHint::AnyPath)]
    pub(crate) path: Option<PathBuf>,
    /// A pattern that may begin with a hyphen; a line matches where one of several does
    #[arg(short = 'e', long = "regexp", id = "regexp", value_name = "PATTERN", allow_hyphen_values = true)]
    pub(crate) patterns: Vec<String>,
    /// Line numbers and file names are always shown; accepted as other programs have it
    #[arg(short = 'n', long, short_alias = 'H', alias = "with-filename", overrides_with = "line_number")]
    pub(crate) line_number: bool,
    /// Upper and lower case are the same
    #[arg(short, long, conflicts_with = "smart_case")]
    pub(crate) ignore_case: bool,
    /// Upper and lower case are the same, unless the pattern has capitals
    #[arg(short = 'S', long)]
    pub(crate) smart_case: bool,
    /// Only whole words
    #[arg(short = 'w', long)]
    pub(crate) word_regexp: bool,
    /// The pattern is plain text
    #[arg(short = 'F', long)]
    pub(crate) fixed_strings: bool,
    /// The lines that do not match
    #[arg(long)]
    pub(crate) invert_match: bool,
    /// Matches may span lines
    #[arg(short = 'U', long)]
    pub(crate) multiline: bool,
    /// Only the names of files with a match
    #[arg(short = 'l', long, conflicts_with = "count")]
    pub(crate) files_with_matches: bool,
    /// Only how many lines match in each file
    #[arg(short, long)]
    pub(crate) count: bool,
    /// Lines shown after each match
    #[arg(short = 'A', long, value_name = "N")]
    pub(crate) after_context: Option<u16>,
    /// Lines shown before each match
    #[arg(short = 'B', long, value_name = "N")]
    pub(crate) before_context: Option<u16>,
    /// Lines shown before and after each match
    #[arg(short = 'C', long, value_name = "N")]
    pub(crate) context: Option<u16>,
    /// Only files of this kind, by ripgrep's names: rust, py
    #[arg(short = 't', long = "type", id = "type", value_name = "TYPE")]
    pub(crate) types: Vec<String>,
    /// No files of this kind
    #[arg(short = 'T', long = "type-not", id = "type-not", value_name = "TYPE")]
    pub(crate) types_not: Vec<String>,
    /// Only these files, as in .gitignore: '*.ts', 'src/**'; '!*.min.js' leaves out
    #[arg(short = 'g', long = "glob", id = "glob", value_name = "GLOB")]
    pub(crate) globs: Vec<String>,
    /// Also hidden files
    #[arg(long)]
    pub(crate) hidden: bool,
    /// Also git-ignored files
    #[arg(long)]
    pub(crate) no_ignore: bool,
    /// Show at most so many matches, of all files together
    #[arg(short, long, value_name = "N", default_value_t = 5_000, value_parser = at_least_one)]
    pub(crate) max_count: usize,
}
