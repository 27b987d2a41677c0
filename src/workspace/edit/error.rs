//! Errors of edits, and the conflict between a plan and the disk. If one of these errors is
//! returned, nothing was changed, unless the variant says otherwise.

use std::fmt;

use super::{ContentHash, EditId};
use crate::workspace::WorkspacePath;

/// The reasons why a plan was not carried out. Paths are relative to the workspace and printable.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EditError {
    /// A file has changed since the change was prepared.
    #[error("{}; nothing was changed; read it again and repeat the change", ConflictList(.0, "it was read"))]
    Conflict(Vec<Conflict>),
    /// A file to restore has changed since the transaction.
    #[error("{}; nothing was undone; change it manually, or undo the later edit first", ConflictList(.0, "that edit"))]
    UndoConflict(Vec<Conflict>),
    /// The path does not exist.
    #[error("`{path}` does not exist; give the path of an existing file")]
    NotFound {
        /// The path.
        path: String,
    },
    /// The path exists already.
    #[error("`{path}` exists already; delete it first, choose another name, or ask to overwrite it")]
    Exists {
        /// The path.
        path: String,
    },
    /// The path decides permissions or running programs, and is not changed by tools.
    #[error("`{path}` is not edited: {why}; a person can change it in an editor or a shell of their own")]
    Control {
        /// The path as it was given.
        path: String,
        /// The reason for the refusal.
        why: &'static str,
    },
    /// A symbolic link on the way leads elsewhere.
    #[error(
        "`{path}` leads out of the workspace through a symbolic link; only what lies inside can be edited"
    )]
    Outside {
        /// The path.
        path: String,
    },
    /// Symbolic links on the way lead in a circle.
    #[error("`{path}` cannot be followed: its symbolic links form a loop; remove or correct one of them")]
    LinkLoop {
        /// The path.
        path: String,
    },
    /// A part of the path is a file instead of a folder.
    #[error(
        "a part of the path `{path}` is a file, not a folder; choose another path or move that file away"
    )]
    NotADirectory {
        /// The path.
        path: String,
    },
    /// The path is a folder.
    #[error("`{path}` is a folder; give a file in it")]
    Directory {
        /// The path.
        path: String,
    },
    /// The folder is not empty.
    #[error(
        "the folder `{path}` is not empty; delete what is in it first, or ask to delete it with its content"
    )]
    NotEmpty {
        /// The path.
        path: String,
    },
    /// The path is neither a file, nor a folder, nor a link.
    #[error("`{path}` is {kind}, not a regular file, and is never edited")]
    Special {
        /// The path.
        path: String,
        /// The kind of the object, with its article.
        kind: &'static str,
    },
    /// The file has more than one name.
    #[error(
        "`{path}` has {names} names (hard links), and replacing it would detach it from the others; make it a separate file first: cp -p FILE COPY && mv COPY FILE"
    )]
    HardLinked {
        /// The path.
        path: String,
        /// The number of names.
        names: u64,
    },
    /// The transaction exceeds the limit of bytes or files.
    #[error("{what} of `{path}` would be {size}, more than the limit of {limit}; {advice}")]
    TooLarge {
        /// The path.
        path: String,
        /// The part that is too large.
        what: &'static str,
        /// The size, in the unit of `limit`.
        size: u64,
        /// The limit, in bytes or a number of files.
        limit: u64,
        /// The remedy.
        advice: &'static str,
    },
    /// The plan contradicts itself.
    #[error("the edit of `{path}` cannot be applied: {why}")]
    Contradiction {
        /// The path.
        path: String,
        /// The contradiction.
        why: &'static str,
    },
    /// The user may not change it.
    #[error(
        "`{path}` may not be changed: permission denied; change its mode or owner, or those of its folder"
    )]
    Denied {
        /// The path.
        path: String,
    },
    /// No space, or no quota, is left.
    #[error(
        "there is no space left on the device of `{path}`; nothing was changed; free some space and try again"
    )]
    NoSpace {
        /// The path.
        path: String,
    },
    /// A part of the path was exchanged while it was inspected or changed.
    #[error(
        "`{path}` was moved or replaced by another program at the same time; nothing was changed; read it again and repeat the change"
    )]
    Moved {
        /// The path.
        path: String,
    },
    /// The system refused otherwise; everything is as it was.
    #[error("`{path}` cannot be changed: {source}")]
    Io {
        /// The path.
        path: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The journal, which keeps the old contents for undo, cannot be read or written; nothing is
    /// changed then.
    #[error(
        "the edit journal cannot be written: cannot {action} `{file}` in the state folder: {reason}; nothing was changed; set LSP_TOOLS_STATE_DIR to another folder"
    )]
    Journal {
        /// The attempted action.
        action: &'static str,
        /// The file, without its folders.
        file: String,
        /// The error of the operating system, or of the parser.
        reason: String,
    },
    /// Another transaction on this workspace has not ended.
    #[error("another edit of this workspace has been running for {seconds} s; try again when it has ended")]
    Busy {
        /// The waiting time.
        seconds: u64,
    },
    /// A step failed and the steps before it could not be reversed at once. The journal keeps the
    /// information, and the reversal is repeated before the next edit.
    #[error(
        "`{path}` cannot be changed ({reason}), and not everything could be restored ({obstacle}); the restore is repeated before the next edit"
    )]
    Unfinished {
        /// The path of the failed step.
        path: String,
        /// The failure.
        reason: String,
        /// The obstacle to restoring it.
        obstacle: String,
    },
    /// The history does not have the transaction, or no longer.
    #[error(
        "there is no edit {id} in the history of this workspace; `undo` with `list` (at a shell: `undo --list`) lists them"
    )]
    UnknownEdit {
        /// The transaction.
        id: EditId,
    },
    /// The transaction has been undone already.
    #[error("{id} was already undone by {by}; undo {by} to restore it")]
    AlreadyUndone {
        /// The transaction.
        id: EditId,
        /// The transaction that undid it.
        by: EditId,
    },
    /// There is nothing to undo.
    #[error("there is nothing to undo{}", match .group { Some(group) => format!(" in the group `{group}`"), None => String::new() })]
    NothingToUndo {
        /// The group of the request.
        group: Option<String>,
    },
}

