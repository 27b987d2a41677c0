//! cli commands checks TODO.

pub(crate) mod check;
pub(crate) mod check_changes;
pub(crate) mod check_report;
pub(crate) mod tests_reaching;
