//! The documents outside the workspace that a server has open, and those that an editor has.

use std::collections::BTreeMap;

use crate::text::Buffer;

/// An editor's document outside the workspace. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct OutsideDocument {
    /// Its URI as the editor writes it.
    pub(crate) uri: String,
    /// LSP `languageId`, as set by the editor.
    pub(crate) language_id: String,
    /// The editor's text.
    pub(crate) text: Buffer,
}

/// The documents that a server has open, by URI: the version and the text that were sent last.
#[derive(Debug, Default)]
pub(crate) struct OpenOutsideDocuments(pub(super) BTreeMap<String, (i32, Buffer)>);
