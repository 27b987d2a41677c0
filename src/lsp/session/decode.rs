//! Decoding of a server's JSON to the types of `model`, element by element. A malformed element is
//! dropped without the others.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::ask::SessionAnswer;
use super::live_session::Session;
use crate::lsp::documents::open_documents::Snapshot;
use crate::lsp::model::{
    Diagnostic, FileRef, Hover, Location, MAX_SYMBOL_DEPTH, Severity, Symbol, SymbolKind,
};
use crate::lsp::uri;
use crate::text::{Buffer, EncodedPosition, EncodedRange, Encoding, Position, Range, line_excerpt};
use crate::workspace::Workspace;

/// The largest library file that is read for source lines, in bytes.
const MAX_LIBRARY_SOURCE_BYTES: u64 = 8 * 1024 * 1024;

impl Diagnostic {
    /// Encodes the diagnostic as LSP 3.17 *Diagnostic*, for a request about it to its server;
    /// `text` is the document.
    pub(crate) fn to_lsp(&self, text: &Buffer, encoding: Encoding) -> Value {
        let range = text.encode_range(self.range, encoding);
        let wire = |position: EncodedPosition| json!({ "line": position.line, "character": position.unit });
        let mut value = json!({
            "range": { "start": wire(range.start), "end": wire(range.end) },
            "severity": self.severity.number(),
            "message": self.message,
        });
        if let Some(code) = &self.code {
            value["code"] = code.parse::<i64>().map_or_else(|_| code.as_str().into(), Value::from);
        }
        if let Some(source) = &self.source {
            value["source"] = source.as_str().into();
        }
        value
    }
}

fn sort_by_place(symbols: &mut [Symbol]) {
    symbols.sort_by_key(|symbol| symbol.selection.start);
    symbols.iter_mut().for_each(|symbol| sort_by_place(&mut symbol.children));
}

/// The time for which an answer that came at the last moment may still be decoded.
const ANSWER_DECODE_GRACE_PERIOD: Duration = Duration::from_millis(300);
/// The maximum number of related locations of one diagnostic; each may be in another file, which is
/// read.
const MAX_RELATED_LOCATIONS: usize = 32;

/// A decoder of a server's positions, for which it needs their texts: the queried document as it
/// was sent, other open documents as the server has them, everything else from disk.
pub(crate) struct PositionDecoder<'a> {
    session: &'a Session,
    own: FileRef,
    buffers: HashMap<FileRef, Option<Buffer>>,
    /// The number of elements that could not be decoded.
    pub(crate) dropped: usize,
    /// The number of elements that were left out because the deadline had passed.
    left_out: usize,
    until: Option<Instant>,
}

impl<'a> PositionDecoder<'a> {
    /// Creates the decoder of an answer about `snapshot`.
    pub(crate) fn new(session: &'a Session, snapshot: &Snapshot) -> Self {
        Self::for_file(session, FileRef::Inside(snapshot.path.clone()), snapshot.buffer.clone())
    }

    /// Creates the decoder of an answer about `own`, whose text is `text`.
    pub(crate) fn for_file(session: &'a Session, own: FileRef, text: Buffer) -> Self {
        let buffers = HashMap::from([(own.clone(), Some(text))]);
        Self { session, own, buffers, dropped: 0, left_out: 0, until: None }
    }

    /// Creates the decoder of an answer about no particular document.
    pub(crate) fn of_workspace(session: &'a Session) -> Self {
        let own = FileRef::Virtual(String::new());
        Self { session, own, buffers: HashMap::new(), dropped: 0, left_out: 0, until: None }
    }

    /// Turns to an answer about `own`, whose text is `text`.
    pub(crate) fn set_own(&mut self, own: FileRef, text: Buffer) {
        self.buffers.insert(own.clone(), Some(text));
        self.own = own;
    }

    /// Sets a deadline after which elements are left out: each location may be in another file,
    /// which has to be read.
    pub(crate) fn with_deadline(mut self, deadline: Instant) -> Self {
        self.until = Some(deadline.max(Instant::now() + ANSWER_DECODE_GRACE_PERIOD));
        self
    }

