//! The conventions of an editor: its encoding of columns, its capabilities, and the names of its
//! documents.

use std::collections::BTreeMap;

use crate::text::Encoding;
use crate::workspace::WorkspacePath;

/// The conventions of an editor for texts.
#[derive(Debug, Clone)]
pub(crate) struct EditorConventions {
    /// The encoding in which it counts columns.
    pub(crate) encoding: Encoding,
    /// True if it takes snippets in completions.
    pub(crate) takes_snippets: bool,
    /// The documents that it has open.
    pub(crate) documents: BTreeMap<WorkspacePath, VersionedDocument>,
}

/// A document that an editor has open.
#[derive(Debug, Clone)]
pub(crate) struct VersionedDocument {
    /// Its URI as the editor writes it.
    pub(crate) uri: String,
    /// Its version there.
    pub(crate) version: i64,
}
