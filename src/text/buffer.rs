//! The text of one document as a rope, with lines and conversions of positions.

use std::borrow::Cow;

use ropey::Rope;

use super::{EncodedPosition, EncodedRange, Encoding, Position, Range, TextChange};

/// The text of a document: cheap to clone, cheap to edit in the middle, and able to convert
/// positions.
///
/// Lines end at LF, CRLF or CR, as in the Language Server Protocol (3.17, *Text Documents*). No
/// method panics on a position outside the text: positions are clamped to the line's end and to the
/// last line.
#[derive(Debug, Clone, Default)]
pub struct Buffer {
    rope: Rope,
}

impl Buffer {
    /// A buffer holding `text`.
    pub fn new(text: &str) -> Self {
        Self { rope: Rope::from_str(text) }
    }

    pub(crate) fn rope(&self) -> &Rope {
        &self.rope
    }

    /// Number of lines; a text that ends in a line break has an empty last line, an empty text has
    /// one line.
    pub fn line_count(&self) -> u32 {
        to_u32(self.rope.len_lines())
    }

    /// Length in bytes of UTF-8.
    pub(crate) fn len_bytes(&self) -> usize {
        self.rope.len_bytes()
    }

    /// The 0-based `line` without its line break; `None` past the last line.
    pub fn line(&self, line: u32) -> Option<Cow<'_, str>> {
        let line = line as usize;
        if line >= self.rope.len_lines() {
            return None;
        }
        let start = self.rope.line_to_char(line);
        Some(Cow::from(self.rope.slice(start..start + self.line_len_chars(line))))
    }

    /// Length of the 0-based `line` without its line break, in Unicode scalar values; 0 past the
    /// last line.
    pub(crate) fn line_len(&self, line: u32) -> u32 {
        if line >= self.line_count() { 0 } else { to_u32(self.line_len_chars(line as usize)) }
    }

    fn line_len_chars(&self, line: usize) -> usize {
        let slice = self.rope.line(line);
        let mut len = slice.len_chars();
        while len > 0 && matches!(slice.char(len - 1), '\n' | '\r') {
            len -= 1;
        }
        len
    }

    /// The position just after the last character.
    pub(crate) fn end(&self) -> Position {
        let line = self.line_count() - 1;
        Position { line, character: self.line_len(line) }
    }

    /// Moves `position` back into the text if it lies outside: past a line's end to that end, past
    /// the last line to the end of the text.
    pub(crate) fn clamp(&self, position: Position) -> Position {
        if position.line >= self.line_count() {
            return self.end();
        }
        Position { line: position.line, character: position.character.min(self.line_len(position.line)) }
    }

    /// The text between the two (clamped) ends of `range`.
    pub(crate) fn slice(&self, range: Range) -> Cow<'_, str> {
        Cow::from(self.rope.slice(self.char_index(range.start)..self.char_index(range.end)))
    }

    /// The (clamped) `position` as an offset in bytes of UTF-8 from the start.
    pub(crate) fn byte_offset(&self, position: Position) -> usize {
        self.rope.char_to_byte(self.char_index(position))
    }

    /// The position of a byte offset, moved back to the start of the character it lies in and to
    /// the text's end.
    pub(crate) fn position_of_byte(&self, byte: usize) -> Position {
        self.position_of_char(self.rope.byte_to_char(byte.min(self.rope.len_bytes())))
    }

    pub(crate) fn char_index(&self, position: Position) -> usize {
        let position = self.clamp(position);
        self.rope.line_to_char(position.line as usize) + position.character as usize
    }

    /// The position of the character at `index`; one between CR and LF counts as the end of its
    /// line.
    pub(crate) fn position_of_char(&self, index: usize) -> Position {
        let line = self.rope.char_to_line(index);
        let character = index - self.rope.line_to_char(line);
        Position { line: to_u32(line), character: to_u32(character.min(self.line_len_chars(line))) }
    }

    /// The (clamped) `position` in code units of `encoding`, as a language server wants it.
    pub(crate) fn encode(&self, position: Position, encoding: Encoding) -> EncodedPosition {
        let position = self.clamp(position);
        let start = self.rope.line_to_char(position.line as usize);
        let index = start + position.character as usize;
        let unit = match encoding {
            Encoding::Utf8 => self.rope.char_to_byte(index) - self.rope.char_to_byte(start),
            Encoding::Utf16 => self.rope.char_to_utf16_cu(index) - self.rope.char_to_utf16_cu(start),
            Encoding::Utf32 => index - start,
        };
        EncodedPosition { line: position.line, unit: to_u32(unit), encoding }
    }

    /// Decodes a position of a language server. A position past a line's end means that end (LSP
    /// 3.17, *Position*); a unit inside a character means its start.
    pub(crate) fn decode(&self, encoded: EncodedPosition) -> Position {
        if encoded.line >= self.line_count() {
            return self.end();
        }
        let line = encoded.line as usize;
        let start = self.rope.line_to_char(line);
        let end = start + self.line_len_chars(line);
        let unit = encoded.unit as usize;
        let index = match encoded.encoding {
            Encoding::Utf8 => {
                let byte = self.rope.char_to_byte(start).saturating_add(unit);
                self.rope.byte_to_char(byte.min(self.rope.char_to_byte(end)))
            }
            Encoding::Utf16 => {
                let units = self.rope.char_to_utf16_cu(start).saturating_add(unit);
                self.rope.utf16_cu_to_char(units.min(self.rope.char_to_utf16_cu(end)))
            }
            Encoding::Utf32 => start.saturating_add(unit).min(end),
        };
        Position { line: encoded.line, character: to_u32(index - start) }
    }

    /// `range` in code units of `encoding`.
    pub(crate) fn encode_range(&self, range: Range, encoding: Encoding) -> EncodedRange {
        EncodedRange { start: self.encode(range.start, encoding), end: self.encode(range.end, encoding) }
    }

    /// Decodes a range of a language server; inverted ends are put in order.
    pub(crate) fn decode_range(&self, encoded: EncodedRange) -> Range {
        Range::new(self.decode(encoded.start), self.decode(encoded.end))
    }

    /// Replaces the text of `change.range` by `change.text`.
    pub fn apply(&mut self, change: &TextChange) {
        let (start, end) = (self.char_index(change.range.start), self.char_index(change.range.end));
        self.rope.remove(start..end);
        self.rope.insert(start, &change.text);
    }

    /// Returns true if there are characters outside the Basic Multilingual Plane, which encodings
    /// count differently.
    pub(crate) fn has_astral(&self) -> bool {
        self.rope.len_utf16_cu() != self.rope.len_chars()
    }
}

impl PartialEq for Buffer {
    fn eq(&self, other: &Self) -> bool {
        self.rope.is_instance(&other.rope) || self.rope == other.rope
    }
}

impl Eq for Buffer {}

impl PartialEq<str> for Buffer {
    fn eq(&self, other: &str) -> bool {
        self.rope == other
    }
}

impl std::fmt::Display for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.rope.chunks().try_for_each(|chunk| f.write_str(chunk))
    }
}

/// Converts a line or column to the protocol's `u32`; a larger text is refused long before it
/// reaches a buffer.
fn to_u32(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}
