//! analysis reach TODO.

pub(crate) mod test_reach;
pub(crate) mod test_runs;