/// One path that is not as expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Conflict {
    /// The path.
    pub path: WorkspacePath,
    /// The expected state.
    pub(crate) expected: ConflictExpectation,
    /// The state found.
    pub found: ConflictFinding,
}

/// The expected state of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConflictExpectation {
    /// No object.
    Absent,
    /// A file with this content.
    Content(ContentHash),
    /// The state a moment before.
    Unchanged,
}

/// The state of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ConflictFinding {
    /// No object.
    Absent,
    /// A file.
    File {
        /// The hash of its content.
        hash: ContentHash,
        /// Its text, without a byte order mark, if it is UTF-8 text.
        text: Option<String>,
    },
    /// A folder, a link, or a file that changes during the inspection.
    Other,
}

/// The conflicts of a message, with the moment of the expected state.
struct ConflictList<'a>(&'a [Conflict], &'static str);

/// The maximum number of conflicts in a message.
const MAX_REPORTED_CONFLICTS: usize = 5;

impl fmt::Display for ConflictList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, conflict) in self.0.iter().take(MAX_REPORTED_CONFLICTS).enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}`{}` {}", conflict.path.display(), conflict.state_text())?;
            if matches!(conflict.found, ConflictFinding::File { .. })
                && conflict.expected != ConflictExpectation::Absent
            {
                write!(f, " since {}", self.1)?;
            }
        }
        match self.0.len().saturating_sub(MAX_REPORTED_CONFLICTS) {
            0 => Ok(()),
            more => write!(f, ", and {more} more do not match"),
        }
    }
}

impl Conflict {
    fn state_text(&self) -> &'static str {
        match (&self.expected, &self.found) {
            (ConflictExpectation::Absent, _) => "exists already",
            (_, ConflictFinding::Absent) => "is gone",
            (_, ConflictFinding::File { .. }) => "has changed",
            (_, ConflictFinding::Other) => "was replaced by another file",
        }
    }
}
