//! Conclusions that neither a server nor the text gives alone: checks, uses, breakage, reach.
//!
//! [`context`] has the inputs of every question: the workspace, the settings, the servers and the
//! caller's view. [`ask`] sends one question about one place; [`names`] and [`uses`] ask all
//! servers that may know a name; [`check`] and [`breakage`] collect diagnostics; [`reach`] and
//! [`trees`] follow a change. Each returns an [`answer`] of [`items`] with a verdict, which every
//! [`doubt`] lowers, or an [`error`].
//!
//! May use: everything up to `syntax`. It depends on no tool or entry point: `tools` turns
//! arguments into these calls, and `policy` supplies the rules on paths ([`path_limits`]).

pub mod answer;
pub(crate) mod ask;
pub(crate) mod background;
pub(crate) mod breakage;
pub(crate) mod check;
pub(crate) mod code_index;
pub(crate) mod confinement;
pub(crate) mod context;
pub(crate) mod doubt;
pub(crate) mod error;
pub(crate) mod install_outcome;
pub(crate) mod items;
pub(crate) mod names;
pub(crate) mod path_limits;
pub(crate) mod reach;
pub(crate) mod state_files;
pub(crate) mod target;
pub(crate) mod trees;
pub(crate) mod uses;
