//! The daemon, through the program as people call it: one for everyone, never in the way, and nothing left when it goes.
//!
//! - [`house`]: a project whose commands use a daemon of its own
//! - [`program`]: hosts and editors on standard streams
//! - [`start`], [`end`]: how it comes and goes
//! - [`parity`]: commands answer the same with and without it
//! - [`settings`]: it follows the settings
//! - [`search_path`]: a PATH that leads into the workspace
//! - [`sharing`]: hosts, editors and the shell at the same time
//! - [`together`]: two agents, an editor and a shell on two languages, with real servers
//! - [`hostile`]: whoever else connects
//! - [`copilot`]: both Copilot doors, whose calls it carries out
//! - [`chaos`]: everything killed at random

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
