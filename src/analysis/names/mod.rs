//! analysis names TODO.

pub(crate) mod definition;
pub(crate) mod enclosing_symbol;
pub(crate) mod hidden_definitions;
pub(crate) mod outline;
pub(crate) mod outline_cache;
pub(crate) mod symbol_search;
