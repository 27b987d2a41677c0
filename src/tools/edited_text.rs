//! The texts of a file before and after an edit.

use crate::workspace::WorkspacePath;

/// A file before and after an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EditedText {
    /// The file; where it is renamed, its new name.
    pub path: WorkspacePath,
    /// Its name before, where that is another.
    pub renamed_from: Option<WorkspacePath>,
    /// Its text before; `None` where there was no such file.
    pub before: Option<String>,
    /// Its text after; `None` where it is deleted.
    pub after: Option<String>,
}
