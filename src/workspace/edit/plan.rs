//! Edit plans: operations on paths, each with its precondition.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::disk::inspect::FileMetadata;
use crate::workspace::WorkspacePath;

/// The SHA-256 of a file's bytes, including a byte order mark. Shown and parsed as 64 hexadecimal
/// digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct ContentHash([u8; 32]);

/// The error for a text that is no [`ContentHash`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a content hash; give the 64 hexadecimal digits of a SHA-256")]
pub(crate) struct NotAHash(String);

/// The caller's expectation about the path of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathPrecondition {
    /// No object, so that nothing is overwritten.
    Absent,
    /// A file with exactly this content: the one the change was made from.
    Hash(ContentHash),
    /// Any state; if nothing is there, writing creates the file.
    Any,
}

/// A list of changes that happen together or not at all, in the order of their addition: each
/// operation sees the result of those before it. Nothing is touched before the plan is committed.
#[derive(Debug, Clone)]
pub(crate) struct EditPlan {
    pub(super) title: String,
    pub(super) group: Option<String>,
    /// Allows changes of control paths that the plan names itself.
    pub(super) by_owner: bool,
    pub(super) operations: Vec<PlanOperation>,
    pub(super) undoes: Vec<super::EditId>,
}

#[derive(Debug, Clone)]
pub(super) enum PlanOperation {
    Write {
        path: WorkspacePath,
        content: Arc<[u8]>,
        expected: PathPrecondition,
        mode: ModeChange,
    },
    Delete {
        path: WorkspacePath,
        expected: PathPrecondition,
        recursive: bool,
    },
    Rename {
        from: WorkspacePath,
        to: WorkspacePath,
        expected: PathPrecondition,
        overwrite: bool,
    },
    CreateDir {
        path: WorkspacePath,
        mode: Option<u32>,
    },
    /// Restores a file that an earlier transaction removed, with its attributes.
    Restore {
        path: WorkspacePath,
        content: Arc<[u8]>,
        metadata: FileMetadata,
    },
    /// Restores a symbolic link.
    RestoreLink {
        path: WorkspacePath,
        target: Vec<u8>,
    },
    /// Removes a folder if it is empty after all other steps.
    Prune {
        path: WorkspacePath,
    },
}

/// The change of a written file's permission bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ModeChange {
    Keep,
    Executable(bool),
    Exactly(u32),
}

