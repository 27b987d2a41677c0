//! What every door over HTTP does before it answers a request: it checks where the request was sent and what it brings, finds the process at
//! the other end, and bounds how many connections are open.

pub(crate) mod connection_slots;
pub(crate) mod guard;
pub(crate) mod peer;
pub(crate) mod token;
