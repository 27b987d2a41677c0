//! Rendering of answers, one file per kind.
//!
//! Contents: one file per kind of answer, each a pure function from the answer and a
//! [`DisplayCapabilities`] to text. They share [`escape`] (nothing from files, names or servers
//! reaches a terminal unescaped), [`source`] (source lines for display), [`markdown`], [`table`],
//! [`tree`]. May use: `text`, and the answer types of `tools`. Nothing here reads or writes files:
//! source lines come through a function passed by the caller.

pub(crate) mod changes;
pub(crate) mod completion;
pub(crate) mod copilot;
pub(crate) mod daemon;
pub(crate) mod diagnostics;
pub(crate) mod display;
pub(crate) mod doctor;
pub(crate) mod edits;
pub(crate) mod escape;
pub(crate) mod explore;
pub(crate) mod files;
pub(crate) mod frames;
pub(crate) mod github;
pub(crate) mod gitlab;
pub(crate) mod grep;
pub(crate) mod hierarchy;
pub(crate) mod host_hook;
pub(crate) mod hosts;
pub(crate) mod hover;
pub(crate) mod install;
pub(crate) mod install_list;
pub(crate) mod json;
pub(crate) mod junit;
pub(crate) mod locations;
pub(crate) mod markdown;
pub(crate) mod mounted;
pub(crate) mod reached_tests;
pub(crate) mod report;
pub(crate) mod sarif;
pub(crate) mod servers;
pub(crate) mod session;
pub(crate) mod signature;
pub(crate) mod source;
pub(crate) mod symbols;
pub(crate) mod table;
pub(crate) mod tools;
pub(crate) mod tree;
pub(crate) mod trust;
pub(crate) mod verdict;

pub(crate) use display::DisplayCapabilities;
