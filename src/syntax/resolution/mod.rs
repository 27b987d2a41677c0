//! Resolution of a name by scopes, imports, types and members, and the ranked candidates.
//!
//! [`candidates`] takes a position or a name. [`source`] parses a file to its definitions, scopes
//! and imports ([`extract`], [`definition`], [`imports`]) for a [`project`], the files of one
//! question. [`resolve`] follows the name through scopes and [`modules`], [`members`] through
//! [`types`], with rules for [`javascript`]. If that finds nothing, [`by_name`] ranks all
//! definitions of the name.
//!
//! [`in_file`] stays within one file, [`importers`] finds the files that import one, and
//! [`literal`] reads values of a Python module.

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
