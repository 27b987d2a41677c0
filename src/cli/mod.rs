//! The door for people and scripts: commands, and answers on a terminal.
//!
//! What lives here: the command line ([`args`], [`span`]), the wiring of each command to the runtime, exit statuses
//! ([`exit`]), and the looks of answers ([`render`]). May use: everything below, through the runtime; no tool logic.
//!
//! Way of a command: `args` → an address becomes a [`Target`](crate::tools::target::Target) → the runtime answers →
//! `render` turns the answer into text → stdout; whatever is not the answer (how far to rely on it, hints, progress,
//! logs) goes to stderr → `exit` turns the answer into the process's status.

pub(crate) mod approval;
pub(crate) mod args;
mod commands;
mod console;
mod doors;
pub(crate) mod exit;
mod form;
mod host_hook;
mod input;
mod logging;
mod panics;
mod paths;
mod progress;
mod remote;
pub(crate) mod render;
pub(crate) mod reply;
mod run;
mod signals;
pub(crate) mod span;
mod trust_question;

pub use run::main;
