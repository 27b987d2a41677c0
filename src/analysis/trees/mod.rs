//! Comparison of git trees: broken users, changed interfaces, merges.

pub(crate) mod changes;
pub(crate) mod git_access;
