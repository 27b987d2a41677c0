//! The client of the Copilot language server: against a scripted server built to what was measured of the real one, and against
//! the real one, as far as that goes with nobody signed in.

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
