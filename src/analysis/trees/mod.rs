//! Comparison of git trees: broken users, changed interfaces, merges, turns of agents.
//!
//! [`git_access`] opens the repository of a folder for [`changes`], which compares two of its
//! trees, and for [`turn_edits`], which compare the work tree with an earlier state of it.

pub(crate) mod changes;
pub(crate) mod git_access;
pub(crate) mod turn_edits;
