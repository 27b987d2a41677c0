//! The arguments of commands that query a symbol.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::at::AddressArgs;
use super::values::{at_least_one, levels};

/// An address and a limit.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct LimitedAddressArgs {
    /// The address.
    #[command(flatten)]
    pub(crate) at: AddressArgs,
    /// Maximum number of results
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = at_least_one)]
    pub(crate) limit: usize,
}

/// `explore`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct ExploreCommandArgs {
    /// The address.
    #[command(flatten)]
    pub(crate) at: AddressArgs,
    /// The size of the answer in tokens of about three bytes
    #[arg(long, value_name = "N", default_value_t = 4_000)]
    pub(crate) budget: usize,
    /// Only places in this file or folder; may be repeated
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) only: Vec<PathBuf>,
}

/// `symbols`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct SymbolsCommandArgs {
    /// A file for its outline, or a name to find in the workspace
    #[arg(value_name = "FILE|NAME", value_hint = ValueHint::FilePath)]
    pub(crate) address: OsString,
    /// Maximum number of symbols
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = at_least_one)]
    pub(crate) limit: usize,
    /// Include local variables
    #[arg(long)]
    pub(crate) all: bool,
}

/// `calls`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct CallsCommandArgs {
    /// The address.
    #[command(flatten)]
    pub(crate) at: AddressArgs,
    /// Show callers (default)
    #[arg(long, conflicts_with = "outgoing")]
    pub(crate) incoming: bool,
    /// Show callees
    #[arg(long)]
    pub(crate) outgoing: bool,
    /// Number of levels
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = levels)]
    pub(crate) depth: usize,
}

/// `types`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct TypesCommandArgs {
    /// The address.
    #[command(flatten)]
    pub(crate) at: AddressArgs,
    /// Show supertypes (default)
    #[arg(long = "super", id = "super", conflicts_with = "sub")]
    pub(crate) supertypes: bool,
    /// Show subtypes
    #[arg(long = "sub", id = "sub")]
    pub(crate) subtypes: bool,
    /// Number of levels
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = levels)]
    pub(crate) depth: usize,
}

/// `completion`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct CompletionCommandArgs {
    /// The address.
    #[command(flatten)]
    pub(crate) at: AddressArgs,
    /// Maximum number of completions
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = at_least_one)]
    pub(crate) limit: usize,
}
