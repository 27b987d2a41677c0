//! Configuration of the hosts that start us.
//!
//! What lives here: which file each host reads and what stands in it ([`host`]), its hooks that ask us ([`host_hooks`]) and its
//! instructions that name our tools ([`instructions`]), changing such a file and keeping the rest of it ([`entry`], [`edit`], [`yaml`], [`list`]), putting
//! it in the place of the old one ([`mod@file`]), records of what was there ([`record`]), a check that the entry works ([`mod@handshake`]), and which hosts there are ([`mod@survey`]). May use: `config`, `text`, `tools`. Reads and writes only the files that it names: it is a command that
//! their owner types, and no tool.
//!
//! How data passes: a [`HostSetupRequest`] comes in, an [`InitFileChange`] goes out: the file, its text before and after, and the difference. Nothing
//! is written before someone calls [`write_changes`].

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

use crate::tools::error::{ErrorCode, ToolError};

/// A configuration cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InitError {
    /// The host has no such thing.
    #[error("{0}")]
    Unsupported(String),
    /// The file says something that cannot be understood, so it cannot be kept.
    #[error("`{file}` cannot be read as {format}: {reason}")]
    Unreadable {
        /// The file.
        file: String,
        /// What it should be.
        format: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// There is an entry of that name, and it is another one.
    #[error("`{file}` has another `{entry}` already; ours would add:\n{difference}")]
    Other {
        /// The file.
        file: String,
        /// The entry's place in it.
        entry: String,
        /// The lines that ours would add.
        difference: String,
    },
    /// The file system refused.
    #[error("`{file}` cannot be {action}: {reason}")]
    Io {
        /// The file.
        file: String,
        /// What was tried.
        action: &'static str,
        /// What the system said.
        reason: String,
    },
    /// It leads out of the project.
    #[error("`{0}` leads out of the project, whose own file it should be")]
    Outside(String),
    /// Somebody changed it in between.
    #[error("`{0}` was changed while this was worked out")]
    Changed(String),
}

impl From<InitError> for ToolError {
    fn from(error: InitError) -> Self {
        let (code, hint) = match &error {
            InitError::Unsupported(_) => (ErrorCode::Unsupported, None),
            InitError::Unreadable { .. } => {
                (ErrorCode::InvalidArgs, Some("mend the file, or put in by hand what --print shows"))
            }
            InitError::Other { .. } => (ErrorCode::Conflict, Some("--force puts ours in its place")),
            InitError::Io { .. } => (ErrorCode::Internal, None),
            InitError::Outside(_) => (ErrorCode::OutsideWorkspace, Some("put in by hand what --print shows")),
            InitError::Changed(_) => (ErrorCode::Conflict, Some("try again")),
        };
        let told = Self::new(code, error.to_string());
        hint.map_or(told.clone(), |hint| told.with_hint(hint))
    }
}
