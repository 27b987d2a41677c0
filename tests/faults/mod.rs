//! Language servers that misbehave, through the library as an embedder uses it: whatever a server does, an answer comes in
//! bounded time, is about the text that is on disk, and says how far to rely on it.
//!
//! The server is the scripted one; what it does is in each test's scenario, what it got is in its log.

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
