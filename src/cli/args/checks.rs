//! The arguments of `check` and `tests`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Subcommand, ValueEnum, ValueHint};

use super::output_format::CliOutputFormat;
use super::values::at_least_one;
use crate::lsp::model::Severity;

/// `check`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct CheckCommandArgs {
    /// Files and folders [default: the whole workspace]
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,
    /// Omit less severe findings
    #[arg(long, value_enum, value_name = "SEVERITY")]
    pub(crate) severity: Option<SeverityName>,
    /// Maximum number of findings [default: all]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) limit: Option<usize>,
    /// Only findings that the difference between this commit and the work tree adds, anywhere; also
    /// A..B, or A... for the point where the branch left A
    #[arg(long, value_name = "REF", conflicts_with = "paths")]
    pub(crate) against: Option<String>,
    /// Compare with the index, not with the work tree [default of --against: HEAD]
    #[arg(long, visible_alias = "staged", conflicts_with_all = ["paths", "merge_branches"])]
    pub(crate) index: bool,
    /// Only findings that a merge of these branches adds and no branch has alone; --against is
    /// their base
    #[arg(long, value_name = "BRANCH", num_args = 2.., conflicts_with = "paths")]
    pub(crate) merge_branches: Vec<String>,
    /// Let servers run code of other branches, as in a trusted project (build scripts, macros);
    /// needs `lsp-tools trust`
    #[arg(long)]
    pub(crate) trust_trees: bool,
    /// The index that git names to commit hooks, in the process where the command was typed.
    #[arg(skip)]
    pub(crate) index_file: Option<PathBuf>,
    /// Ask the servers, not the answer store
    #[arg(long)]
    pub(crate) no_store: bool,
    /// Also write a report to a file, in sarif, github, gitlab or junit; may be given several times
    #[arg(long, value_name = "FORMAT=FILE", value_hint = ValueHint::FilePath)]
    pub(crate) report: Vec<ReportFile>,
}

/// `index`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct IndexCommandArgs {
    /// The format, SCIP: definitions, references and hovers
    #[arg(long, required = true)]
    pub(crate) scip: bool,
    /// The index [default: index.scip in the workspace]
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
}

/// The commands of the answer store.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum StoreCommand {
    /// Show the folder, size and age of the answer store
    Status,
    /// Create the keys of a writer of the shared store
    Key {
        /// The name of the writer, which readers see
        name: String,
    },
    /// Fetch the findings for the workspace from the shared store
    Pull,
    /// Sign the stored findings for the workspace, and write them to the shared store
    ///
    /// LSP_TOOLS_STORE_KEY has the secret key.
    Push,
    /// Remove all stored answers
    Forget,
}

/// A file for a report of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReportFile {
    /// The format: one that only `check` supports.
    pub(crate) format: CliOutputFormat,
    /// The file, relative to the current folder.
    pub(crate) file: PathBuf,
}

impl FromStr for ReportFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = text.split_once('=').filter(|(_, file)| !file.is_empty());
        let read = named.and_then(|(format, file)| {
            let format = CliOutputFormat::from_str(format, true).ok()?;
            format.is_for_findings().then(|| Self { format, file: file.into() })
        });
        read.ok_or_else(|| "give FORMAT=FILE with sarif, github, gitlab or junit".to_owned())
    }
}

/// `tests`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct TestsCommandArgs {
    /// With --against: only changes in these files and folders; without it: a symbol, as
    /// FILE:LINE:COL, FILE:NAME or NAME
    #[arg(value_name = "PATH|ADDRESS", value_hint = ValueHint::AnyPath, required_unless_present = "against")]
    pub(crate) subjects: Vec<OsString>,
    /// Compare the work tree with this commit, or with the point where the branch left REF
    /// (`REF...`)
    #[arg(long, value_name = "REF")]
    pub(crate) against: Option<String>,
    /// Run the tests
    #[arg(long)]
    pub(crate) run: bool,
    /// Maximum number of tests [default: 200, fewer for long names]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) limit: Option<usize>,
}

/// The name of a severity on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SeverityName {
    /// Errors only
    Error,
    /// Errors and warnings
    Warning,
    /// All but hints
    #[value(alias = "info")]
    Information,
    /// Everything
    Hint,
}

impl From<SeverityName> for Severity {
    fn from(name: SeverityName) -> Self {
        match name {
            SeverityName::Error => Self::Error,
            SeverityName::Warning => Self::Warning,
            SeverityName::Information => Self::Information,
            SeverityName::Hint => Self::Hint,
        }
    }
}
