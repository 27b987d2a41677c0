//! The texts of a file before and after an edit.

use crate::workspace::WorkspacePath;

/// A file before and after an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EditedText {
    /// The file, under its new name if it is renamed.
    pub path: WorkspacePath,
    /// The name before a rename.
    pub renamed_from: Option<WorkspacePath>,
    /// The text before; `None` if the file did not exist.
    pub before: Option<String>,
    /// The text after; `None` if the file is deleted.
    pub after: Option<String>,
}
