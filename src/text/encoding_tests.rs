//! The product's changes, applied by the scripted server's own reading of the specification.
//!
//! The two share no code: one works on ropes, the other on plain strings, and refuses positions
//! inside a character, past a line's end or past the text.

#[allow(dead_code, reason = "the words and diagnostics of the scripted server are not what is tested here")]
#[allow(unreachable_pub, reason = "the scripted server needs it public")]
#[path = "../../tests/support/scripted_server/documents.rs"]
mod documents;

use proptest::prelude::*;
use serde_json::json;

use super::{Buffer, Encoding, TextChange};

/// Texts of few different characters, so that they have much in common, and with all characters
/// that are hard to count.
fn text() -> impl Strategy<Value = String> {
    let pieces = [
        "a",
        "b",
        " ",
        "\n",
        "\r\n",
        "\r",
        "é",
        "e\u{301}",
        "漢",
        "😀",
        "👩\u{200d}👧",
        "\u{2028}",
        "\t",
        "\u{feff}",
    ];
    proptest::collection::vec(proptest::sample::select(pieces.to_vec()), 0..24)
        .prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn smallest_text_change_turns_old_text_into_new(old in text(), new in text()) {
        let (old_buffer, new_buffer) = (Buffer::new(&old), Buffer::new(&new));
        let encodings = [
            (Encoding::Utf8, documents::Encoding::Utf8),
            (Encoding::Utf16, documents::Encoding::Utf16),
            (Encoding::Utf32, documents::Encoding::Utf32),
        ];
        for (ours, theirs) in encodings {
            let mut text = old.clone();
            if let Some(change) = TextChange::between(&old_buffer, &new_buffer) {
                let range = old_buffer.encode_range(change.range, ours);
                let [start, end] = [range.start, range.end]
                    .map(|position| json!({"line": position.line, "character": position.unit}));
                let event = json!({"range": {"start": start, "end": end}, "text": change.text});
                let applied = documents::apply(&mut text, &event, theirs);
                prop_assert_eq!(applied, Ok(()), "{:?} from {:?} to {:?}: {}", ours, old, new, event);
            }
            prop_assert_eq!(&text, &new, "{:?} from {:?}", ours, old);
        }
    }

    #[test]
    fn text_positions_convert_equally_in_both_implementations(text in text(), share in 0.0..1.0) {
        let buffer = Buffer::new(&text);
        let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let byte = ends[(share * ends.len() as f64) as usize];
        let position = buffer.position_of_byte(byte);
        let inside_a_line_break = text[..byte].ends_with('\r') && text[byte..].starts_with('\n');
        prop_assume!(!inside_a_line_break);
        let encodings = [
            (Encoding::Utf8, documents::Encoding::Utf8),
            (Encoding::Utf16, documents::Encoding::Utf16),
            (Encoding::Utf32, documents::Encoding::Utf32),
        ];
        for (ours, theirs) in encodings {
            let encoded = buffer.encode(position, ours);
            let json = json!({"line": encoded.line, "character": encoded.unit});
            prop_assert_eq!(documents::offset(&text, &json, theirs), Ok(byte), "{:?} in {:?}", json, text);
            prop_assert_eq!(documents::position(&text, byte, theirs), json);
        }
    }
}
