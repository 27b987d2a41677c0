//! Answers from a code index in SCIP, which an indexer wrote earlier, for places that no server
//! answers about.
//!
//! The index of a file is the nearest [`INDEX_FILE`] in its folder or above, in the workspace.
//! [`message`] has the format, [`index_reader`] reads one part of an index at a time, and
//! [`indexed_symbol`] finds the symbol at a place. Every place of an answer is compared with the
//! present text, because the index is as old as it is.

pub(crate) mod index_reader;
pub(crate) mod indexed_symbol;
pub(crate) mod message;

/// The name that indexers give their output.
pub(crate) const INDEX_FILE: &str = "index.scip";
