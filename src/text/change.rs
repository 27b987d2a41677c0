//! The smallest single replacement that turns one text into another.

use ropey::Rope;
use ropey::iter::Chunks;

use super::{Buffer, Range};

/// One replacement: the text of `range` (positions in the old text) becomes `text`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextChange {
    /// The replaced range of the old text.
    pub range: Range,
    /// The replacement text.
    pub text: String,
}

impl TextChange {
    /// Returns the smallest replacement that turns `old` into `new`, or `None` if they are equal.
    ///
    /// The common start and end stay. Two buffers that share rope nodes (one is an edited clone of
    /// the other) are compared without reading the shared text. A CRLF is never split, since no
    /// position can point inside it.
    pub(crate) fn between(old: &Buffer, new: &Buffer) -> Option<Self> {
        let (old_rope, new_rope) = (old.rope(), new.rope());
        if old_rope.is_instance(new_rope) {
            return None;
        }
        let shortest = old_rope.len_bytes().min(new_rope.len_bytes());
        let prefix = common_len(old_rope.chunks(), new_rope.chunks(), shortest, TextEnd::Front);
        if prefix == old_rope.len_bytes() && prefix == new_rope.len_bytes() {
            return None;
        }
        let suffix = common_len(
            chunks_from_back(old_rope),
            chunks_from_back(new_rope),
            shortest - prefix,
            TextEnd::Back,
        );
        Some(from_common_ends(old, new, prefix, suffix))
    }

    /// Like [`TextChange::between`], against text that is not a buffer yet (a file just read).
    pub fn to_text(old: &Buffer, new: &str) -> Option<Self> {
        let shortest = old.len_bytes().min(new.len());
        let prefix = common_len(old.rope().chunks(), std::iter::once(new), shortest, TextEnd::Front);
        if prefix == old.len_bytes() && prefix == new.len() {
            return None;
        }
        let suffix =
            common_len(chunks_from_back(old.rope()), std::iter::once(new), shortest - prefix, TextEnd::Back);
        let (old_span, new_span) = widen_to_boundaries(old.rope(), new, prefix, suffix);
        Some(Self { range: range_of(old, old_span), text: new[new_span].to_owned() })
    }
}

fn from_common_ends(old: &Buffer, new: &Buffer, prefix: usize, suffix: usize) -> TextChange {
    let (old_span, new_span) = widen_to_boundaries(old.rope(), new.rope(), prefix, suffix);
    let text = new.rope().byte_slice(new_span).to_string();
    TextChange { range: range_of(old, old_span), text }
}

fn range_of(old: &Buffer, bytes: std::ops::Range<usize>) -> Range {
    Range { start: old.position_of_byte(bytes.start), end: old.position_of_byte(bytes.end) }
}

/// A text with access to its bytes and character boundaries: a rope or a string.
trait ByteAccess {
    fn len(&self) -> usize;
    fn byte(&self, at: usize) -> u8;
}

impl ByteAccess for Rope {
    fn len(&self) -> usize {
        self.len_bytes()
    }
    fn byte(&self, at: usize) -> u8 {
        Rope::byte(self, at)
    }
}

impl ByteAccess for str {
    fn len(&self) -> usize {
        str::len(self)
    }
    fn byte(&self, at: usize) -> u8 {
        self.as_bytes()[at]
    }
}

/// The differing byte spans of both texts, widened to character boundaries and around any CRLF they
/// would split.
fn widen_to_boundaries<O: ByteAccess + ?Sized, N: ByteAccess + ?Sized>(
    old: &O,
    new: &N,
    mut prefix: usize,
    mut suffix: usize,
) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
    while prefix > 0 && (splits_char_or_crlf(old, prefix) || splits_char_or_crlf(new, prefix)) {
        prefix -= 1;
    }
    while suffix > 0
        && (splits_char_or_crlf(old, old.len() - suffix) || splits_char_or_crlf(new, new.len() - suffix))
    {
        suffix -= 1;
    }
    (prefix..old.len() - suffix, prefix..new.len() - suffix)
}

/// Returns true if the boundary before byte `at` lies inside a character or inside a CRLF.
fn splits_char_or_crlf<B: ByteAccess + ?Sized>(text: &B, at: usize) -> bool {
    if at == 0 || at >= text.len() {
        return false;
    }
    let next = text.byte(at);
    (next & 0b1100_0000) == 0b1000_0000 || (next == b'\n' && text.byte(at - 1) == b'\r')
}

fn chunks_from_back(rope: &Rope) -> Chunks<'_> {
    let (chunks, _, _, _) = rope.chunks_at_byte(rope.len_bytes());
    // `chunks_at_byte` at the end returns the last chunk; one step past it makes `reversed` start
    // with that chunk.
    let mut chunks = chunks;
    chunks.next();
    chunks.reversed()
}

#[derive(Clone, Copy, PartialEq)]
enum TextEnd {
    Front,
    Back,
}

