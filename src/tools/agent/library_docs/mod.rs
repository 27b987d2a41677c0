//! Documentation of libraries: five bundled ones, and a service for the rest.
//!
//! The module contains the bundled libraries by id and alias ([`bundled`]), the search in a text
//! ([`search`]), and the service ([`remote`]). The tools are `resolve_library_id` and
//! `get_library_docs`. It may use `web` and the settings.
//!
//! A name is resolved to an id (a bundled one, else one of the service), and an id and a query lead
//! to text.

pub(crate) mod bundled;
pub(crate) mod remote;
pub(crate) mod search;

/// The most characters of one answer.
pub(crate) const MAX_LIBRARY_DOCS_CHARS: usize = 4_000;
