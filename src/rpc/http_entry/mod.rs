//! The checks that every HTTP server of the crate makes before it answers a request.
//!
//! They cover the request's addresses ([`guard`]), its token ([`token`]), the process at the other
//! end ([`peer`]), and the number of open connections ([`connection_slots`]).

pub(crate) mod connection_slots;
pub(crate) mod guard;
pub(crate) mod peer;
pub(crate) mod token;
