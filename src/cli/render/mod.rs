//! Rendering of answers, one file per kind.
//!
//! Each file has pure functions from an answer and [`DisplayCapabilities`] to text. They share
//! [`terminal`]: escapes (nothing from files, names or servers reaches a terminal unescaped),
//! source lines, Markdown, tables and trees. [`reports`] has the formats of CI systems, and
//! [`setup`] servers, hosts and doors. May use: the types of answers, wherever they are. Nothing
//! here reads or writes files: source lines come through a function passed by the caller.

pub(crate) mod changes;
pub(crate) mod completion;
pub(crate) mod diagnostics;
pub(crate) mod edits;
pub(crate) mod explore;
pub(crate) mod files;
pub(crate) mod grep;
pub(crate) mod hierarchy;
pub(crate) mod host_hook;
pub(crate) mod hover;
pub(crate) mod locations;
pub(crate) mod reached_tests;
pub(crate) mod reports;
pub(crate) mod setup;
pub(crate) mod signature;
pub(crate) mod symbols;
pub(crate) mod terminal;
pub(crate) mod verdict;

pub(crate) use self::terminal::display::DisplayCapabilities;
