//! Decoding of a command's bytes to the text of an answer.

use super::ring::Excerpt;

/// The divisor for the largest share of each side that is dropped to make a cut fall between lines.
const LINE_TRIM_DIVISOR: usize = 4;

/// Decodes the output of a stream piece by piece: a character or an escape sequence may begin in
/// one piece and end in the next.
///
/// Bytes that are not UTF-8 become U+FFFD. Unless it is raw, escape sequences (ECMA-48) and control
/// characters other than line feed, carriage return and tab are removed, and consecutive U+FFFD
/// become one.
pub(crate) struct OutputDecoder {
    raw: bool,
    parser: vte::Parser,
    /// The first bytes of an incomplete character.
    begun: Vec<u8>,
}

/// A piece of output as text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct OutputPiece {
    /// The text. If a part was left out, a line in brackets has its size.
    pub text: String,
    /// The number of bytes that were left out.
    pub left_out: u64,
}

impl OutputDecoder {
    /// A decoder at the beginning of a stream.
    pub(crate) fn new(raw: bool) -> Self {
        Self { raw, parser: vte::Parser::new(), begun: Vec::new() }
    }

    /// Decodes the next piece; `last` is true for the last one.
    pub(crate) fn read(&mut self, excerpt: Excerpt, last: bool) -> OutputPiece {
        let Excerpt { mut head, left_out, mut tail } = excerpt;
        if left_out == 0 {
            head.append(&mut tail);
            return OutputPiece { text: self.decode(&head, last), left_out };
        }
        let left_out = left_out + cut_end(&mut head) + cut_start(&mut tail);
        let mut text = self.decode(&head, true);
        // A character or sequence does not continue after the gap.
        self.parser = vte::Parser::new();
        let line = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        text.push_str(&format!("{line}[{left_out} bytes left out]\n"));
        text.push_str(&self.decode(&tail, last));
        OutputPiece { text, left_out }
    }

    fn decode(&mut self, bytes: &[u8], last: bool) -> String {
        let mut whole = std::mem::take(&mut self.begun);
        whole.extend_from_slice(bytes);
        if !last {
            self.begun = whole.split_off(whole.len() - incomplete_suffix_len(&whole));
        }
        let text = String::from_utf8_lossy(&whole);
        if self.raw {
            return text.into_owned();
        }
        let mut plain = EscapeStripper(String::with_capacity(text.len()));
        self.parser.advance(&mut plain, text.as_bytes());
        plain.0
    }
}

/// Keeps the text that a terminal would print, and ignores its other actions.
struct EscapeStripper(String);

impl vte::Perform for EscapeStripper {
    fn print(&mut self, character: char) {
        let repeated = character == char::REPLACEMENT_CHARACTER && self.0.ends_with(character);
        if !character.is_control() && !repeated {
            self.0.push(character);
        }
    }

    fn execute(&mut self, byte: u8) {
        if matches!(byte, b'\n' | b'\r' | b'\t') {
            self.0.push(char::from(byte));
        }
    }
}

/// The number of bytes at the end of `bytes` that are the beginning of a character.
fn incomplete_suffix_len(bytes: &[u8]) -> usize {
    match bytes.utf8_chunks().last() {
        Some(chunk) => match std::str::from_utf8(chunk.invalid()) {
            Err(error) if error.error_len().is_none() => chunk.invalid().len(),
            _ => 0,
        },
        None => 0,
    }
}

/// Shortens `head` to the end of a line, or at least of a character. Returns the number of removed
/// bytes.
fn cut_end(head: &mut Vec<u8>) -> u64 {
    let before = head.len();
    let searched = &head[before - before / LINE_TRIM_DIVISOR..];
    let end = match searched.iter().rposition(|byte| *byte == b'\n') {
        Some(newline) => before - searched.len() + newline + 1,
        None => before - incomplete_suffix_len(head),
    };
    head.truncate(end);
    (before - end) as u64
}

/// Shortens `tail` to the beginning of a line, or at least of a character. Returns the number of
/// removed bytes.
fn cut_start(tail: &mut Vec<u8>) -> u64 {
    let newline = tail[..tail.len() / LINE_TRIM_DIVISOR].iter().position(|byte| *byte == b'\n');
    let start = match newline {
        Some(newline) => newline + 1,
        // A character has at most three continuation bytes.
        None => tail.iter().take(3).take_while(|byte| **byte & 0b1100_0000 == 0b1000_0000).count(),
    };
    tail.drain(..start);
    start as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::shell::ring::Ring;

    fn whole(bytes: &[u8]) -> Excerpt {
        Excerpt { head: bytes.to_vec(), ..Excerpt::default() }
    }

    fn plain(bytes: &[u8]) -> String {
        OutputDecoder::new(false).read(whole(bytes), true).text
    }

    #[test]
    fn output_decoder_removes_ansi_escape_sequences() {
        for (given, wanted) in [
            ("\x1b[1;31mred\x1b[0m\tand\r\n", "red\tand\r\n"),
            ("\x1b]52;c;aGFoYQ==\x07after", "after"),
            ("\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\", "link"),
            ("\x1bP1$r0m\x1b\\device", "device"),
            ("\x1b(0lqk\x1b(B", "lqk"),
            ("a\u{9b}31mb", "a31mb"),
            ("bell\x07 back\x08 null\0 del\x7f", "bell back null del"),
            ("\x1b]0;never ends", ""),
        ] {
            assert_eq!(plain(given.as_bytes()), wanted, "{given:?}");
        }
        let raw = OutputDecoder::new(true).read(whole(b"\x1b[1mbold\x07"), true).text;
        assert_eq!(raw, "\x1b[1mbold\x07");
    }

    #[test]
    fn output_decoder_joins_characters_and_escapes_split_between_chunks() {
        let text = "ä\x1b[31m€😀\x1b[0m!".as_bytes();
        for at in 0..=text.len() {
            let mut reader = OutputDecoder::new(false);
            let (first, second) = text.split_at(at);
            let joined = reader.read(whole(first), false).text + &reader.read(whole(second), true).text;
            assert_eq!(joined, "ä€😀!", "split at {at}");
        }
    }

    #[test]
    fn output_decoder_replaces_invalid_utf8_bytes() {
        assert_eq!(plain(b"a\xff\xfe\xfdb\xe2\x82"), "a\u{fffd}b\u{fffd}");
        assert_eq!(OutputDecoder::new(true).read(whole(b"\xff\xfe"), true).text, "\u{fffd}\u{fffd}");
    }

    #[test]
    fn omitted_output_is_cut_at_line_boundary_and_counted() {
        let mut ring = Ring::new(90);
        let lines: String = (0..100).map(|n| format!("line {n}\n")).collect();
        ring.push(lines.as_bytes());
        let piece = OutputDecoder::new(false).read(ring.take(), true);
        let marker = format!("[{} bytes left out]\n", piece.left_out);
        let (head, tail) = piece.text.split_once(&marker).unwrap();
        assert!(lines.starts_with(head) && head.ends_with('\n'), "{head:?}");
        assert!(lines.ends_with(tail) && tail.starts_with("line "), "{tail:?}");
        assert_eq!(head.len() + tail.len() + piece.left_out as usize, lines.len());

        let mut ring = Ring::new(30);
        ring.push("€".repeat(50).as_bytes());
        ring.push(b"xx");
        let piece = OutputDecoder::new(false).read(ring.take(), true);
        assert!(!piece.text.contains('\u{fffd}'), "{}", piece.text);
        let shown = piece.text.matches('€').count() * 3 + 2;
        assert_eq!(shown + piece.left_out as usize, 152);
    }
}
