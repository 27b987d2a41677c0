//! Comparison of git trees: broken users, changed interfaces, merges.
//!
//! [`git_access`] opens the repository of a folder for [`changes`], which compares two of its
//! trees.

pub(crate) mod changes;
pub(crate) mod git_access;
