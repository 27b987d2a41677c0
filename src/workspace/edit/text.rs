//! Encoding of a new text as the bytes of its file: byte order mark and line ends.

use std::collections::HashMap;
use std::collections::VecDeque;

use super::ContentHash;
use crate::workspace::TextFile;

/// The UTF-8 byte order mark.
pub(super) const BOM: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// The line ends of a new text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineEnds {
    /// Its own line ends.
    AsGiven,
    /// The line ends of the file it replaces, if the text has LF alone, as agents write. An
    /// existing line keeps its own line end, a new one gets the most frequent one of the file. A
    /// text that contains any CR is unchanged.
    OfTheFile,
}

impl TextFile {
    /// The hash for [`PathPrecondition::Hash`](super::PathPrecondition::Hash) of a change that is
    /// made from this text.
    pub(crate) fn content_hash(&self) -> ContentHash {
        ContentHash::of_text(&self.text, self.bom)
    }

    /// Returns the bytes of this file with the text `new` in place of its own: the byte order mark
    /// stays, and `line_ends` decides the line ends. Nothing else is changed; a missing final
    /// newline of `new` is not added.
    pub(crate) fn with_text(&self, new: &str, line_ends: LineEnds) -> Vec<u8> {
        let new = match line_ends {
            LineEnds::OfTheFile if !new.contains('\r') && self.text.contains('\r') => {
                with_line_ends_of(&self.text, new)
            }
            _ => new.to_owned(),
        };
        let mut bytes = if self.bom { BOM.to_vec() } else { Vec::new() };
        // The given text may contain the mark already.
        bytes.extend_from_slice(new.strip_prefix('\u{feff}').filter(|_| self.bom).unwrap_or(&new).as_bytes());
        bytes
    }
}

/// Returns `new`, whose lines end in LF, with the line ends of `old`.
fn with_line_ends_of(old: &str, new: &str) -> String {
    let old: Vec<(&str, &str)> = lines(old).collect();
    let usual = most_frequent(&old);
    let mut places: HashMap<&str, VecDeque<usize>> = HashMap::new();
    for (index, (line, _)) in old.iter().enumerate() {
        places.entry(line).or_default().push_back(index);
    }
    let mut text = String::with_capacity(new.len() + new.len() / 16);
    let mut next = 0;
    for (line, end) in lines(new) {
        text.push_str(line);
        if end.is_empty() {
            continue;
        }
        let same = places.get_mut(line).and_then(|places| {
            while places.front().is_some_and(|place| *place < next) {
                places.pop_front();
            }
            places.pop_front()
        });
        next = same.map_or(next, |place| place + 1);
        let own = same.map(|place| old[place].1).filter(|end| !end.is_empty());
        text.push_str(own.unwrap_or(usual));
    }
    text
}

/// Returns the most frequent line end of `lines`.
fn most_frequent<'a>(lines: &[(&'a str, &'a str)]) -> &'a str {
    ["\n", "\r\n", "\r"]
        .into_iter()
        .max_by_key(|end| lines.iter().filter(|(_, other)| other == end).count())
        .unwrap_or("\n")
}

/// Splits `text` into lines and their ends: LF, CRLF, CR, or nothing at the end of the text.
fn lines(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let length = rest.find(['\n', '\r']).unwrap_or(rest.len());
        let (line, after) = rest.split_at(length);
        let end = if after.starts_with("\r\n") { 2 } else { after.len().min(1) };
        let (end, after) = after.split_at(end);
        rest = after;
        Some((line, end))
    })
}

/// Returns the text of `bytes` in UTF-8, without a byte order mark.
pub(super) fn text_of(bytes: &[u8]) -> Option<String> {
    let bytes = bytes.strip_prefix(&BOM).unwrap_or(bytes);
    std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0')).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Workspace;

    fn file(content: &[u8]) -> TextFile {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("f"), content).unwrap();
        let workspace = Workspace::open(dir.path()).unwrap();
        workspace.read_text(&workspace.path("f".as_ref()).unwrap()).unwrap()
    }

    #[test]
    fn written_text_gets_line_endings_and_bom_of_its_file() {
        for (old, new, expected) in [
            ("a\r\nb\r\n", "a\nx\nb\n", "a\r\nx\r\nb\r\n"),
            ("a\nb\n", "a\nx\n", "a\nx\n"),
            ("a\rb\r", "a\nc\n", "a\rc\r"),
            // Mixed: each line keeps its own, new ones get the usual one.
            ("a\r\nb\nc\r\nd\r\n", "a\nb\nnew\nc\nd\n", "a\r\nb\nnew\r\nc\r\nd\r\n"),
            ("x\r\nx\nx\r\n", "x\nx\nx\n", "x\r\nx\nx\r\n"),
            // The last line had no line end; the text behind it is new.
            ("a\r\nb", "a\nb\nc", "a\r\nb\r\nc"),
            ("a\r\nb\r\n", "a\nb", "a\r\nb"),
            // A text with a CR of its own keeps its line ends.
            ("a\r\nb\r\n", "a\nb\r\n", "a\nb\r\n"),
            ("\u{feff}a\r\n", "b\n", "\u{feff}b\r\n"),
            ("\u{feff}a\n", "\u{feff}b\n", "\u{feff}b\n"),
            ("a\n", "\u{feff}b\n", "\u{feff}b\n"),
            ("", "a\n", "a\n"),
            ("a\r\n", "", ""),
        ] {
            let bytes = file(old.as_bytes()).with_text(new, LineEnds::OfTheFile);
            assert_eq!(String::from_utf8(bytes).unwrap(), expected, "{old:?} {new:?}");
        }
    }

    #[test]
    fn line_ends_as_given_keep_only_the_byte_order_mark() {
        let old = file("\u{feff}a\r\nb\r\n".as_bytes());
        assert_eq!(old.with_text("x\ny", LineEnds::AsGiven), "\u{feff}x\ny".as_bytes());
        assert_eq!(old.content_hash(), ContentHash::compute("\u{feff}a\r\nb\r\n".as_bytes()));
    }

    #[test]
    fn lines_concatenated_equal_the_text() {
        for text in ["", "a", "a\n", "\r\n\r\n", "a\r\nb\nc\rd", "\n\r\n\r\r\n"] {
            let together: String = lines(text).flat_map(|(line, end)| [line, end]).collect();
            assert_eq!(together, text);
        }
    }
}
