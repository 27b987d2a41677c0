//! The address argument of commands about a place in the code.

use std::ffi::OsString;

use clap::{Args, ValueHint};

/// The address argument.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct AddressArgs {
    /// FILE:LINE:COL, FILE:LINE:NAME, FILE:NAME or NAME, counted from 1
    #[arg(value_name = "ADDRESS", value_hint = ValueHint::FilePath)]
    pub(crate) address: OsString,
}
