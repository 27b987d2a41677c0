//! The editor front end with real editors: headless Neovim, Helix in a terminal, and a test client
//! that sends every request of editors.

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
