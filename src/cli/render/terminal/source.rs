//! Source lines for display: tabs as blanks, unsafe characters escaped, long lines truncated.

use std::ops::Range;

use super::escape;

/// The length limit of a line, in characters.
const MAX_SOURCE_LINE_CHARS: usize = 240;
/// The number of characters kept before the focus.
const CONTEXT_BEFORE_FOCUS_CHARS: usize = 60;
/// Tab stops, in columns of the terminal.
const TAB_STOP_COLUMNS: usize = 4;

/// A source line for display, with the mapping of its characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RenderedSourceLine {
    /// The displayed text.
    pub(crate) text: String,
    /// For each character of the source line and for its end, its byte offset in `text`.
    offsets: Vec<usize>,
}

impl RenderedSourceLine {
    /// Renders `line`; if it is long, only the part around `focus` (0-based characters).
    pub(crate) fn new(line: &str, focus: Range<u32>) -> Self {
        let line = line.trim_end_matches(['\n', '\r']);
        let length = line.chars().count();
        let window = window(length, focus);
        let mut shown =
            Self { text: String::with_capacity(line.len()), offsets: Vec::with_capacity(length + 1) };
        if window.start > 0 {
            shown.text.push('…');
        }
        let mut column = unicode_width::UnicodeWidthStr::width(shown.text.as_str());
        for (index, character) in line.chars().enumerate() {
            shown.offsets.push(shown.text.len());
            if window.contains(&index) {
                shown.push(character, &mut column);
            }
        }
        shown.offsets.push(shown.text.len());
        if window.end < length {
            shown.text.push('…');
        }
        shown
    }

    fn push(&mut self, character: char, column: &mut usize) {
        let from = self.text.len();
        if character == '\t' {
            self.text.extend(std::iter::repeat_n(' ', TAB_STOP_COLUMNS - *column % TAB_STOP_COLUMNS));
        } else if escape::is_unsafe(character) {
            escape::push_escaped(&mut self.text, character);
        } else {
            self.text.push(character);
        }
        *column += unicode_width::UnicodeWidthStr::width(&self.text[from..]);
    }

    /// Returns the bytes of `text` for the 0-based `characters` of the source line, limited to its
    /// end.
    pub(crate) fn byte_span(&self, characters: Range<u32>) -> Range<usize> {
        let at = |character: u32| {
            let index = (character as usize).min(self.offsets.len().saturating_sub(1));
            self.offsets.get(index).copied().unwrap_or(0)
        };
        at(characters.start)..at(characters.end).max(at(characters.start))
    }

    /// Removes leading blanks.
    pub(crate) fn trim_start(mut self) -> Self {
        let blanks = self.text.len() - self.text.trim_start().len();
        self.text.drain(..blanks);
        for offset in &mut self.offsets {
            *offset = offset.saturating_sub(blanks);
        }
        let end = self.text.trim_end().len();
        self.text.truncate(end);
        for offset in &mut self.offsets {
            *offset = (*offset).min(end);
        }
        self
    }
}

fn window(length: usize, focus: Range<u32>) -> Range<usize> {
    if length <= MAX_SOURCE_LINE_CHARS {
        return 0..length;
    }
    let start = (focus.start as usize).min(length).saturating_sub(CONTEXT_BEFORE_FOCUS_CHARS);
    start..(start + MAX_SOURCE_LINE_CHARS).min(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spanned(line: &str, characters: Range<u32>) -> (String, String) {
        let shown = RenderedSourceLine::new(line, characters.clone());
        let span = shown.byte_span(characters);
        (shown.text.clone(), shown.text[span].to_owned())
    }

    #[test]
    fn source_line_span_survives_tabs_wide_and_escaped_characters() {
        assert_eq!(spanned("\tname = 1", 1..5), ("    name = 1".into(), "name".into()));
        assert_eq!(spanned("a\tname", 2..6), ("a   name".into(), "name".into()));
        assert_eq!(spanned("名\t名前", 2..4), ("名  名前".into(), "名前".into()));
        assert_eq!(spanned("\x1b[2Jname", 4..8), ("\\u{1b}[2Jname".into(), "name".into()));
    }

    #[test]
    fn source_line_range_past_the_end_is_cut() {
        assert_eq!(spanned("ab", 1..900), ("ab".into(), "b".into()));
        assert_eq!(spanned("", 5..9), (String::new(), String::new()));
    }

    #[test]
    fn long_source_line_is_cut_around_the_span() {
        let line = format!("{}name{}", "x".repeat(100_000), "y".repeat(100_000));
        let (text, name) = spanned(&line, 100_000..100_004);
        assert_eq!(name, "name");
        assert_eq!(text, format!("…{}name{}…", "x".repeat(60), "y".repeat(176)));
    }

    #[test]
    fn trimmed_source_line_moves_its_span() {
        let shown = RenderedSourceLine::new("\t\tdef name():  ", 6..10).trim_start();
        assert_eq!(shown.text, "def name():");
        assert_eq!(&shown.text[shown.byte_span(6..10)], "name");
    }
}
