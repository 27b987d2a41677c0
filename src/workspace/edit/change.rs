//! The changes that a transaction made, as tools show them and language servers are told of them.

use std::fmt;
use std::str::FromStr;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::ContentHash;
use crate::workspace::WorkspacePath;

/// The name of one transaction in the history of its workspace: `e1`, `e2`, …; never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct EditId(pub(super) u64);

/// A text that should be an [`EditId`] and is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the id of an edit; ids look like e17, and the history lists them")]
pub(crate) struct NotAnId(String);

impl fmt::Display for EditId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "e{}", self.0)
    }
}

impl FromStr for EditId {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let digits = text.strip_prefix('e').unwrap_or(text);
        let digits = digits.bytes().all(|byte| byte.is_ascii_digit()).then_some(digits);
        digits.and_then(|digits| digits.parse().ok()).map(Self).ok_or_else(|| NotAnId(text.to_owned()))
    }
}

/// A transaction that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommittedTransaction {
    /// Under which it can be undone; `None` where everything was already as planned, so that nothing was touched.
    pub id: Option<EditId>,
    /// Each file, link and moved folder that is different now, by path.
    pub files: Vec<FileChange>,
    /// The folders that were made, the missing ones above a new file among them, outermost first.
    pub created_dirs: Vec<WorkspacePath>,
    /// The folders that are gone: those of a deleted tree.
    pub removed_dirs: Vec<WorkspacePath>,
}

/// What became of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileChange {
    /// Where it is now, or was; with symbolic links on the way resolved.
    pub path: WorkspacePath,
    /// What happened to it.
    pub operation: FileOperation,
    /// What it is.
    pub kind: ChangedEntryKind,
    /// Of its content before; `None` for what was not there, for folders and links, and for a renamed file that is
    /// larger than the limit of one file.
    pub before_hash: Option<ContentHash>,
    /// Of its content now, likewise.
    pub after_hash: Option<ContentHash>,
    /// Its text before, without a byte order mark; `None` where it was not there or is not UTF-8 text.
    pub before: Option<String>,
    /// Its text now, likewise.
    pub after: Option<String>,
}

/// What happened to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FileOperation {
    /// It was not there.
    Created,
    /// Its content or its mode is another one.
    Modified,
    /// It is gone.
    Deleted,
    /// It has another path, and perhaps another content as well.
    Renamed {
        /// Where it was.
        from: WorkspacePath,
    },
}

impl FileOperation {
    /// `created`, `modified`, `deleted` or `renamed`, as answers have it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Modified => "modified",
            Self::Deleted => "deleted",
            Self::Renamed { .. } => "renamed",
        }
    }

    /// The former path of a renamed file.
    pub(crate) fn renamed_from(&self) -> Option<&WorkspacePath> {
        match self {
            Self::Renamed { from } => Some(from),
            Self::Created | Self::Modified | Self::Deleted => None,
        }
    }
}

/// What has been changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChangedEntryKind {
    /// A regular file.
    File,
    /// A symbolic link itself, not what it leads to.
    Link,
    /// A folder with all that is in it.
    Directory,
}

/// A transaction of the past.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HistoryEntry {
    /// Its name.
    pub id: EditId,
    /// What it was, such as the name of the tool.
    pub(crate) title: String,
    /// The group it belongs to.
    pub group: Option<String>,
    /// When it was committed.
    pub(crate) time: SystemTime,
    /// What it changed: path and operation of each file. Texts are not in the history.
    pub(crate) files: Vec<(WorkspacePath, FileOperation)>,
    /// The transactions that this one took back.
    pub undoes: Vec<EditId>,
    /// The transaction that took this one back, where that has not been taken back itself.
    pub(crate) undone_by: Option<EditId>,
}

/// What was left behind by a process that died in the middle of a transaction, and was put in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecoveredTransaction {
    /// The transaction.
    pub(crate) id: EditId,
    /// Whether it was brought to its end; otherwise everything is as it was before.
    pub finished: bool,
    /// What somebody else had changed in the meantime and was therefore left alone.
    pub left_alone: Vec<WorkspacePath>,
}
