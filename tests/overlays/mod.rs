//! Unsaved texts of several clients over the same files: each client is answered about its own texts, whoever reads the disk is
//! answered about the disk, and no answer ever mixes.

mod edits;
mod mixing;
mod private;
pub mod stage;
