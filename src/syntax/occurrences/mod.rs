//! Occurrences of a name in texts, and their meaning by the syntax trees.
//!
//! [`name_occurrence`] is the subject at a position, [`occurrence_use`] its use there, and
//! [`occurrence_sense`] decides which occurrences match. [`references`] and [`implementations`]
//! answer without a server. The others check a server's answer: [`further_occurrences`] outside the
//! files that it listed, [`conditional_code`] that it may not read, [`calls_within`] a function,
//! and [`unrenamed_text`] after a rename.

pub(crate) mod calls_within;
pub(crate) mod conditional_code;
pub(crate) mod further_occurrences;
pub(crate) mod implementations;
pub(crate) mod name_occurrence;
pub(crate) mod occurrence_sense;
pub(crate) mod occurrence_use;
pub(crate) mod references;
pub(crate) mod unrenamed_text;
