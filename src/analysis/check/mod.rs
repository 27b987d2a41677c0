//! Checks of files by their servers, or by syntax trees if there is none.
//!
//! [`checked_files`] expands folders to files, without [`left_out_files`], and has them opened in
//! batches ([`opened_ahead`]). [`file_check`] asks all servers of a file at once, and the syntax
//! tree if there are none; the result is a [`file_report`] with its verdict. [`stored_reports`]
//! come from an earlier check of an equal tree, by the [`answer_store`]; [`shared_exchange`] sends
//! and fetches them. [`notebook_check`] has the exceptions for notebooks, [`server_silence`] those
//! for servers that answer for no file, and [`files_with_server`] the files that a server could
//! check.

pub(crate) mod answer_store;
pub(crate) mod checked_files;
pub(crate) mod file_check;
pub(crate) mod file_report;
pub(crate) mod files_with_server;
pub(crate) mod left_out_files;
pub(crate) mod notebook_check;
mod opened_ahead;
mod server_silence;
pub(crate) mod shared_exchange;
pub(crate) mod stored_reports;
