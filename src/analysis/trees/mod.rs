//! analysis trees TODO.

pub(crate) mod changes;
pub(crate) mod git_access;
