//! The editor's open documents: overlays, URIs and versions.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value;

use crate::lsp::model::FileRef;
use crate::lsp::relay::{self, EditorConventions, OutsideDocument, VersionedDocument};
use crate::lsp::uri;
use crate::runtime::overlays::Overlays;
use crate::text::{Buffer, Encoding, TextChange};
use crate::workspace::{Workspace, WorkspacePath};

/// The editor's open documents.
#[derive(Debug)]
pub(super) struct EditorDocuments {
    workspace: Workspace,
    maps: Mutex<EditorDocumentMaps>,
    /// The texts of workspace files, as the runtime's clients see them.
    pub(crate) overlays: Arc<Overlays>,
}

#[derive(Debug, Default)]
struct EditorDocumentMaps {
    files: BTreeMap<WorkspacePath, EditorDocument>,
    /// Documents outside the workspace, by URI. A request keeps the map from the time of its
    /// arrival.
    outside: Arc<BTreeMap<String, EditorDocument>>,
}

#[derive(Debug, Clone)]
struct EditorDocument {
    uri: String,
    language_id: String,
    version: i64,
    text: Buffer,
}

/// A snapshot of the documents outside the workspace. Clones are cheap.
#[derive(Debug, Clone, Default)]
pub(super) struct OutsideEditorDocuments(Arc<BTreeMap<String, EditorDocument>>);

impl OutsideEditorDocuments {
    /// Returns the document with this URI.
    pub(super) fn get(&self, uri: &str) -> Option<OutsideDocument> {
        let EditorDocument { uri, language_id, text, .. } = self.0.get(uri)?.clone();
        Some(OutsideDocument { uri, language_id, text })
    }
}

/// An invalid change; the text stays unchanged.
#[derive(Debug, thiserror::Error)]
#[error("a change of {uri} was not applied, because {why}; close the document and open it again")]
pub(super) struct BadChange {
    uri: String,
    why: &'static str,
}

/// A closed document.
#[derive(Debug)]
pub(super) struct ClosedEditorDocument {
    /// The URI as spelled by the editor.
    pub(crate) uri: String,
    /// True if the document is a file of the workspace.
    pub(crate) inside: bool,
}

impl EditorDocuments {
    /// Creates an empty set of documents.
    pub(super) fn new(workspace: Workspace) -> Self {
        Self { workspace, maps: Mutex::default(), overlays: Arc::default() }
    }

    /// Returns the workspace file of a URI.
    pub(super) fn path(&self, uri: &str) -> Option<WorkspacePath> {
        match uri::file_ref(&self.workspace, uri) {
            FileRef::Inside(path) => Some(path),
            FileRef::Outside(_) | FileRef::Virtual(_) => None,
        }
    }

    /// LSP 3.17 *DidOpenTextDocument*. Returns the path if it is a file of the workspace.
    pub(super) fn open(&self, params: &Value) -> Option<WorkspacePath> {
        let document = &params["textDocument"];
        let (uri, text) = (document["uri"].as_str()?, document["text"].as_str()?);
        let opened = EditorDocument {
            uri: uri.to_owned(),
            language_id: document["languageId"].as_str().unwrap_or_default().to_owned(),
            version: document["version"].as_i64().unwrap_or_default(),
            text: Buffer::new(text),
        };
        let Some(path) = self.path(uri) else {
            Arc::make_mut(&mut self.maps.lock().outside).insert(uri.to_owned(), opened);
            return None;
        };
        self.overlays.set_buffer(path.clone(), opened.text.clone());
        self.maps.lock().files.insert(path.clone(), opened);
        Some(path)
    }

