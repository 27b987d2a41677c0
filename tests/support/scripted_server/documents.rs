//! The documents of this server: plain strings and a literal reading of the specification (3.17,
//! *Text Documents*). This differs deliberately from the product's ropes, so that the two can be
//! compared.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

/// The column unit (3.17, *PositionEncodingKind*).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
pub enum Encoding {
    #[serde(rename = "utf-8")]
    Utf8,
    #[default]
    #[serde(rename = "utf-16")]
    Utf16,
    #[serde(rename = "utf-32")]
    Utf32,
}

impl Encoding {
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf16 => "utf-16",
            Self::Utf32 => "utf-32",
        }
    }

    fn units(self, character: char) -> u64 {
        match self {
            Self::Utf8 => character.len_utf8() as u64,
            Self::Utf16 => character.len_utf16() as u64,
            Self::Utf32 => 1,
        }
    }
}

/// An open document.
#[derive(Debug, Clone)]
pub struct Document {
    pub version: i64,
    pub text: String,
}

pub type Documents = BTreeMap<String, Document>;

/// The byte ranges of the lines, without their breaks: LF, CRLF and CR, nothing else.
fn lines(text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut lines = Vec::new();
    let (mut start, mut at) = (0, 0);
    while at < bytes.len() {
        let width = match bytes[at] {
            b'\r' if bytes.get(at + 1) == Some(&b'\n') => 2,
            b'\r' | b'\n' => 1,
            _ => 0,
        };
        if width > 0 {
            lines.push((start, at));
            start = at + width;
        }
        at += width.max(1);
    }
    lines.push((start, bytes.len()));
    lines
}

/// The byte at an LSP position, or the reason why there is none.
pub fn offset(text: &str, position: &Value, encoding: Encoding) -> Result<usize, String> {
    let (Some(line), Some(character)) = (position["line"].as_u64(), position["character"].as_u64()) else {
        return Err(format!("no position: {position}"));
    };
    let lines = lines(text);
    let Some(&(start, end)) = usize::try_from(line).ok().and_then(|line| lines.get(line)) else {
        return Err(format!("line {line} of a text of {} lines", lines.len()));
    };
    let mut units = 0;
    for (at, found) in text[start..end].char_indices() {
        if units == character {
            return Ok(start + at);
        }
        if units > character {
            return Err(format!("position {position} is inside a character, in {}", encoding.name()));
        }
        units += encoding.units(found);
    }
    if units == character {
        return Ok(end);
    }
    Err(format!("column {character} of line {line}, which has {units}, in {}", encoding.name()))
}

/// The LSP position of a byte.
pub fn position(text: &str, offset: usize, encoding: Encoding) -> Value {
    let lines = lines(text);
    let line = lines.iter().rposition(|(start, _)| *start <= offset).unwrap_or(0);
    let character: u64 = text[lines[line].0..offset].chars().map(|found| encoding.units(found)).sum();
    json!({"line": line, "character": character})
}

/// The LSP range of a byte range.
pub fn range(text: &str, (start, end): (usize, usize), encoding: Encoding) -> Value {
    json!({"start": position(text, start, encoding), "end": position(text, end, encoding)})
}

/// Applies one element of `contentChanges` (3.17, *TextDocumentContentChangeEvent*).
pub fn apply(text: &mut String, change: &Value, encoding: Encoding) -> Result<(), String> {
    let Some(new) = change["text"].as_str() else { return Err(format!("change without text: {change}")) };
    let Some(range) = change.get("range") else {
        new.clone_into(text);
        return Ok(());
    };
    let start = offset(text, &range["start"], encoding)?;
    let end = offset(text, &range["end"], encoding)?;
    if start > end {
        return Err(format!("range ends before it starts: {range}"));
    }
    text.replace_range(start..end, new);
    Ok(())
}

/// The byte ranges of the words in a text.
pub fn words(text: &str) -> Vec<(usize, usize)> {
    let mut words = Vec::new();
    let mut start = None;
    for (at, found) in text.char_indices().chain([(text.len(), ' ')]) {
        match (found.is_alphanumeric() || found == '_', start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                words.push((from, at));
                start = None;
            }
            _ => {}
        }
    }
    words
}

/// The occurrences of `word` in `text`.
pub fn occurrences(text: &str, word: &str) -> Vec<(usize, usize)> {
    words(text).into_iter().filter(|(start, end)| &text[*start..*end] == word).collect()
}

/// The names after a `def`.
pub fn definitions(text: &str) -> Vec<(usize, usize)> {
    let words = words(text);
    words.windows(2).filter(|pair| &text[pair[0].0..pair[0].1] == "def").map(|pair| pair[1]).collect()
}

/// The diagnostics of a text: each `WRONG` is an error.
pub fn diagnostics(text: &str, encoding: Encoding) -> Vec<Value> {
    occurrences(text, "WRONG")
        .into_iter()
        .map(|span| {
            json!({
                "range": range(text, span, encoding),
                "severity": 1,
                "source": "scripted",
                "code": "W1",
                "message": "WRONG",
            })
        })
        .collect()
}
