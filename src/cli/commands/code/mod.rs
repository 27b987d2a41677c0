//! Commands that ask language servers about code.

pub(crate) mod calls;
pub(crate) mod completion;
pub(crate) mod explore;
pub(crate) mod hover;
pub(crate) mod locations;
pub(crate) mod signature;
pub(crate) mod symbols;
pub(crate) mod types;
