//! analysis TODO.

pub mod answer;
pub(crate) mod ask;
pub(crate) mod background;
pub(crate) mod breakage;
pub(crate) mod check;
pub(crate) mod context;
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
