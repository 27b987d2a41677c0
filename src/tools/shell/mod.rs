//! The common parts of `bash`, `bash_output` and `bash_kill`.
//!
//! What lives here: what a command may touch and is given ([`room`]), the caches that it has of its own
//! ([`caches`]), one running command ([`run`]), its output, bounded ([`ring`]) and made into text ([`text`]), and all commands of a
//! runtime, with their owner ([`shells`]). May use what tools may; starts processes through `process` alone.
//!
//! How data passes: a [`room::PreparedCommand`] is made of the settings and the command line; [`shells::ShellCommands::start`] makes a
//! [`run::CommandRun`] of it, whose task reads the command's streams into two rings, ends it at its deadline or when nobody
//! wants it any more, and says how it ended. What is taken from a ring becomes text, and the tool's answer.

pub(crate) mod aftermath;
pub(crate) mod caches;
pub(crate) mod ring;
pub(crate) mod room;
pub(crate) mod run;
pub(crate) mod shells;
pub(crate) mod text;

pub(crate) use shells::ShellCommands;
