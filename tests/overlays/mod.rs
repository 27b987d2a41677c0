//! Unsaved texts of several clients for the same files. Each client gets answers about its own
//! texts, other callers about the disk, and no answer mixes them.

mod edits;
mod mixing;
mod private;
pub mod stage;
