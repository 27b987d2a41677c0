//! The changes made by a transaction, in the form for tools and language servers.

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

/// The error for a text that is no [`EditId`].
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

/// A committed transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommittedTransaction {
    /// The id for an undo; `None` if everything was already as planned, so that nothing was
    /// touched.
    pub id: Option<EditId>,
    /// Each changed file, link and moved folder, by path.
    pub files: Vec<FileChange>,
    /// The created folders, including the missing ones above a new file, outermost first.
    pub created_dirs: Vec<WorkspacePath>,
    /// The removed folders: those of a deleted tree.
    pub removed_dirs: Vec<WorkspacePath>,
}

/// The change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileChange {
    /// The path of the file, or its former path if it was deleted; symbolic links in it are
    /// resolved.
    pub path: WorkspacePath,
    /// The operation on the file.
    pub operation: FileOperation,
    /// The kind of the entry.
    pub kind: ChangedEntryKind,
    /// The hash of its content before; `None` for a new file, for folders and links, and for a
    /// renamed file that is larger than the limit of one file.
    pub before_hash: Option<ContentHash>,
    /// The hash of its content now, likewise.
    pub after_hash: Option<ContentHash>,
    /// Its text before, without a byte order mark; `None` if it did not exist or is not UTF-8 text.
    pub before: Option<String>,
    /// Its text now, likewise.
    pub after: Option<String>,
}

/// The operation on a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FileOperation {
    /// The file was created.
    Created,
    /// The content or the mode of the file was changed.
    Modified,
    /// The file was deleted.
    Deleted,
    /// The file was renamed, and perhaps its content changed as well.
    Renamed {
        /// The former path.
        from: WorkspacePath,
    },
}

impl FileOperation {
    /// `created`, `modified`, `deleted` or `renamed`, as in answers.
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

/// The kind of a changed entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChangedEntryKind {
    /// A regular file.
    File,
    /// A symbolic link itself, not its target.
    Link,
    /// A folder with all its content.
    Directory,
}

/// A transaction of the past.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HistoryEntry {
    /// Its name.
    pub id: EditId,
    /// The origin of the edit, such as the name of the tool.
    pub(crate) title: String,
    /// The group it belongs to.
    pub group: Option<String>,
    /// When it was committed.
    pub(crate) time: SystemTime,
    /// The changed files: path and operation of each. Texts are not in the history.
    pub(crate) files: Vec<(WorkspacePath, FileOperation)>,
    /// The transactions that this one undid.
    pub undoes: Vec<EditId>,
    /// The transaction that undid this one, unless that has been undone itself.
    pub(crate) undone_by: Option<EditId>,
}

/// A transaction that was left unfinished by a process that died, and has been recovered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecoveredTransaction {
    /// The transaction.
    pub(crate) id: EditId,
    /// True if the transaction was completed; otherwise it was rolled back.
    pub finished: bool,
    /// The files that another program had changed in the meantime, and that were therefore left
    /// alone.
    pub left_alone: Vec<WorkspacePath>,
}
