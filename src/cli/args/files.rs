//! Arguments of the commands that read files.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::values::at_least_one;

/// The commands that read files.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum FileReadingCommand {
    /// Show the lines of a file, or its outline
    #[command(after_help = "Examples:\n  lsp-tools read src/app.py             the whole file\n  \
                            lsp-tools read -n src/app.py:10-20    some lines, numbered\n  \
                            lsp-tools read --outline src/app.py   its definitions")]
    Read(ReadCommandArgs),
    /// List a folder
    #[command(after_help = "Example: lsp-tools list src")]
    List(ListCommandArgs),
    /// Find files by a pattern, except git-ignored and hidden ones
    #[command(after_help = "Example: lsp-tools glob 'src/**/*.{ts,tsx}'\n\n\
                            Exit status: 0 some found, 1 none.")]
    Glob(GlobCommandArgs),
    /// Find lines that match a pattern, like ripgrep
    #[command(after_help = "Examples:\n  lsp-tools grep 'fn \\w+_error' src\n  \
                            lsp-tools grep -F -w greet -t py -C 2\n\n\
                            Exit status: 0 some found, 1 none.")]
    Grep(GrepCommandArgs),
}

/// `read`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct ReadCommandArgs {
    /// A file, or lines of it: one (:12), a range (:12-20), or all from a line (:12-)
    #[arg(value_name = "FILE[:LINE[-LINE]]", value_hint = ValueHint::FilePath)]
    pub(crate) file: OsString,
    /// Show its definitions with their lines instead
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
    /// List everything below, except hidden and git-ignored files
    #[arg(short, long)]
    pub(crate) recursive: bool,
    /// Maximum number of entries
    #[arg(long, value_name = "N", default_value_t = 5_000, value_parser = at_least_one)]
    pub(crate) limit: usize,
}

/// `glob`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct GlobCommandArgs {
    /// A pattern relative to the current folder: `*` matches within one name, `**/` any folders
    pub(crate) pattern: String,
    /// Sort by time, newest first
    #[arg(long)]
    pub(crate) newest: bool,
    /// Include hidden files
    #[arg(long)]
    pub(crate) hidden: bool,
    /// Include git-ignored files
    #[arg(long)]
    pub(crate) no_ignore: bool,
    /// Maximum number of files
    #[arg(long, value_name = "N", default_value_t = 5_000, value_parser = at_least_one)]
    pub(crate) limit: usize,
}

/// `grep`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct GrepCommandArgs {
    /// A regular expression in Rust's syntax; may begin with a hyphen after `--`
    #[arg(required_unless_present = "regexp")]
    pub(crate) pattern: Option<String>,
    /// A file or folder [default: the current folder]
    #[arg(value_hint = ValueHint::AnyPath)]
    pub(crate) path: Option<PathBuf>,
    /// A pattern that may begin with a hyphen; may be repeated, a line matches if one of them does
    #[arg(short = 'e', long = "regexp", id = "regexp", value_name = "PATTERN", allow_hyphen_values = true)]
    pub(crate) patterns: Vec<String>,
    /// Accepted for compatibility; line numbers and file names are always shown
    #[arg(short = 'n', long, short_alias = 'H', alias = "with-filename", overrides_with = "line_number")]
    pub(crate) line_number: bool,
    /// Ignore case
    #[arg(short, long, conflicts_with = "smart_case")]
    pub(crate) ignore_case: bool,
    /// Ignore case unless the pattern has capitals
    #[arg(short = 'S', long)]
    pub(crate) smart_case: bool,
    /// Match only whole words
    #[arg(short = 'w', long)]
    pub(crate) word_regexp: bool,
    /// Treat the pattern as literal text
    #[arg(short = 'F', long)]
    pub(crate) fixed_strings: bool,
    /// Show the lines that do not match
    #[arg(long)]
    pub(crate) invert_match: bool,
    /// Let matches span lines
    #[arg(short = 'U', long)]
    pub(crate) multiline: bool,
    /// Show only the names of files with a match
    #[arg(short = 'l', long, conflicts_with = "count")]
    pub(crate) files_with_matches: bool,
    /// Show only the number of matching lines per file
    #[arg(short, long)]
    pub(crate) count: bool,
    /// Lines to show after each match
    #[arg(short = 'A', long, value_name = "N")]
    pub(crate) after_context: Option<u16>,
    /// Lines to show before each match
    #[arg(short = 'B', long, value_name = "N")]
    pub(crate) before_context: Option<u16>,
    /// Lines to show before and after each match
    #[arg(short = 'C', long, value_name = "N")]
    pub(crate) context: Option<u16>,
    /// Only files of this type, by ripgrep's names: rust, py
    #[arg(short = 't', long = "type", id = "type", value_name = "TYPE")]
    pub(crate) types: Vec<String>,
    /// Exclude files of this type
    #[arg(short = 'T', long = "type-not", id = "type-not", value_name = "TYPE")]
    pub(crate) types_not: Vec<String>,
    /// Only these files, in .gitignore syntax: '*.ts', 'src/**'; '!*.min.js' excludes
    #[arg(short = 'g', long = "glob", id = "glob", value_name = "GLOB")]
    pub(crate) globs: Vec<String>,
    /// Include hidden files
    #[arg(long)]
    pub(crate) hidden: bool,
    /// Include git-ignored files
    #[arg(long)]
    pub(crate) no_ignore: bool,
    /// Maximum number of matches in all files
    #[arg(short, long, value_name = "N", default_value_t = 5_000, value_parser = at_least_one)]
    pub(crate) max_count: usize,
}
