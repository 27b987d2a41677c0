//! Occurrences of a name in texts, and their meaning by the syntax trees.

pub(crate) mod calls_within;
pub(crate) mod conditional_code;
pub(crate) mod further_occurrences;
pub(crate) mod implementations;
pub(crate) mod name_occurrence;
pub(crate) mod occurrence_sense;
pub(crate) mod occurrence_use;
pub(crate) mod references;
pub(crate) mod unrenamed_text;
