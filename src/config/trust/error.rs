//! Errors of reading and writing trust.

use std::io;
use std::path::Path;
use std::time::Duration;

/// The maximum time for which another process may hold the lock; a change takes milliseconds.
pub(super) const TRUST_LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// The reasons why trust cannot be read or recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TrustError {
    /// The store exists and cannot be parsed.
    #[error(
        "the trust store `{file}` is damaged ({reason}); nothing is trusted until you repair it, or delete it and trust each project again with `lsp-tools trust`"
    )]
    Damaged {
        /// The store.
        file: String,
        /// The fault.
        reason: String,
    },
    /// Other users can write it.
    #[error("`{path}` is writable by other users, so its content is not trusted; run: chmod go-w '{path}'")]
    Open {
        /// The store or its folder.
        path: String,
    },
    /// The file or folder belongs to another user.
    #[error(
        "`{path}` belongs to another user, so its content is not trusted; set LSP_TOOLS_STATE_DIR to a folder of your own"
    )]
    Foreign {
        /// The store or its folder.
        path: String,
    },
    /// Another process holds the lock.
    #[error(
        "`{lock}` has been held by another process for {} s, so nothing was changed; end the process that holds it (`lslocks`), or delete the file, and try again",
        TRUST_LOCK_TIMEOUT.as_secs()
    )]
    Busy {
        /// The lock's file.
        lock: String,
    },
    /// The file system refused.
    #[error("cannot {action} `{path}`: {reason}")]
    Io {
        /// The attempted action.
        action: &'static str,
        /// The path concerned.
        path: String,
        /// The error of the operating system.
        reason: String,
    },
    /// The path has no exact spelling in the store.
    #[error("`{0}` is not UTF-8 and cannot be trusted; rename the folder or the file")]
    NotUtf8(String),
    /// The project's path leads to another folder than the one that was opened.
    #[error(
        "`{path}` now leads to `{now}`, so the trust decision does not apply; start again there, or restore the folder"
    )]
    Moved {
        /// The project's path.
        path: String,
        /// The present target of the path.
        now: String,
    },
    /// Its commands are too long to be checked.
    #[error(
        "the commands of the project's settings and hooks may name more than {most} files, the limit; shorten them"
    )]
    TooManyNames {
        /// The most files that they may name.
        most: usize,
    },
    /// A program to be trusted with a project is not part of it.
    #[error("`{0}` is outside the project, so trust in the project does not cover it")]
    Outside(String),
}

impl TrustError {
    pub(crate) fn io(action: &'static str, path: &Path, error: &io::Error) -> Self {
        Self::Io { action, path: path.display().to_string(), reason: error.to_string() }
    }
}
