//! The door for people and scripts: commands, and answers on a terminal.
//!
//! Contents: the command line ([`args`], [`span`]), the connection of each command to the runtime,
//! exit statuses ([`exit`]), and the rendering of answers ([`render`]). It has no tool logic. May
//! use: everything below, through the runtime.
//!
//! Data flow of a command: `args` → an address becomes a
//! [`Target`](crate::analysis::target::Target) → the runtime answers → `render` turns the answer
//! into text → stdout. Everything else (verdicts, hints, progress, logs) goes to stderr. `exit`
//! turns the answer into the process's status.

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
