//! Tools that read, list and search files.
//!
//! None starts a language server: [`match_marks`] asks only those that run. [`file_kind`] and
//! [`notebook`] show files that are not plain text.

pub(crate) mod file_kind;
pub(crate) mod find_test_files;
pub(crate) mod glob;
pub(crate) mod grep;
pub(crate) mod list;
pub(crate) mod match_marks;
pub(crate) mod notebook;
pub(crate) mod read;
