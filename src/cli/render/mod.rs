//! Rendering of answers, one file per kind.
//!
//! Contents: one file per kind of answer, each a pure function from the answer and a
//! [`DisplayCapabilities`] to text. They share [`escape`] (nothing from files, names or servers
//! reaches a terminal unescaped), [`source`] (source lines for display), [`markdown`], [`table`],
//! [`tree`]. May use: `text`, and the answer types of `tools`. Nothing here reads or writes files:
//! source lines come through a function passed by the caller.

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
