//! The documents outside the workspace that a server has open, and those that an editor has.

use std::collections::BTreeMap;

use crate::text::Buffer;

/// A document that is no file of the workspace, as an editor has it. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct OutsideDocument {
    /// Its URI as the editor writes it.
    pub(crate) uri: String,
    /// LSP `languageId`, as the editor gave it.
    pub(crate) language_id: String,
    /// The editor's text.
    pub(crate) text: Buffer,
}

/// Those that a server has open, by URI: the version and the text that it was given last.
#[derive(Debug, Default)]
pub(crate) struct OpenOutsideDocuments(pub(super) BTreeMap<String, (i32, Buffer)>);
