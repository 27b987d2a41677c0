//! Language servers that misbehave, through the library as an embedder uses it. For any behaviour,
//! an answer comes in bounded time, is about the text on disk, and states its reliability.
//!
//! The server is the scripted one; each test's scenario sets its behaviour, and its log has the
//! messages that it received.

mod answering;
mod background_check;
mod crashes;
mod diagnostics;
mod endings;
mod freshness;
mod play;
mod readiness;
mod sessions;
mod starting;
mod wire;
