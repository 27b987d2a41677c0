//! Requests to other machines over HTTP.
//!
//! What lives here: which addresses may be asked at all ([`guard`]), one request with its limits ([`http`]), and a page as
//! text ([`page`]). May use: `error`. Knows no tool and no settings.
//!
//! How data passes: a URL and the hosts that are excepted from the guard come in; bytes with their type come out, then text.

pub(crate) mod guard;
pub(crate) mod http;
pub(crate) mod page;
