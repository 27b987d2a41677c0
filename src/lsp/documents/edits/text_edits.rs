//! LSP 3.17 *TextEdit* arrays, applied to a text.

use serde_json::Value;

use crate::text::{Buffer, EncodedPosition, EncodedRange, Encoding};

/// The faults of a list of edits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum TextEditError {
    /// A member is missing or of the wrong type.
    #[error("a text edit without a range or a text")]
    Malformed,
    /// Two edits touch the same text.
    #[error("two of its text edits overlap in line {}", u64::from(*line) + 1)]
    Overlap {
        /// 0-based line of the second one.
        line: u32,
    },
    /// A position is outside the text.
    #[error("a position in line {} of a text with {lines}", u64::from(*line) + 1)]
    Beyond {
        /// 0-based line.
        line: u32,
        /// The number of lines.
        lines: u32,
    },
    /// The new text is larger than any that people or programs write.
    #[error("it inserts {bytes} bytes, more than the limit of {MAX_INSERTED_TEXT_BYTES}")]
    TooLong {
        /// The number of bytes.
        bytes: usize,
    },
}

/// The maximum size of the text that one answer inserts into one file. A rename inserts names, a
/// format source code, and no source file is that large.
const MAX_INSERTED_TEXT_BYTES: usize = 16 << 20;

/// Returns the text after `edits`, whose positions all count in the text before them. Line ends of
/// the new parts become those of the text if it has only one kind.
pub(super) fn apply(buffer: &Buffer, edits: &[Value], encoding: Encoding) -> Result<String, TextEditError> {
    let bytes = edits.iter().filter_map(|edit| edit["newText"].as_str()).map(str::len).sum();
    if bytes > MAX_INSERTED_TEXT_BYTES {
        return Err(TextEditError::TooLong { bytes });
    }
    let mut spans = Vec::with_capacity(edits.len());
    for edit in edits {
        let range = &edit["range"];
        let (start, end) = (position(&range["start"], encoding), position(&range["end"], encoding));
        let (Some(start), Some(end), Some(text)) = (start, end, edit["newText"].as_str()) else {
            return Err(TextEditError::Malformed);
        };
        // One line after the last is how whole documents are replaced.
        let lines = buffer.line_count();
        if let Some(line) = [start.line, end.line].into_iter().find(|line| *line > lines) {
            return Err(TextEditError::Beyond { line, lines });
        }
        let range = buffer.decode_range(EncodedRange { start, end });
        spans.push((buffer.byte_offset(range.start)..buffer.byte_offset(range.end), range.start.line, text));
    }
    // Stable: inserts at one place stay in their order.
    spans.sort_by_key(|(span, _, _)| (span.start, span.end));
    let old = buffer.to_string();
    let crlf = has_only_crlf(&old);
    let (mut new, mut at) = (String::with_capacity(old.len()), 0);
    for (span, line, text) in spans {
        if span.start < at {
            return Err(TextEditError::Overlap { line });
        }
        new.push_str(&old[at..span.start]);
        match crlf && text.contains('\n') {
            true => new.push_str(&text.replace("\r\n", "\n").replace('\n', "\r\n")),
            false => new.push_str(text),
        }
        at = span.end;
    }
    new.push_str(&old[at..]);
    Ok(new)
}

fn position(value: &Value, encoding: Encoding) -> Option<EncodedPosition> {
    let number = |name: &str| value[name].as_u64().map(|number| u32::try_from(number).unwrap_or(u32::MAX));
    Some(EncodedPosition { line: number("line")?, unit: number("character")?, encoding })
}

fn has_only_crlf(text: &str) -> bool {
    let all = text.matches('\n').count();
    all > 0 && all == text.matches("\r\n").count()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn edit(from: (u32, u32), to: (u32, u32), text: &str) -> Value {
        let at = |(line, character): (u32, u32)| json!({"line": line, "character": character});
        json!({"range": {"start": at(from), "end": at(to)}, "newText": text})
    }

    fn applied(text: &str, edits: &[Value]) -> Result<String, TextEditError> {
        apply(&Buffer::new(text), edits, Encoding::Utf16)
    }

    #[test]
    fn text_edit_positions_refer_to_the_original_text() {
        let edits = [edit((1, 0), (1, 1), "Y"), edit((0, 0), (0, 1), "XXX\n"), edit((0, 1), (0, 1), "!")];
        assert_eq!(applied("abc\ndef\n", &edits).as_deref(), Ok("XXX\n!bc\nYef\n"));
        let astral = [edit((0, 2), (0, 3), "b")];
        assert_eq!(applied("𝕏a\n", &astral).as_deref(), Ok("𝕏b\n"));
    }

    #[test]
    fn text_edit_range_may_end_just_past_last_line() {
        assert_eq!(applied("a\nb\n", &[edit((0, 0), (3, 0), "c\n")]).as_deref(), Ok("c\n"));
        assert_eq!(
            applied("a\n", &[edit((0, 0), (9, 0), "c\n")]),
            Err(TextEditError::Beyond { line: 9, lines: 2 })
        );
    }

    #[test]
    fn overlapping_or_malformed_text_edits_are_refused() {
        let edits = [edit((0, 0), (0, 2), "x"), edit((0, 1), (0, 3), "y")];
        assert_eq!(applied("abc\n", &edits), Err(TextEditError::Overlap { line: 0 }));
        assert_eq!(applied("abc\n", &[json!({"newText": "x"})]), Err(TextEditError::Malformed));
    }

    #[test]
    fn text_edits_adapt_line_endings_to_the_text() {
        assert_eq!(applied("a\r\nb\r\n", &[edit((0, 0), (0, 1), "x\ny")]).as_deref(), Ok("x\r\ny\r\nb\r\n"));
        assert_eq!(applied("a\r\nb\n", &[edit((0, 0), (0, 1), "x\ny")]).as_deref(), Ok("x\ny\r\nb\n"));
    }
}
