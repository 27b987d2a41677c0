//! Messages of SCIP, the format of code indexes, as far as they are used here (`scip.proto` 0.10).
//!
//! Fields keep their numbers; other fields are skipped.

use prost::Message;

use crate::text::{EncodedPosition, EncodedRange, Encoding, PartsHash, PartsHasher};

/// The bit of a definition in [`ScipOccurrence::symbol_roles`].
pub(crate) const DEFINITION_ROLE: i32 = 1;
/// The start of the name of a symbol that other files cannot use.
pub(crate) const LOCAL_PREFIX: &str = "local ";

/// An index (*Index*). Indexes in one file after another are one index.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ScipIndex {
    #[prost(message, optional, tag = "1")]
    pub(crate) metadata: Option<ScipMetadata>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) documents: Vec<ScipDocument>,
}

/// The origin of an index (*Metadata*).
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ScipMetadata {
    #[prost(message, optional, tag = "2")]
    pub(crate) tool_info: Option<ScipIndexer>,
    #[prost(string, tag = "3")]
    pub(crate) project_root: String,
    /// The encoding of the source files; 1 is UTF-8.
    #[prost(int32, tag = "4")]
    pub(crate) text_document_encoding: i32,
}

/// The program that wrote an index (*ToolInfo*).
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ScipIndexer {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(string, tag = "2")]
    pub(crate) version: String,
    #[prost(string, repeated, tag = "3")]
    pub(crate) arguments: Vec<String>,
}

/// A source file (*Document*).
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ScipDocument {
    /// Relative to the folder of the index, with `/`.
    #[prost(string, tag = "1")]
    pub(crate) relative_path: String,
    #[prost(message, repeated, tag = "2")]
    pub(crate) occurrences: Vec<ScipOccurrence>,
    #[prost(message, repeated, tag = "3")]
    pub(crate) symbols: Vec<ScipSymbol>,
    #[prost(string, tag = "4")]
    pub(crate) language: String,
    /// The unit of columns: 1 is UTF-8, 2 is UTF-16, 3 is UTF-32.
    #[prost(int32, tag = "6")]
    pub(crate) position_encoding: i32,
    /// Hash of the text; not part of SCIP, whose readers skip unknown fields.
    #[prost(bytes = "vec", tag = "1000")]
    pub(crate) text_hash: Vec<u8>,
}

/// A place where a symbol is used or defined (*Occurrence*).
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ScipOccurrence {
    /// Line and column of the start, and column or line and column of the end; 0-based.
    #[prost(int32, repeated, tag = "1")]
    pub(crate) range: Vec<i32>,
    #[prost(string, tag = "2")]
    pub(crate) symbol: String,
    #[prost(int32, tag = "3")]
    pub(crate) symbol_roles: i32,
    #[prost(message, optional, tag = "8")]
    pub(crate) single_line_range: Option<ScipLineRange>,
    #[prost(message, optional, tag = "9")]
    pub(crate) multi_line_range: Option<ScipLinesRange>,
}

/// A range of a line, 0-based (*SingleLineRange*).
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub(crate) struct ScipLineRange {
    #[prost(int32, tag = "1")]
    pub(crate) line: i32,
    #[prost(int32, tag = "2")]
    pub(crate) start_character: i32,
    #[prost(int32, tag = "3")]
    pub(crate) end_character: i32,
}

/// A range of several lines, 0-based (*MultiLineRange*).
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub(crate) struct ScipLinesRange {
    #[prost(int32, tag = "1")]
    pub(crate) start_line: i32,
    #[prost(int32, tag = "2")]
    pub(crate) start_character: i32,
    #[prost(int32, tag = "3")]
    pub(crate) end_line: i32,
    #[prost(int32, tag = "4")]
    pub(crate) end_character: i32,
}

/// A description of a symbol (*SymbolInformation*).
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ScipSymbol {
    #[prost(string, tag = "1")]
    pub(crate) symbol: String,
    #[prost(string, repeated, tag = "3")]
    pub(crate) documentation: Vec<String>,
    #[prost(message, repeated, tag = "4")]
    pub(crate) relationships: Vec<ScipRelationship>,
    #[prost(string, tag = "6")]
    pub(crate) display_name: String,
    #[prost(message, optional, tag = "7")]
    pub(crate) signature: Option<ScipSignature>,
}

/// The signature of a symbol (*Signature*).
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ScipSignature {
    #[prost(string, tag = "4")]
    pub(crate) language: String,
    #[prost(string, tag = "5")]
    pub(crate) text: String,
}

/// A relation to another symbol (*Relationship*).
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ScipRelationship {
    #[prost(string, tag = "1")]
    pub(crate) symbol: String,
    #[prost(bool, tag = "3")]
    pub(crate) is_implementation: bool,
}

impl ScipDocument {
    /// The unit of columns. Indexers that do not name it count as their language does; UTF-16 is
    /// the commonest.
    pub(crate) fn encoding(&self) -> Encoding {
        match self.position_encoding {
            1 => Encoding::Utf8,
            3 => Encoding::Utf32,
            _ => Encoding::Utf16,
        }
    }

    /// The hash of a file's text for [`text_hash`](Self::text_hash).
    pub(crate) fn hash_of(text: &str) -> PartsHash {
        let mut hasher = PartsHasher::default();
        hasher.add(text.as_bytes());
        hasher.finish()
    }
}

impl ScipOccurrence {
    /// Returns true for a definition.
    pub(crate) fn is_definition(&self) -> bool {
        self.symbol_roles & DEFINITION_ROLE != 0
    }

    /// The range; `None` if it is none.
    pub(crate) fn range(&self, encoding: Encoding) -> Option<EncodedRange> {
        let numbers = match (self.single_line_range, self.multi_line_range) {
            (Some(line), _) => [line.line, line.start_character, line.line, line.end_character],
            (_, Some(lines)) => {
                [lines.start_line, lines.start_character, lines.end_line, lines.end_character]
            }
            (None, None) => match *self.range.as_slice() {
                [line, start, end] => [line, start, line, end],
                [line, start, end_line, end] => [line, start, end_line, end],
                _ => return None,
            },
        };
        let position = |line: i32, unit: i32| {
            Some(EncodedPosition { line: line.try_into().ok()?, unit: unit.try_into().ok()?, encoding })
        };
        let [line, start, end_line, end] = numbers;
        Some(EncodedRange { start: position(line, start)?, end: position(end_line, end)? })
    }
}
