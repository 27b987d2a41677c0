//! Names of symbols: search, outlines, definitions with their extent, enclosing symbols.
//!
//! [`symbol_search`] finds symbols of the workspace by name, [`outline`] those of a file, and
//! [`definition`] the extent of one. [`enclosing_symbol`] names the function around each place of
//! an answer, with the help of an [`outline_cache`]. [`hidden_definitions`] withholds text about
//! names whose files a rule hides.

pub(crate) mod definition;
pub(crate) mod enclosing_symbol;
pub(crate) mod hidden_definitions;
pub(crate) mod outline;
pub(crate) mod outline_cache;
pub(crate) mod symbol_search;
