//! The daemon, through the program: shared by all clients, never required, ending without remains.
//!
//! - [`house`]: a project whose commands use its own daemon
//! - [`program`]: hosts and editors on standard streams
//! - [`start`], [`end`]: its start and its end
//! - [`parity`]: commands have the same output with and without it
//! - [`settings`]: it follows the settings
//! - [`search_path`]: a PATH that leads into the workspace
//! - [`sharing`]: hosts, editors and the shell at the same time
//! - [`together`]: two agents, an editor and a shell on two languages, with real servers
//! - [`hostile`]: other clients of its socket
//! - [`copilot`]: both Copilot front ends, whose calls it executes
//! - [`chaos`]: random kills of all processes

mod chaos;
mod copilot;
mod end;
mod hostile;
pub mod house;
mod parity;
pub mod program;
mod search_path;
mod settings;
mod sharing;
mod start;
mod together;
mod trusting;
mod waiting;
