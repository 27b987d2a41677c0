//! A splitter of bytes into lines, in bounded memory.

/// The size limit of a parsed line, in bytes. Longer lines are passed on unparsed.
const MAX_PASSTHROUGH_LINE_BYTES: usize = 32 << 20;

/// The incomplete line received so far.
#[derive(Debug, Default)]
pub(super) struct PassthroughLineSplitter {
    part: Vec<u8>,
    /// True if the line exceeds the limit and its beginning has been passed on.
    beyond: bool,
}

/// A piece of the received bytes; the pieces are contiguous.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PassthroughPiece {
    /// A whole line, including its end.
    Line(Vec<u8>),
    /// A part of a line that is too long to be parsed.
    Part(Vec<u8>),
}

impl PassthroughLineSplitter {
    /// Adds bytes, and passes on the complete pieces.
    pub(super) fn add(&mut self, bytes: &[u8], mut each: impl FnMut(PassthroughPiece)) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let ends = piece.ends_with(b"\n");
            self.part.extend_from_slice(piece);
            if self.beyond {
                each(PassthroughPiece::Part(std::mem::take(&mut self.part)));
                self.beyond = !ends;
            } else if ends {
                each(PassthroughPiece::Line(std::mem::take(&mut self.part)));
            } else if self.part.len() > MAX_PASSTHROUGH_LINE_BYTES {
                each(PassthroughPiece::Part(std::mem::take(&mut self.part)));
                self.beyond = true;
            }
        }
    }

    /// Returns the incomplete line at the end of the stream.
    pub(super) fn take_rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_splitter_joins_lines_from_any_chunk_size() {
        for size in 1..8 {
            let (mut lines, mut pieces) = (PassthroughLineSplitter::default(), Vec::new());
            for bytes in b"one\n\ntwo\nrest".chunks(size) {
                lines.add(bytes, |piece| pieces.push(piece));
            }
            let line = |text: &str| PassthroughPiece::Line(text.into());
            assert_eq!(pieces, [line("one\n"), line("\n"), line("two\n")], "{size}");
            assert_eq!(lines.take_rest(), b"rest");
        }
    }

    #[test]
    fn line_splitter_passes_endless_line_in_bounded_parts() {
        let (mut lines, mut most, mut passed) = (PassthroughLineSplitter::default(), 0, 0);
        let chunk = vec![b'x'; 1 << 20];
        for _ in 0..100 {
            lines.add(&chunk, |piece| match piece {
                PassthroughPiece::Part(bytes) => passed += bytes.len(),
                PassthroughPiece::Line(_) => panic!("it has no end"),
            });
            most = most.max(lines.part.len());
        }
        assert!(most <= MAX_PASSTHROUGH_LINE_BYTES + chunk.len() && passed > 60 << 20, "{most} {passed}");
        let mut after = Vec::new();
        lines.add(b"end\nnext\n", |piece| after.push(piece));
        assert_eq!(
            after,
            [PassthroughPiece::Part(b"end\n".into()), PassthroughPiece::Line(b"next\n".into())]
        );
    }
}