    /// LSP 3.17 *DidChangeTextDocument*: each change applies to the text left by the change before.
    /// Returns the path if it is a file of the workspace.
    ///
    /// # Errors
    /// One of the changes is invalid; then none of them is applied.
    pub(super) fn change(
        &self,
        params: &Value,
        encoding: Encoding,
    ) -> Result<Option<WorkspacePath>, BadChange> {
        let document = &params["textDocument"];
        let Some(uri) = document["uri"].as_str() else { return Ok(None) };
        let path = self.path(uri);
        let mut shelves = self.maps.lock();
        let known = match &path {
            Some(path) => shelves.files.get_mut(path),
            None => Arc::make_mut(&mut shelves.outside).get_mut(uri),
        };
        let Some(known) = known else { return Ok(None) };
        known.text = apply_changes(&known.text, &params["contentChanges"], encoding)
            .map_err(|why| BadChange { uri: uri.to_owned(), why })?;
        known.version = document["version"].as_i64().unwrap_or(known.version + 1);
        if let Some(path) = &path {
            self.overlays.set_buffer(path.clone(), known.text.clone());
        }
        Ok(path)
    }

    /// LSP 3.17 *DidCloseTextDocument*.
    pub(super) fn close(&self, params: &Value) -> Option<ClosedEditorDocument> {
        let uri = params["textDocument"]["uri"].as_str()?;
        let Some(path) = self.path(uri) else {
            let closed = Arc::make_mut(&mut self.maps.lock().outside).remove(uri)?;
            return Some(ClosedEditorDocument { uri: closed.uri, inside: false });
        };
        let closed = self.maps.lock().files.remove(&path)?;
        self.overlays.remove(&path);
        Some(ClosedEditorDocument { uri: closed.uri, inside: true })
    }

    /// Closes all documents. Returns the URIs of those outside the workspace.
    pub(super) fn clear(&self) -> Vec<String> {
        let EditorDocumentMaps { outside: strangers, .. } = std::mem::take(&mut *self.maps.lock());
        self.overlays.clear();
        strangers.keys().cloned().collect()
    }

    /// Returns the editor's URIs and versions of its open documents.
    pub(super) fn conventions(&self, encoding: Encoding, takes_snippets: bool) -> EditorConventions {
        let shelves = self.maps.lock();
        let spelled = shelves.files.iter().map(|(path, document)| {
            (path.clone(), VersionedDocument { uri: document.uri.clone(), version: document.version })
        });
        EditorConventions { encoding, takes_snippets, documents: spelled.collect() }
    }

    /// Returns a snapshot of the open documents outside the workspace.
    pub(super) fn outside_documents(&self) -> OutsideEditorDocuments {
        OutsideEditorDocuments(self.maps.lock().outside.clone())
    }

    /// Returns true if the editor has the file open.
    pub(super) fn is_open(&self, path: &WorkspacePath) -> bool {
        self.maps.lock().files.contains_key(path)
    }
}

