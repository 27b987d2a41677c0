//! Documentation of libraries: five bundled ones, and a service for the rest.
//!
//! What lives here: the bundled libraries by id and alias ([`bundled`]), the search through a text ([`search`]), and the
//! service ([`remote`]). The tools are `resolve_library_id` and `get_library_docs`. May use: `web`, the settings.
//!
//! How data passes: a name becomes an id (a bundled one, else what the service knows), an id and a question become text.

pub(crate) mod bundled;
pub(crate) mod remote;
pub(crate) mod search;

/// The most characters of one answer.
pub(crate) const MAX_LIBRARY_DOCS_CHARS: usize = 4_000;
