//! The common parts of `bash`, `bash_output` and `bash_kill`.
//!
//! What lives here: what a command may touch and is given ([`prepared_command`]), the caches that it has of its own
//! ([`caches`]), one running command ([`run`]), its output, bounded ([`ring`]) and made into text ([`text`]), and all commands of a
//! runtime, with their owner ([`commands`]). May use what tools may; starts processes through `process` alone.
//!
//! How data passes: a [`prepared_command::PreparedCommand`] is made of the settings and the command line; [`commands::ShellCommands::start`] makes a
//! [`run::CommandRun`] of it, whose task reads the command's streams into two rings, ends it at its deadline or when nobody
//! wants it any more, and says how it ended. What is taken from a ring becomes text, and the tool's answer.

pub(crate) mod caches;
pub(crate) mod command_baseline;
pub(crate) mod commands;
pub(crate) mod prepared_command;
pub(crate) mod ring;
pub(crate) mod run;
pub(crate) mod text;

pub(crate) use commands::ShellCommands;
