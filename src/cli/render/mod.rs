//! How answers look.
//!
//! What lives here: one file per kind of answer, each a pure function from the answer and a [`Look`] to text; and what
//! they share: [`escape`] (nothing from files, names or servers reaches a terminal unescaped), [`source`] (source lines
//! as they are shown), [`markdown`], [`table`], [`tree`]. May use: `text`, and the shapes of answers of `tools`. Nothing
//! here reads files or writes anywhere: source lines come through a function that the caller gives.

pub mod completion;
pub mod copilot;
pub mod daemon;
pub mod diagnostics;
pub mod doctor;
pub mod edits;
pub mod escape;
pub mod files;
pub mod frames;
pub mod github;
pub mod grep;
pub mod hierarchy;
pub mod hover;
pub mod install;
pub mod json;
pub mod locations;
pub mod look;
pub mod markdown;
pub mod merge;
pub mod mounted;
pub mod sarif;
pub mod servers;
pub mod session;
pub mod signature;
pub mod source;
pub mod symbols;
pub mod table;
pub mod tools;
pub mod tree;
pub mod trust;
pub mod verdict;

pub use look::Look;