impl EditPlan {
    /// Creates an empty plan. `title` names its origin in the history, such as the name of the
    /// tool.
    pub(crate) fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), group: None, by_owner: false, operations: Vec::new(), undoes: Vec::new() }
    }

    /// Marks the plan as ordered by the owner of the workspace at a shell. It may then change
    /// control paths, but only by their own names, not through a link.
    #[must_use]
    pub(crate) fn by_owner(self) -> Self {
        Self { by_owner: true, ..self }
    }

    /// Makes the plan a part of `group`: all transactions of one group can be undone together.
    #[must_use]
    pub(crate) fn in_group(mut self, group: Option<&str>) -> Self {
        self.group = group.map(str::to_owned);
        self
    }

    /// Writes exactly these bytes to the file at `path`; missing folders are created.
    ///
    /// A symbolic link is followed inside the workspace, and stays a link. An existing file keeps
    /// its mode, owner (if the system allows it) and extended attributes; a new one gets the
    /// defaults of the user's umask.
    pub(crate) fn write(
        &mut self,
        path: &WorkspacePath,
        content: impl Into<Vec<u8>>,
        expected: PathPrecondition,
    ) -> &mut Self {
        self.write_with_mode(path, content, expected, None)
    }

    /// Like [`write`](Self::write), and also makes the file executable, or not, for those who may
    /// read it.
    pub(crate) fn write_with_mode(
        &mut self,
        path: &WorkspacePath,
        content: impl Into<Vec<u8>>,
        expected: PathPrecondition,
        executable: Option<bool>,
    ) -> &mut Self {
        let content = Arc::from(content.into());
        let mode = executable.map_or(ModeChange::Keep, ModeChange::Executable);
        self.push(PlanOperation::Write { path: path.clone(), content, expected, mode })
    }

    /// Deletes the file, the symbolic link itself, or the empty folder at `path`.
    /// [`PathPrecondition::Hash`] is for files only.
    pub(crate) fn delete(&mut self, path: &WorkspacePath, expected: PathPrecondition) -> &mut Self {
        self.push(PlanOperation::Delete { path: path.clone(), expected, recursive: false })
    }

    /// Like [`delete`](Self::delete) with [`PathPrecondition::Any`], and deletes a folder with all
    /// its content.
    pub(crate) fn delete_tree(&mut self, path: &WorkspacePath) -> &mut Self {
        let expected = PathPrecondition::Any;
        self.push(PlanOperation::Delete { path: path.clone(), expected, recursive: true })
    }

    /// Moves the file, the symbolic link itself, or the folder at `from` to `to`; missing folders
    /// above `to` are created. `expected` is about `from`. A file or link at `to` is replaced only
    /// with `overwrite`, a folder never.
    pub(crate) fn rename(
        &mut self,
        from: &WorkspacePath,
        to: &WorkspacePath,
        expected: PathPrecondition,
        overwrite: bool,
    ) -> &mut Self {
        self.push(PlanOperation::Rename { from: from.clone(), to: to.clone(), expected, overwrite })
    }

    /// Creates a folder at `path`, and those above it; an existing one is kept.
    pub(crate) fn create_dir(&mut self, path: &WorkspacePath) -> &mut Self {
        self.push(PlanOperation::CreateDir { path: path.clone(), mode: None })
    }

    /// Returns every path that an operation names, as it was given, in order; a rename names two.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &WorkspacePath> {
        self.operations.iter().flat_map(|operation| match operation {
            PlanOperation::Rename { from, to, .. } => vec![from, to],
            PlanOperation::Write { path, .. }
            | PlanOperation::Delete { path, .. }
            | PlanOperation::CreateDir { path, .. }
            | PlanOperation::Restore { path, .. }
            | PlanOperation::RestoreLink { path, .. }
            | PlanOperation::Prune { path } => vec![path],
        })
    }

    /// Returns every moved path with its target, and every deleted path; a folder among them
    /// includes all its content.
    pub(crate) fn moved_and_deleted(&self) -> impl Iterator<Item = (&WorkspacePath, Option<&WorkspacePath>)> {
        self.operations.iter().filter_map(|operation| match operation {
            PlanOperation::Rename { from, to, .. } => Some((from, Some(to))),
            PlanOperation::Delete { path, recursive: true, .. } => Some((path, None)),
            _ => None,
        })
    }

    pub(super) fn push(&mut self, operation: PlanOperation) -> &mut Self {
        self.operations.push(operation);
        self
    }
}

impl ContentHash {
    /// The hash of `bytes`.
    pub(crate) fn compute(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Returns the hash of a file that contains `text`, after a byte order mark if `bom`.
    pub(crate) fn of_text(text: &str, bom: bool) -> Self {
        let mut hasher = Sha256::new();
        if bom {
            hasher.update(super::text::BOM);
        }
        hasher.update(text.as_bytes());
        Self(hasher.finalize().into())
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentHash({self})")
    }
}

impl FromStr for ContentHash {
    type Err = NotAHash;

    fn from_str(text: &str) -> Result<Self, NotAHash> {
        let bytes = crate::text::hexadecimal::from_hex(text).ok_or_else(|| NotAHash(text.to_owned()))?;
        bytes.try_into().map(Self).map_err(|_| NotAHash(text.to_owned()))
    }
}

impl TryFrom<String> for ContentHash {
    type Error = NotAHash;

    fn try_from(text: String) -> Result<Self, NotAHash> {
        text.parse()
    }
}

impl From<ContentHash> for String {
    fn from(hash: ContentHash) -> String {
        hash.to_string()
    }
}
