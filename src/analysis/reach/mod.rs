//! Tests that reach a change, and the commands that run them.

pub(crate) mod test_reach;
pub(crate) mod test_runs;