/// Returns the number of bytes, up to `most`, that two runs of chunks share at one end.
fn common_len<'a>(
    mut left: impl Iterator<Item = &'a str>,
    mut right: impl Iterator<Item = &'a str>,
    most: usize,
    end: TextEnd,
) -> usize {
    let (mut a, mut b): (&[u8], &[u8]) = (&[], &[]);
    let mut same = 0;
    while same < most {
        if a.is_empty() {
            let Some(next) = left.next() else { break };
            a = next.as_bytes();
            continue;
        }
        if b.is_empty() {
            let Some(next) = right.next() else { break };
            b = next.as_bytes();
            continue;
        }
        let len = a.len().min(b.len()).min(most - same);
        let (head_a, rest_a) = split_bytes(a, len, end);
        let (head_b, rest_b) = split_bytes(b, len, end);
        if !std::ptr::eq(head_a, head_b) && head_a != head_b {
            return same + common_chunk_len(head_a, head_b, end);
        }
        same += len;
        (a, b) = (rest_a, rest_b);
    }
    same
}

fn split_bytes(bytes: &[u8], len: usize, end: TextEnd) -> (&[u8], &[u8]) {
    match end {
        TextEnd::Front => bytes.split_at(len),
        TextEnd::Back => {
            let (rest, tail) = bytes.split_at(bytes.len() - len);
            (tail, rest)
        }
    }
}

fn common_chunk_len(a: &[u8], b: &[u8], end: TextEnd) -> usize {
    match end {
        TextEnd::Front => a.iter().zip(b).take_while(|(a, b)| a == b).count(),
        TextEnd::Back => a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Encoding, Position};
    use super::*;
    use proptest::prelude::*;

    fn texts() -> impl Strategy<Value = String> {
        let pieces = prop::sample::select(vec![
            "a", "b", "é", "e\u{301}", "🦀", "𝒳", "\n", "\r\n", "\r", "\t", " ", "名", "",
        ]);
        prop::collection::vec(pieces, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2000, ..ProptestConfig::default() })]

        #[test]
        fn text_change_between_texts_turns_old_into_new(old in texts(), new in texts()) {
            let (before, after) = (Buffer::new(&old), Buffer::new(&new));
            for change in [TextChange::between(&before, &after), TextChange::to_text(&before, &new)] {
                let mut edited = before.clone();
                match change {
                    None => prop_assert_eq!(&old, &new),
                    Some(change) => {
                        // A server applies the range after a trip through its own encoding.
                        for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
                            let there = before.encode_range(change.range, encoding);
                            prop_assert_eq!(before.decode_range(there), change.range);
                        }
                        edited.apply(&change);
                        prop_assert_eq!(edited.to_string(), new.clone());
                    }
                }
            }
        }

        #[test]
        fn position_round_trips_through_every_encoding(text in texts(), line in 0u32..12, character in 0u32..12) {
            let buffer = Buffer::new(&text);
            let position = buffer.clamp(Position { line, character });
            prop_assert_eq!(buffer.clamp(position), position);
            for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
                prop_assert_eq!(buffer.decode(buffer.encode(position, encoding)), position);
            }
            prop_assert_eq!(buffer.position_of_byte(buffer.byte_offset(position)), position);
        }

        #[test]
        fn encoded_column_equals_plain_count_of_code_units(text in texts(), line in 0u32..6, character in 0u32..12) {
            let buffer = Buffer::new(&text);
            let position = buffer.clamp(Position { line, character });
            let plain = buffer.line(position.line).unwrap_or_default();
            let before: String = plain.chars().take(position.character as usize).collect();
            prop_assert_eq!(buffer.encode(position, Encoding::Utf8).unit as usize, before.len());
            prop_assert_eq!(buffer.encode(position, Encoding::Utf16).unit as usize, before.encode_utf16().count());
            prop_assert_eq!(buffer.encode(position, Encoding::Utf32).unit as usize, before.chars().count());
        }
    }

    #[test]
    fn text_change_between_buffer_and_edited_clone_is_minimal() {
        let old = Buffer::new(&"0123456789abcde\n".repeat(100_000));
        let mut new = old.clone();
        let at = Position::new(50_000, 3);
        new.apply(&TextChange { range: Range::empty(at), text: "X".into() });
        assert_eq!(
            TextChange::between(&old, &new),
            Some(TextChange { range: Range::empty(at), text: "X".into() })
        );
    }

    #[test]
    fn position_outside_buffer_is_clamped_to_nearest_end() {
        let buffer = Buffer::new("ab\r\ncd");
        assert_eq!(buffer.clamp(Position::new(0, 99)), Position::new(0, 2));
        assert_eq!(buffer.clamp(Position::new(9, 0)), Position::new(1, 2));
        assert_eq!(buffer.line(0).as_deref(), Some("ab"));
        assert_eq!(buffer.line(2), None);
    }
}
