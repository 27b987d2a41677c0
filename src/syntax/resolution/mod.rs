//! Resolution of a name by scopes, imports, types and members, and the ranked candidates.

pub(crate) mod by_name;
pub(crate) mod candidates;
pub(crate) mod definition;
pub(crate) mod extract;
pub(crate) mod importers;
pub(crate) mod imports;
pub(crate) mod in_file;
pub(crate) mod javascript;
pub(crate) mod literal;
pub(crate) mod members;
pub(crate) mod modules;
pub(crate) mod project;
pub(crate) mod resolve;
pub(crate) mod source;
pub(crate) mod types;
