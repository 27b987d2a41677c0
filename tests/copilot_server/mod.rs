//! The client of the Copilot language server: against a scripted server that imitates measurements
//! of the real one, and against the real one as far as possible without signing in.

mod calls;
mod confirm;
mod documents;
mod greeting;
mod lists;
mod names;
mod real;
mod restarts;
mod signing;
mod stage;
mod turns;
