//! The client of the Copilot language server. It is tested with a scripted server modelled on the
//! real one, and with the real one as far as possible without signing in.

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