    /// Returns true if the deadline has passed.
    pub(super) fn is_late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Wraps `value`, which was decoded from `answer`, as the answer.
    pub(super) fn into_answer<T>(self, value: T, answer: SessionAnswer<Value>) -> SessionAnswer<T> {
        let SessionAnswer { snapshot, unfinished_work: working, left_out, .. } = answer;
        SessionAnswer {
            value,
            snapshot,
            unfinished_work: working,
            undecodable: self.dropped,
            left_out: left_out + self.left_out,
        }
    }

    /// Returns the text of `file`, if it can be read.
    pub(crate) fn buffer(&mut self, file: &FileRef) -> Option<&Buffer> {
        let session = self.session;
        let load = || match file {
            FileRef::Inside(path) => session
                .documents
                .buffer(path)
                .or_else(|| session.unsaved_buffer(path))
                .or_else(|| session.workspace.read_text(path).ok().map(|file| Buffer::new(&file.text))),
            FileRef::Outside(path) => {
                Workspace::read_outside(path, MAX_LIBRARY_SOURCE_BYTES).ok().map(|text| Buffer::new(&text))
            }
            FileRef::Virtual(_) => None,
        };
        self.buffers.entry(file.clone()).or_insert_with(load).as_ref()
    }

    /// Decodes a range of `file`. If its text cannot be read, code units count as characters.
    pub(super) fn range_in(&mut self, file: &FileRef, value: &Value) -> Option<Range> {
        let encoding = self.session.capabilities.encoding;
        let EncodedRange { start, end } = encoded_range(value, encoding)?;
        Some(match self.buffer(file) {
            Some(buffer) => buffer.decode_range(EncodedRange { start, end }),
            None => Range::new(Position::new(start.line, start.unit), Position::new(end.line, end.unit)),
        })
    }

    /// Decodes a range of the queried document.
    pub(super) fn range(&mut self, value: &Value) -> Option<Range> {
        let own = self.own.clone();
        self.range_in(&own, value)
    }

    fn decode_location(&mut self, uri: &str, range: &Value) -> Option<Location> {
        let file = uri::file_ref(&self.session.workspace, uri);
        let range = self.range_in(&file, range)?;
        let line = self.buffer(&file).and_then(|buffer| buffer.line(range.start.line));
        let text = line.map(|line| line_excerpt(&line, range.start.character));
        Some(Location { file, range, text })
    }

    /// Decodes LSP 3.17 *Location* or *LocationLink*; of a link, the range of the target's name.
    pub(super) fn location(&mut self, value: &Value) -> Option<Location> {
        match value["targetUri"].as_str() {
            Some(uri) => {
                let range = &value["targetSelectionRange"];
                self.decode_location(uri, if range.is_object() { range } else { &value["targetRange"] })
            }
            None => self.decode_location(value["uri"].as_str()?, &value["range"]),
        }
    }

    /// Decodes `Location | Location[] | LocationLink[] | null`, without duplicates.
    pub(super) fn locations(&mut self, value: &Value) -> Vec<Location> {
        let mut found: Vec<Location> = Vec::new();
        let mut known: HashSet<(FileRef, Range)> = HashSet::new();
        for element in elements(value) {
            if self.is_late() {
                self.left_out += 1;
                continue;
            }
            match self.location(element) {
                Some(location) if !known.insert((location.file.clone(), location.range)) => {}
                Some(location) => found.push(location),
                None => self.dropped += 1,
            }
        }
        found
    }

    /// Decodes LSP 3.17 *Hover*; `None` if it is empty.
    pub(super) fn hover(&mut self, value: &Value) -> Option<Hover> {
        let Some(contents) = markup(&value["contents"]) else {
            self.dropped +=
                usize::from(!value["contents"].is_null() || !(value.is_null() || value.is_object()));
            return None;
        };
        let range = value.get("range").and_then(|range| self.range(range));
        let contents = self.session.workspace.with_relative_paths(&contents);
        (!contents.trim().is_empty()).then_some(Hover { contents, range })
    }

