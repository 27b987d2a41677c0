//! The common parts of `bash`, `bash_output` and `bash_kill`.
//!
//! The module contains the preparation of a command with its sandbox and environment
//! ([`prepared_command`]), the caches for commands ([`caches`]), one running command ([`run`]), its
//! bounded output ([`ring`]) and the conversion to text ([`text`]), and all commands of a runtime,
//! with their owner ([`commands`]). It may use the same modules as tools, and starts processes only
//! through `process`.
//!
//! A [`prepared_command::PreparedCommand`] is made from the settings and the command line.
//! [`commands::ShellCommands::start`] makes a [`run::CommandRun`] of it. Its task reads the
//! command's streams into two rings, ends it at its deadline or on request, and reports its end.
//! The content of a ring is decoded to text for the tool's answer.

pub(crate) mod bash;
pub(crate) mod bash_kill;
pub(crate) mod bash_output;
pub(crate) mod caches;
pub(crate) mod command_baseline;
pub(crate) mod commands;
pub(crate) mod prepared_command;
pub(crate) mod ring;
pub(crate) mod run;
pub(crate) mod run_tests;
pub(crate) mod text;

pub(crate) use commands::ShellCommands;
