//! What every door over HTTP does before it answers a request.
//!
//! It checks where the request was sent ([`guard`]) and what it brings ([`token`]), finds the process at the other end ([`peer`]), and bounds
//! how many connections are open ([`connection_slots`]).

pub(crate) mod connection_slots;
pub(crate) mod guard;
pub(crate) mod peer;
pub(crate) mod token;