    /// Decodes LSP 3.17 *Diagnostic* of the queried document.
    pub(crate) fn diagnostic(&mut self, value: &Value) -> Option<Diagnostic> {
        let source = value["source"].as_str().map(str::to_owned);
        let range = match &source {
            Some(source) if self.session.state.spec.diagnostics.byte_columns.contains(source) => {
                self.byte_range(&value["range"])
            }
            _ => self.range(&value["range"]),
        }?;
        let tags: Vec<u64> = elements(&value["tags"]).filter_map(Value::as_u64).collect();
        let related =
            elements(&value["relatedInformation"]).take(MAX_RELATED_LOCATIONS).filter_map(|related| {
                if self.is_late() {
                    return None;
                }
                let location = self.location(&related["location"])?;
                Some((location, related["message"].as_str()?.to_owned()))
            });
        let related = related.collect();
        Some(Diagnostic {
            range,
            severity: match value["severity"].as_u64() {
                Some(2) => Severity::Warning,
                Some(3) => Severity::Information,
                Some(4) => Severity::Hint,
                // Without one the client decides (LSP 3.17, *Diagnostic*): better too loud than
                // unheard.
                _ => Severity::Error,
            },
            code: match &value["code"] {
                Value::String(code) => Some(code.clone()),
                Value::Number(code) => Some(code.to_string()),
                _ => None,
            },
            source,
            message: value["message"]
                .as_str()
                .map_or_else(|| markup(&value["message"]), |text| Some(text.to_owned()))?,
            server: self.session.server().to_owned(),
            unnecessary: tags.contains(&1),
            deprecated: tags.contains(&2),
            related,
            cell: None,
        })
    }

    /// Decodes a range whose start counts bytes; its end is moved behind the identifier that begins
    /// there.
    fn byte_range(&mut self, value: &Value) -> Option<Range> {
        let own = self.own.clone();
        let start = encoded_position(&value["start"], Encoding::Utf8)?;
        let plain = self.range_in(&own, value)?;
        let buffer = self.buffer(&own)?;
        let start = buffer.decode(start);
        let here = crate::text::identifiers_on_line(buffer, start.line);
        let name = here.into_iter().find(|name| name.range.start == start);
        Some(match name {
            Some(name) => name.range,
            None => Range::new(start, plain.end.max(start)),
        })
    }

    /// Decodes an LSP 3.17 *DocumentSymbol* tree, or flat *SymbolInformation*, which becomes a tree
    /// by containment. The order is the file's, which not every server keeps.
    pub(super) fn symbols(&mut self, value: &Value) -> Vec<Symbol> {
        let mut flat = Vec::new();
        let mut tree = Vec::new();
        for element in elements(value) {
            if self.is_late() {
                self.left_out += 1;
                continue;
            }
            let is_flat = element.get("location").is_some();
            match self.symbol(element, 0) {
                Some(symbol) if is_flat => flat.push(symbol),
                Some(symbol) => tree.push(symbol),
                None => self.dropped += 1,
            }
        }
        tree.extend(nest(flat));
        sort_by_place(&mut tree);
        tree
    }

    fn symbol(&mut self, value: &Value, depth: usize) -> Option<Symbol> {
        let location = &value["location"];
        let range = self.range(if location.is_object() { &location["range"] } else { &value["range"] })?;
        let name = value["name"].as_str()?.to_owned();
        let selection = match value.get("selectionRange").and_then(|range| self.range(range)) {
            Some(selection) => selection,
            None => self.name_within(&name, range),
        };
        let mut children = Vec::new();
        if depth < MAX_SYMBOL_DEPTH {
            for child in elements(&value["children"]) {
                if self.is_late() {
                    self.left_out += 1;
                    continue;
                }
                match self.symbol(child, depth + 1) {
                    Some(child) => children.push(child),
                    None => self.dropped += 1,
                }
            }
        }
        Some(Symbol {
            name,
            kind: kind(&value["kind"]),
            detail: value["detail"]
                .as_str()
                .filter(|detail| !detail.is_empty())
                .map(|detail| self.session.workspace.with_relative_paths(detail)),
            range,
            selection,
            children,
        })
    }

