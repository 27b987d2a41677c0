//! The documents that the editor has open: its overlays, and how it spells them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::lsp::model::FileRef;
use crate::lsp::relay::{Speaker, Spelled};
use crate::lsp::uri;
use crate::runtime::overlays::Overlays;
use crate::text::{Buffer, Change, EncodedPosition, EncodedRange, Encoding};
use crate::workspace::{Workspace, WorkspacePath};

/// The editor's open documents. Those outside the workspace are not kept.
#[derive(Debug)]
pub struct Desk {
    workspace: Workspace,
    documents: Mutex<BTreeMap<WorkspacePath, Document>>,
    /// Their texts, as clients of the runtime see them.
    pub overlays: Arc<Overlays>,
}

#[derive(Debug)]
struct Document {
    uri: String,
    version: i64,
    text: Buffer,
}

impl Desk {
    /// Nothing is open yet.
    pub fn new(workspace: Workspace) -> Self {
        Self { workspace, documents: Mutex::default(), overlays: Arc::default() }
    }

    fn documents(&self) -> MutexGuard<'_, BTreeMap<WorkspacePath, Document>> {
        // Nothing is left half done under this lock, so a panicking holder has not broken it.
        self.documents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The file of the workspace that a URI means.
    pub fn path(&self, uri: &str) -> Option<WorkspacePath> {
        match uri::file_ref(&self.workspace, uri) {
            FileRef::Inside(path) => Some(path),
            FileRef::Outside(_) | FileRef::Virtual(_) => None,
        }
    }

    /// LSP 3.17 *DidOpenTextDocument*.
    pub fn open(&self, params: &Value) -> Option<WorkspacePath> {
        let document = &params["textDocument"];
        let (uri, text) = (document["uri"].as_str()?, document["text"].as_str()?);
        let path = self.path(uri)?;
        let version = document["version"].as_i64().unwrap_or_default();
        let opened = Document { uri: uri.to_owned(), version, text: Buffer::new(text) };
        self.documents().insert(path.clone(), opened);
        self.overlays.set(path.clone(), text.into());
        Some(path)
    }

    /// LSP 3.17 *DidChangeTextDocument*: each change is of the text as the one before has left it.
    pub fn change(&self, params: &Value, encoding: Encoding) -> Option<WorkspacePath> {
        let path = self.path(params["textDocument"]["uri"].as_str()?)?;
        let mut documents = self.documents();
        let document = documents.get_mut(&path)?;
        for change in params["contentChanges"].as_array()? {
            let Some(text) = change["text"].as_str() else { continue };
            match range(&change["range"], encoding) {
                Some(range) => {
                    let range = document.text.decode_range(range);
                    document.text.apply(&Change { range, text: text.to_owned() });
                }
                None => document.text = Buffer::new(text),
            }
        }
        document.version = params["textDocument"]["version"].as_i64().unwrap_or(document.version + 1);
        self.overlays.set(path.clone(), document.text.to_string().into());
        Some(path)
    }

    /// LSP 3.17 *DidCloseTextDocument*. Returns its URI as the editor writes it.
    pub fn close(&self, params: &Value) -> Option<(WorkspacePath, String)> {
        let path = self.path(params["textDocument"]["uri"].as_str()?)?;
        let closed = self.documents().remove(&path)?;
        self.overlays.remove(&path);
        Some((path, closed.uri))
    }

    /// How the editor speaks of what it has open now.
    pub fn speaker(&self, encoding: Encoding) -> Speaker {
        let documents = self.documents();
        let spelled = documents.iter().map(|(path, document)| {
            (path.clone(), Spelled { uri: document.uri.clone(), version: document.version })
        });
        Speaker { encoding, documents: spelled.collect() }
    }

    /// The first line of a document, for telling its language.
    pub fn is_open(&self, path: &WorkspacePath) -> bool {
        self.documents().contains_key(path)
    }
}

fn range(value: &Value, encoding: Encoding) -> Option<EncodedRange> {
    let position = |value: &Value| {
        let line = u32::try_from(value["line"].as_u64()?).ok()?;
        let unit = u32::try_from(value["character"].as_u64()?).ok()?;
        Some(EncodedPosition { line, unit, encoding })
    };
    Some(EncodedRange { start: position(&value["start"])?, end: position(&value["end"])? })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn changes_follow_each_other_and_count_columns_as_the_editor_does() {
        let temp = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(temp.path()).unwrap();
        let path = workspace.path("a.py".as_ref()).unwrap();
        let uri = uri::from_path(&workspace.absolute(&path));
        let desk = Desk::new(workspace.clone());
        desk.open(&json!({"textDocument": {"uri": uri, "version": 1, "text": "s = '🦀'\nt = s\n"}}));
        let at = |line, character| json!({"line": line, "character": character});
        let change = |start, end, text| json!({"range": {"start": start, "end": end}, "text": text});
        // The crab is two units of UTF-16.
        let changes = [change(at(0, 5), at(0, 7), "x"), change(at(0, 6), at(0, 6), "y")];
        let params = json!({"textDocument": {"uri": uri, "version": 7}, "contentChanges": changes});
        assert_eq!(desk.change(&params, Encoding::Utf16).as_ref(), Some(&path));
        let view = desk.overlays.view(&workspace);
        assert_eq!(&*view.unsaved(&path).unwrap().text, "s = 'xy'\nt = s\n");
        assert_eq!(desk.speaker(Encoding::Utf16).documents[&path].version, 7);
        assert_eq!(desk.open(&json!({"textDocument": {"uri": "file:///elsewhere.py", "text": ""}})), None);
        assert!(desk.close(&json!({"textDocument": {"uri": uri}})).is_some());
        assert!(desk.overlays.view(&workspace).is_disk());
    }
}
