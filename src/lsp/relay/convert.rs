//! Conversion of positions, URIs and versions in untyped JSON, found by the shapes that LSP 3.17
//! gives them.
//!
//! Everything with `line` and `character` is a position, and it belongs to the document that the
//! nearest object around it names. A server's `data` and `arguments` are its own and stay
//! unchanged.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::conventions::EditorConventions;
use super::outside_documents::OutsideDocument;
use crate::lsp::documents::open_documents::Snapshot;
use crate::lsp::model::FileRef;
use crate::lsp::session::decode::PositionDecoder;
use crate::lsp::session::live_session::Session;
use crate::lsp::uri;
use crate::text::{EncodedPosition, Encoding};

/// The side that reads the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RelayDirection {
    ToServer,
    ToEditor,
}

/// Converts between an editor and one server.
pub(super) struct Converter<'a> {
    session: &'a Session,
    conventions: &'a EditorConventions,
    texts: PositionDecoder<'a>,
    own: FileRef,
    way: RelayDirection,
    /// The files of the URIs met so far: most messages name one file many times.
    files: HashMap<String, FileRef>,
}

impl<'a> Converter<'a> {
    /// Creates a converter for a message about `snapshot`.
    pub(super) fn new(
        session: &'a Session,
        conventions: &'a EditorConventions,
        snapshot: &Snapshot,
        direction: RelayDirection,
    ) -> Self {
        let own = FileRef::Inside(snapshot.path.clone());
        Self {
            session,
            conventions,
            texts: PositionDecoder::new(session, snapshot),
            own,
            way: direction,
            files: HashMap::new(),
        }
    }

    /// Creates a converter for a document outside the workspace.
    pub(super) fn for_outside_document(
        session: &'a Session,
        conventions: &'a EditorConventions,
        stranger: &OutsideDocument,
        way: RelayDirection,
    ) -> Self {
        let own = uri::file_ref(&session.workspace, &stranger.uri);
        let texts = PositionDecoder::for_file(session, own.clone(), stranger.text.clone());
        Self { session, conventions, texts, own, way, files: HashMap::new() }
    }

    /// Creates a converter for a message about no particular document.
    pub(super) fn of_workspace(
        session: &'a Session,
        conventions: &'a EditorConventions,
        way: RelayDirection,
    ) -> Self {
        let own = FileRef::Virtual(String::new());
        let texts = PositionDecoder::of_workspace(session);
        Self { session, conventions, texts, own, way, files: HashMap::new() }
    }

    /// Converts everything in `value`.
    pub(super) fn convert(&mut self, value: &mut Value) {
        let own = self.own.clone();
        self.convert_value(value, &own);
    }