/// Returns `text` after all `changes` (LSP 3.17, *TextDocumentContentChangeEvent*), or the error in
/// one of them.
fn apply_changes(text: &Buffer, changes: &Value, encoding: Encoding) -> Result<Buffer, &'static str> {
    let mut text = text.clone();
    for change in changes.as_array().ok_or("`contentChanges` is not a list")? {
        let new = change["text"].as_str().ok_or("a change has no `text`")?;
        let range = match change.get("range") {
            None | Some(Value::Null) => {
                text = Buffer::new(new);
                continue;
            }
            Some(range) => relay::range(range, encoding).ok_or("a `range` is none")?,
        };
        if (range.start.line, range.start.unit) > (range.end.line, range.end.unit) {
            return Err("a `range` ends before it begins");
        }
        let range = text.decode_range(range);
        text.apply(&TextChange { range, text: new.to_owned() });
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn did_change_applies_edits_in_order_with_utf16_columns() {
        let temp = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(temp.path()).unwrap();
        let path = workspace.path("a.py".as_ref()).unwrap();
        let uri = uri::from_path(&workspace.absolute(&path));
        let documents = EditorDocuments::new(workspace.clone());
        documents.open(&json!({"textDocument": {"uri": uri, "version": 1, "text": "s = '🦀'\nt = s\n"}}));
        let at = |line, character| json!({"line": line, "character": character});
        let change = |start, end, text| json!({"range": {"start": start, "end": end}, "text": text});
        // The crab has two UTF-16 code units.
        let changes = [change(at(0, 5), at(0, 7), "x"), change(at(0, 6), at(0, 6), "y")];
        let params = json!({"textDocument": {"uri": uri, "version": 7}, "contentChanges": changes});
        assert_eq!(documents.change(&params, Encoding::Utf16).unwrap().as_ref(), Some(&path));
        let view = documents.overlays.view(&workspace);
        assert_eq!(&**view.unsaved(&path).unwrap().text(), "s = 'xy'\nt = s\n");
        assert_eq!(documents.conventions(Encoding::Utf16, true).documents[&path].version, 7);
        assert_eq!(
            documents.open(&json!({"textDocument": {"uri": "file:///elsewhere.py", "text": ""}})),
            None
        );
        assert!(documents.close(&json!({"textDocument": {"uri": uri}})).is_some());
        assert!(documents.overlays.view(&workspace).is_disk());
    }
    #[test]
    fn did_change_with_malformed_edit_changes_nothing() {
        let temp = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(temp.path()).unwrap();
        let path = workspace.path("a.py".as_ref()).unwrap();
        let uri = uri::from_path(&workspace.absolute(&path));
        let documents = EditorDocuments::new(workspace.clone());
        documents.open(&json!({"textDocument": {"uri": uri, "version": 1, "text": "x = 1\n"}}));
        let at = |line: i64, character: i64| json!({"line": line, "character": character});
        let ranges = [
            json!({"start": at(0, 0)}),
            json!({"start": at(-1, 0), "end": at(0, 1)}),
            json!({"start": {"line": "0", "character": 0}, "end": at(0, 1)}),
            json!({"start": at(0, 3), "end": at(0, 1)}),
            json!([0, 0, 0, 1]),
            json!("all"),
        ];
        let bad = ranges.iter().map(|range| json!({"range": range, "text": "gone"}));
        for bad in bad.chain([json!({"range": null}), json!({"text": 7})]) {
            let good = json!({"range": {"start": at(0, 0), "end": at(0, 1)}, "text": "y"});
            let params = json!({"textDocument": {"uri": uri, "version": 2}, "contentChanges": [good, bad]});
            assert!(documents.change(&params, Encoding::Utf16).is_err(), "{bad}");
            assert_eq!(
                &**documents.overlays.view(&workspace).unsaved(&path).unwrap().text(),
                "x = 1\n",
                "{bad}"
            );
            assert_eq!(documents.conventions(Encoding::Utf16, true).documents[&path].version, 1);
        }
        // A position beyond the end means the end, as everywhere in the protocol.
        let range = json!({"start": at(0, 5), "end": at(1 << 40, 0)});
        let params = json!({"textDocument": {"uri": uri, "version": 3}, "contentChanges": [{"range": range, "text": "2"}]});
        documents.change(&params, Encoding::Utf16).unwrap();
        assert_eq!(&**documents.overlays.view(&workspace).unsaved(&path).unwrap().text(), "x = 12");
    }

    #[test]
    fn documents_outside_workspace_are_kept_apart_from_overlays() {
        let temp = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(temp.path()).unwrap();
        let documents = EditorDocuments::new(workspace.clone());
        let document = |text: &str| json!({"textDocument": {"uri": "file:///lib/a.py", "languageId": "python", "version": 1, "text": text}});
        assert_eq!(documents.open(&document("x")), None);
        let before = documents.outside_documents();
        let params = json!({"textDocument": {"uri": "file:///lib/a.py", "version": 2}, "contentChanges": [{"text": "y"}]});
        assert_eq!(documents.change(&params, Encoding::Utf16).unwrap(), None);
        let text = |outside_documents: &OutsideEditorDocuments| {
            outside_documents.get("file:///lib/a.py").map(|one| one.text.to_string())
        };
        assert_eq!(
            (text(&before), text(&documents.outside_documents())),
            (Some("x".into()), Some("y".into()))
        );
        assert!(documents.overlays.view(&workspace).is_disk());
        assert_eq!(documents.clear(), ["file:///lib/a.py"]);
        assert_eq!(text(&documents.outside_documents()), None);
    }
}
