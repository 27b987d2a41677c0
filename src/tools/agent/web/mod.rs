//! Requests to other machines over HTTP.
//!
//! The module contains the check of addresses ([`guard`]), one request with its limits ([`http`]),
//! and the conversion of a page to text ([`page`]). It may use the errors of `analysis`, and knows
//! no tool and no settings.
//!
//! A URL and the hosts that are excepted from the guard come in; bytes with their type come out,
//! then text.

pub(crate) mod guard;
pub(crate) mod http;
pub(crate) mod page;
