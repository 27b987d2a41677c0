//! The editor door, as editors use it: a real headless Neovim, Helix in a terminal, and a client of our own that asks for everything an editor can
//! ask for.

mod asking;
mod bad_input;
mod client;
mod elsewhere;
mod helix;
mod merging;
mod news;
mod nvim;
mod passing;
mod sharing;
mod textual;
