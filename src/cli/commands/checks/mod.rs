//! Commands that check files, changes and tests.

pub(crate) mod answer_store;
pub(crate) mod check;
pub(crate) mod check_changes;
pub(crate) mod check_report;
pub(crate) mod code_index;
pub(crate) mod tests_reaching;
