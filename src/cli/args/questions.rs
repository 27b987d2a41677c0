//! The arguments of commands that query a symbol.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::at::AddressArgs;
use super::values::{at_least_one, levels};

/// A place to ask about, and how much to show.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct LimitedAddressArgs {
    /// Where.
    #[command(flatten)]
    pub(crate) at: AddressArgs,
    /// Show at most so many
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = at_least_one)]
    pub(crate) limit: usize,
}

/// `explore`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct ExploreCommandArgs {
    /// Where.
    #[command(flatten)]
    pub(crate) at: AddressArgs,
    /// Tokens the answer may take, about three bytes each
    #[arg(long, value_name = "N", default_value_t = 4_000)]
    pub(crate) budget: usize,
    /// List what is in this file or folder alone; may be given several times
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) only: Vec<PathBuf>,
}

/// `symbols`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct SymbolsCommandArgs {
    /// A file for its outline, or a name to look for in the workspace
    #[arg(value_name = "FILE|NAME", value_hint = ValueHint::FilePath)]
    pub(crate) address: OsString,
    /// Show at most so many
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = at_least_one)]
    pub(crate) limit: usize,
    /// Show local variables too
    #[arg(long)]
    pub(crate) all: bool,
}

/// `calls`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct CallsCommandArgs {
    /// Where.
    #[command(flatten)]
    pub(crate) at: AddressArgs,
    /// Who calls it (default)
    #[arg(long, conflicts_with = "outgoing")]
    pub(crate) incoming: bool,
    /// What it calls
    #[arg(long)]
    pub(crate) outgoing: bool,
    /// How many levels
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = levels)]
    pub(crate) depth: usize,
}

/// `types`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct TypesCommandArgs {
    /// Where.
    #[command(flatten)]
    pub(crate) at: AddressArgs,
    /// What it is derived from (default)
    #[arg(long = "super", id = "super", conflicts_with = "sub")]
    pub(crate) supertypes: bool,
    /// What is derived from it
    #[arg(long = "sub", id = "sub")]
    pub(crate) subtypes: bool,
    /// How many levels
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = levels)]
    pub(crate) depth: usize,
}

/// `completion`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct CompletionCommandArgs {
    /// Where.
    #[command(flatten)]
    pub(crate) at: AddressArgs,
    /// Show at most so many
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = at_least_one)]
    pub(crate) limit: usize,
}
