//! Positions and ranges in three encodings.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A position between two characters: 0-based line, 0-based character in Unicode scalar values.
///
/// This is the position of tool calls and answers, whatever encoding a language server negotiated.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema,
)]
pub struct Position {
    /// 0-based line; lines end at LF, CRLF or CR.
    pub line: u32,
    /// 0-based offset in the line, in Unicode scalar values.
    pub character: u32,
}

impl Position {
    /// The position at 0-based `line` and `character` (Unicode scalar values).
    pub const fn new(line: u32, character: u32) -> Self {
        Self { line, character }
    }

    /// The position `count` characters further on the same line.
    pub(crate) fn right_by(self, count: usize) -> Self {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        Self { character: self.character.saturating_add(count), ..self }
    }
}

/// A half-open range of text: `end` is the first position outside.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema,
)]
pub struct Range {
    /// First position inside.
    pub start: Position,
    /// First position after.
    pub end: Position,
}

impl Range {
    /// The range from `start` up to, not including, `end`; the two are swapped if they come
    /// inverted, as some servers send them.
    pub fn new(start: Position, end: Position) -> Self {
        if start <= end { Self { start, end } } else { Self { start: end, end: start } }
    }

    /// The empty range at `position`.
    pub(crate) fn empty(position: Position) -> Self {
        Self { start: position, end: position }
    }

    /// Returns true if `position` lies inside or at the end of the range. A cursor behind a word
    /// still belongs to it.
    pub(crate) fn touches(&self, position: Position) -> bool {
        self.start <= position && position <= self.end
    }

    /// Returns true if `other` lies entirely inside this range.
    pub(crate) fn encloses(&self, other: &Range) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

/// A position as compilers and editors print it: 1-based line, 1-based column in Unicode scalar
/// values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LineColumn {
    /// 1-based line.
    pub line: u32,
    /// 1-based column.
    pub column: u32,
}

impl From<Position> for LineColumn {
    fn from(position: Position) -> Self {
        Self { line: position.line.saturating_add(1), column: position.character.saturating_add(1) }
    }
}

impl LineColumn {
    /// The 0-based position, or `None` where line or column is 0.
    pub(crate) fn position(self) -> Option<Position> {
        Some(Position { line: self.line.checked_sub(1)?, character: self.column.checked_sub(1)? })
    }
}

impl fmt::Display for LineColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// The unit in which a language server counts the characters of a line (LSP 3.17,
/// `PositionEncodingKind`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub(crate) enum Encoding {
    /// UTF-8 code units: bytes.
    #[serde(rename = "utf-8")]
    Utf8,
    /// UTF-16 code units: the default of the protocol.
    #[serde(rename = "utf-16")]
    Utf16,
    /// UTF-32 code units: Unicode scalar values.
    #[serde(rename = "utf-32")]
    Utf32,
}

impl Encoding {
    /// The protocol's name of the encoding.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf16 => "utf-16",
            Self::Utf32 => "utf-32",
        }
    }

    /// The encoding that the protocol calls `name`.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        match name {
            "utf-8" => Some(Self::Utf8),
            "utf-16" => Some(Self::Utf16),
            "utf-32" => Some(Self::Utf32),
            _ => None,
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A position in the code units of a language server: 0-based line, 0-based `unit`, and the
/// encoding they are of.
///
/// Made from and turned into a [`Position`] by a [`Buffer`](super::Buffer) only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct EncodedPosition {
    /// 0-based line.
    pub line: u32,
    /// 0-based offset in the line, in code units of `encoding`.
    pub unit: u32,
    /// The encoding in which `unit` counts.
    pub encoding: Encoding,
}

/// A half-open range in the code units of a language server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct EncodedRange {
    /// First position inside.
    pub start: EncodedPosition,
    /// First position after.
    pub end: EncodedPosition,
}
