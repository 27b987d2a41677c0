//! Configuration of the hosts that start us.
//!
//! - [`host`]: the file and entry of each host
//! - [`host_hooks`]: its hooks that call us; [`instructions`]: its instructions that name our tools
//! - [`entry`], [`edit`], [`yaml`], [`list`]: changes of such a file that preserve the rest of it;
//!   [`mod@file`]: the write
//! - [`record`]: the previous content
//! - [`mod@handshake`]: the check that the entry works
//! - [`mod@survey`]: the detection of installed hosts
//!
//! May use: `tools` and below. Reads and writes only the files that it names: it is a command typed
//! by their owner, not a tool.
//!
//! Data flow: a [`HostSetupRequest`] becomes an [`InitFileChange`], with the file, its text before
//! and after, and the difference. Nothing is written before the call of [`write_changes`].

mod edit;
mod entry;
mod file;
mod handshake;
mod host;
mod host_hooks;
mod instructions;
mod list;
mod record;
mod survey;
mod yaml;

pub(crate) use file::{InitFileChange, write_changes};
pub(crate) use handshake::handshake;
pub(crate) use host::{
    HostDirectories, HostScope, HostSetupRequest, McpHost, configure, entry_file, unconfigure,
};
pub(crate) use host_hooks::hook_changes;
pub(crate) use instructions::instruct;
pub(crate) use record::InitRecords;
pub(crate) use survey::{HostSurvey, survey};

use crate::analysis::error::{ErrorCode, ToolError};

/// Reasons why a configuration cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InitError {
    /// The host does not support the request.
    #[error("{0}")]
    Unsupported(String),
    /// The file cannot be parsed, so its content cannot be preserved.
    #[error("`{file}` cannot be read as {format}: {reason}")]
    Unreadable {
        /// The file.
        file: String,
        /// The expected format.
        format: &'static str,
        /// The parse error.
        reason: String,
    },
    /// An entry of our name exists with another value.
    #[error("`{file}` already has a different `{entry}`; the new entry would change:\n{difference}")]
    Other {
        /// The file.
        file: String,
        /// The path of the entry in the file.
        entry: String,
        /// The lines that our entry would add.
        difference: String,
    },
    /// A file system operation failed.
    #[error("`{file}` cannot be {action}: {reason}")]
    Io {
        /// The file.
        file: String,
        /// The operation.
        action: &'static str,
        /// The system's error.
        reason: String,
    },
    /// The path leads out of the project.
    #[error("`{0}` leads out of the project")]
    Outside(String),
    /// The file was changed meanwhile.
    #[error("`{0}` changed during the command")]
    Changed(String),
}

impl From<InitError> for ToolError {
    fn from(error: InitError) -> Self {
        let (code, hint) = match &error {
            InitError::Unsupported(_) => (ErrorCode::Unsupported, None),
            InitError::Unreadable { .. } => {
                (ErrorCode::InvalidArgs, Some("correct the file, or add the output of --print manually"))
            }
            InitError::Other { .. } => (ErrorCode::Conflict, Some("--force replaces it")),
            InitError::Io { .. } => (ErrorCode::Internal, None),
            InitError::Outside(_) => {
                (ErrorCode::OutsideWorkspace, Some("add the output of --print manually"))
            }
            InitError::Changed(_) => (ErrorCode::Conflict, Some("try again")),
        };
        let failure = Self::new(code, error.to_string());
        hint.map_or(failure.clone(), |hint| failure.with_hint(hint))
    }
}
