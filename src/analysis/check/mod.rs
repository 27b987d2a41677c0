//! Checks of files by their servers, or by syntax trees if there is none.

pub(crate) mod checked_files;
pub(crate) mod file_check;
pub(crate) mod file_report;
pub(crate) mod files_with_server;
pub(crate) mod left_out_files;
pub(crate) mod notebook_check;
pub(crate) mod shard;
