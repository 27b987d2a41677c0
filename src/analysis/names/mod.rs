//! Names of symbols: search, outlines, definitions with their extent, enclosing symbols.

pub(crate) mod definition;
pub(crate) mod enclosing_symbol;
pub(crate) mod hidden_definitions;
pub(crate) mod outline;
pub(crate) mod outline_cache;
pub(crate) mod symbol_search;
