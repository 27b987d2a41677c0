//! Tests that reach a change, and the commands that run them.
//!
//! [`test_reach`] walks from changed code over its users to tests; [`test_runs`] finds the commands
//! of the project that run these tests.

pub(crate) mod test_reach;
pub(crate) mod test_runs;