    /// Finds the name at the start of a symbol: flat symbols have only the range of the whole
    /// definition.
    fn name_within(&mut self, name: &str, range: Range) -> Range {
        let own = self.own.clone();
        let Some(buffer) = self.buffer(&own) else { return range };
        let last = range.end.line.min(range.start.line.saturating_add(50));
        let found = (range.start.line..=last)
            .flat_map(|line| crate::text::identifiers_on_line(buffer, line))
            .find(|word| word.name == name && word.range.start >= range.start);
        found.map_or(range, |word| word.range)
    }
}

/// Nests symbols inside the symbols that contain them. Those that lie too deep become siblings of
/// the last allowed level.
fn nest(mut flat: Vec<Symbol>) -> Vec<Symbol> {
    flat.sort_by_key(|symbol| (symbol.range.start, std::cmp::Reverse(symbol.range.end)));
    let mut roots: Vec<Symbol> = Vec::new();
    let mut open: Vec<Symbol> = Vec::new();
    let close = |open: &mut Vec<Symbol>, roots: &mut Vec<Symbol>| {
        if let Some(done) = open.pop() {
            match open.last_mut() {
                Some(parent) => parent.children.push(done),
                None => roots.push(done),
            }
        }
    };
    for symbol in flat {
        while open
            .last()
            .is_some_and(|parent| !parent.range.encloses(&symbol.range) || parent.range == symbol.range)
            || open.len() > MAX_SYMBOL_DEPTH
        {
            close(&mut open, &mut roots);
        }
        open.push(symbol);
    }
    while !open.is_empty() {
        close(&mut open, &mut roots);
    }
    roots
}

/// Decodes LSP 3.17 *SymbolKind*.
pub(super) fn kind(value: &Value) -> SymbolKind {
    SymbolKind(value.as_u64().and_then(|kind| u8::try_from(kind).ok()).unwrap_or(0))
}

/// Returns the elements of an array, a single value as itself, and nothing for null.
pub(crate) fn elements(value: &Value) -> impl Iterator<Item = &Value> {
    let one = (!value.is_null() && !value.is_array()).then_some(value);
    value.as_array().into_iter().flatten().chain(one)
}

/// Decodes LSP 3.17 *Range*, if it is one.
pub(crate) fn encoded_range(value: &Value, encoding: Encoding) -> Option<EncodedRange> {
    Some(EncodedRange {
        start: encoded_position(&value["start"], encoding)?,
        end: encoded_position(&value["end"], encoding)?,
    })
}

/// Decodes LSP 3.17 *Position*, if it is one.
pub(crate) fn encoded_position(value: &Value, encoding: Encoding) -> Option<EncodedPosition> {
    // A line beyond u32 is past every text's end, and so is clamped; a negative one means nothing.
    let number = |value: &Value| value.as_u64().map(|number| u32::try_from(number).unwrap_or(u32::MAX));
    Some(EncodedPosition { line: number(&value["line"])?, unit: number(&value["character"])?, encoding })
}

/// Converts LSP 3.17 *MarkupContent*, the deprecated *MarkedString*, plain text, or arrays of these
/// to Markdown.
pub(crate) fn markup(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let parts: Vec<String> =
                parts.iter().filter_map(markup).filter(|part| !part.trim().is_empty()).collect();
            Some(parts.join("\n\n"))
        }
        Value::Object(object) => {
            let text = object.get("value")?.as_str()?;
            match object.get("language").and_then(Value::as_str) {
                Some(language) => Some(format!("```{language}\n{text}\n```")),
                None => Some(text.to_owned()),
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flat_document_symbols_are_nested_to_bounded_depth() {
        const COUNT: u32 = 200_000;
        let at = |line: u32| Position::new(line, 0);
        let symbol = |nth: u32| Symbol {
            name: nth.to_string(),
            kind: SymbolKind(12),
            detail: None,
            range: Range::new(at(nth), at(2 * COUNT - nth)),
            selection: Range::new(at(nth), at(nth)),
            children: Vec::new(),
        };
        let (mut level, mut depth, mut count) = (nest((0..COUNT).map(symbol).collect()), 0, 0);
        while !level.is_empty() {
            depth += 1;
            count += level.len();
            level = level.into_iter().flat_map(|symbol| symbol.children).collect();
        }
        assert_eq!((depth, count), (MAX_SYMBOL_DEPTH + 1, COUNT as usize));
    }
}