    /// The decoder with the texts of all positions.
    pub(super) fn texts(&mut self) -> &mut PositionDecoder<'a> {
        &mut self.texts
    }

    fn convert_value(&mut self, value: &mut Value, here: &FileRef) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.convert_value(item, here)),
            Value::Object(object) => self.convert_object(object, here),
            _ => {}
        }
    }

    fn convert_object(&mut self, object: &mut Map<String, Value>, here: &FileRef) {
        if object.contains_key("line") && object.contains_key("character") {
            return self.position(object, here);
        }
        if object.contains_key("startLine") {
            self.folding_range(object, here);
        }
        let own = self.named_document(object).unwrap_or_else(|| here.clone());
        let target = object.get("targetUri").and_then(Value::as_str).map(|uri| self.file_for_uri(uri));
        for (name, value) in object.iter_mut() {
            match name.as_str() {
                "data" | "arguments" => {}
                "uri" | "targetUri" | "oldUri" | "newUri" => self.uri(value),
                "targetRange" | "targetSelectionRange" => {
                    self.convert_value(value, target.as_ref().unwrap_or(&own))
                }
                "originSelectionRange" => self.convert_value(value, here),
                "changes" | "relatedDocuments" if value.is_object() => self.by_uri(value),
                "textDocument" => self.convert_document(value, &own),
                _ => self.convert_value(value, &own),
            }
        }
    }

    /// Returns the document that an object's ranges are in, if it names one.
    fn named_document(&mut self, object: &Map<String, Value>) -> Option<FileRef> {
        fn uri(value: Option<&Value>) -> Option<&str> {
            value?.get("uri")?.as_str()
        }
        let own = object.get("uri").and_then(Value::as_str);
        // The ranges of a call are in the file of the caller: `from`, or the queried item.
        let found = own.or_else(|| uri(object.get("textDocument"))).or_else(|| uri(object.get("from")));
        found.map(|uri| self.file_for_uri(uri))
    }

    fn file_for_uri(&mut self, uri: &str) -> FileRef {
        if let Some(file) = self.files.get(uri) {
            return file.clone();
        }
        let file = uri::file_ref(&self.session.workspace, uri);
        self.files.insert(uri.to_owned(), file.clone());
        file
    }

    /// Converts LSP 3.17 *WorkspaceEdit* `changes`, and other maps whose keys are documents.
    fn by_uri(&mut self, value: &mut Value) {
        let Value::Object(object) = value else { return };
        for (uri, mut inner) in std::mem::take(object) {
            let file = self.file_for_uri(&uri);
            self.convert_value(&mut inner, &file);
            object.insert(self.format_uri(&uri, &file), inner);
        }
    }

    /// Converts LSP 3.17 *(Optional)VersionedTextDocumentIdentifier*: each side counts versions for
    /// itself.
    fn convert_document(&mut self, value: &mut Value, here: &FileRef) {
        self.convert_value(value, here);
        let Some(uri) = value["uri"].as_str() else { return };
        let file = self.file_for_uri(uri);
        let Value::Object(object) = value else { return };
        if self.way == RelayDirection::ToEditor && object.contains_key("version") {
            let known = match &file {
                FileRef::Inside(path) => self.conventions.documents.get(path),
                FileRef::Outside(_) | FileRef::Virtual(_) => None,
            };
            object.insert("version".into(), known.map_or(Value::Null, |spelled| spelled.version.into()));
        }
    }

    fn uri(&mut self, value: &mut Value) {
        let Some(uri) = value.as_str() else { return };
        let file = self.file_for_uri(uri);
        *value = self.format_uri(uri, &file).into();
    }

    /// Returns a URI in the other side's form.
    fn format_uri(&self, uri: &str, file: &FileRef) -> String {
        let FileRef::Inside(path) = file else { return uri.to_owned() };
        match self.way {
            RelayDirection::ToServer => uri::from_path(&self.session.workspace.absolute(path)).into(),
            RelayDirection::ToEditor => {
                self.conventions.documents.get(path).map_or_else(|| uri.to_owned(), |known| known.uri.clone())
            }
        }
    }

    fn encodings(&self) -> (Encoding, Encoding) {
        let (editor, server) = (self.conventions.encoding, self.session.capabilities.encoding);
        match self.way {
            RelayDirection::ToServer => (editor, server),
            RelayDirection::ToEditor => (server, editor),
        }
    }

    /// Returns the column in the other side's encoding. If the text cannot be read, the column
    /// stays.
    fn column(&mut self, here: &FileRef, line: &Value, column: &Value) -> Option<u32> {
        let (from, to) = self.encodings();
        if from == to {
            return None;
        }
        let (line, unit) = (u32::try_from(line.as_u64()?).ok()?, u32::try_from(column.as_u64()?).ok()?);
        let buffer = self.texts.buffer(here)?;
        if line >= buffer.line_count() {
            return None;
        }
        let position = buffer.decode(EncodedPosition { line, unit, encoding: from });
        Some(buffer.encode(position, to).unit)
    }

    fn position(&mut self, object: &mut Map<String, Value>, here: &FileRef) {
        let column = self.column(here, &object["line"], &object["character"]);
        if let Some(column) = column {
            object["character"] = column.into();
        }
    }

    /// Converts LSP 3.17 *FoldingRange*, whose positions are spread over its own members.
    fn folding_range(&mut self, object: &mut Map<String, Value>, here: &FileRef) {
        for (line, character) in [("startLine", "startCharacter"), ("endLine", "endCharacter")] {
            let (Some(line), Some(unit)) = (object.get(line).cloned(), object.get(character).cloned()) else {
                continue;
            };
            if let Some(column) = self.column(here, &line, &unit) {
                object[character] = column.into();
            }
        }
    }
}
