//! Ranges in short, as answers have them, 1-based: `7:4` for a start, `7:4-9` within a line,
//! `7:4-8:1` over several.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::text::{LineColumn, Position, Range};

/// A range as one string of 1-based lines and columns. An empty one is written as its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ShortRange(pub(crate) Range);

impl ShortRange {
    /// The range without its end if that is `known_end`, which every reader can derive.
    pub(crate) fn without_end_at(range: Range, known_end: Position) -> Self {
        Self(if range.end == known_end { Range::empty(range.start) } else { range })
    }

    /// Parses the short form of a range.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (start, end) = text.split_once('-').map_or((text, None), |(start, end)| (start, Some(end)));
        let start = position(start)?;
        let end = match end {
            None => start,
            Some(end) if end.contains(':') => position(end)?,
            Some(end) => Position { character: number(end)?.checked_sub(1)?, ..start },
        };
        Some(Self(Range::new(start, end)))
    }
}

fn position(text: &str) -> Option<Position> {
    let (line, column) = text.split_once(':')?;
    LineColumn { line: number(line)?, column: number(column)? }.position()
}

/// Parses digits only: the standard parser accepts a sign too.
fn number(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

impl fmt::Display for ShortRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (start, end) = (LineColumn::from(self.0.start), LineColumn::from(self.0.end));
        write!(f, "{start}")?;
        if end.line != start.line {
            write!(f, "-{end}")?;
        } else if end.column != start.column {
            write!(f, "-{}", end.column)?;
        }
        Ok(())
    }
}

impl Serialize for ShortRange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ShortRange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom(format!("`{text}` is not `line:column`")))
    }
}

impl JsonSchema for ShortRange {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("ShortRange")
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        json_schema!({
            "type": "string",
            "description": "`line:column`, 1-based, in Unicode scalar values; with its end `7:4-9` or `7:4-8:1`",
            "pattern": "^[1-9][0-9]*:[1-9][0-9]*(-([1-9][0-9]*:)?[1-9][0-9]*)?$",
        })
    }
}

/// Writes a field of type [`Range`] in short form.
pub(crate) fn serialize<S: Serializer>(range: &Range, serializer: S) -> Result<S::Ok, S::Error> {
    ShortRange(*range).serialize(serializer)
}

/// Reads the output of [`serialize`].
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Range, D::Error> {
    ShortRange::deserialize(deserializer).map(|short| short.0)
}

/// The short form for a field that is a position.
pub(crate) mod position {
    use super::{Deserialize, Deserializer, Position, Range, Serialize, Serializer, ShortRange};

    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(crate) fn serialize<S: Serializer>(start: &Position, serializer: S) -> Result<S::Ok, S::Error> {
        ShortRange(Range::empty(*start)).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Position, D::Error> {
        ShortRange::deserialize(deserializer).map(|short| short.0.start)
    }
}

/// The short form for a field that is a list of positions.
pub(crate) mod positions {
    use super::{Deserialize, Deserializer, Position, Range, Serializer, ShortRange};

    pub(crate) fn serialize<S: Serializer>(starts: &[Position], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(starts.iter().map(|start| ShortRange(Range::empty(*start))))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Position>, D::Error> {
        let read = Vec::<ShortRange>::deserialize(deserializer)?;
        Ok(read.into_iter().map(|short| short.0.start).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_range_says_no_more_than_is_needed_and_comes_back_as_it_was() {
        let range = |line, from, end, to| Range::new(Position::new(line, from), Position::new(end, to));
        for (range, expected) in
            [(range(6, 3, 6, 3), "7:4"), (range(6, 3, 6, 8), "7:4-9"), (range(6, 3, 7, 0), "7:4-8:1")]
        {
            let short = ShortRange(range);
            assert_eq!(short.to_string(), expected);
            assert_eq!(ShortRange::parse(expected), Some(short));
        }
    }

    #[test]
    fn short_range_that_is_none_is_refused() {
        for text in [
            "",
            "7",
            "7:",
            ":4",
            "7:4-",
            "-7:4",
            "7:+4",
            "7:4-9-3",
            "a:b",
            "7:99999999999",
            "7:4-8:",
            "0:1",
            "1:0",
            "7:4-0",
        ] {
            assert_eq!(ShortRange::parse(text), None, "{text}");
        }
    }
}
