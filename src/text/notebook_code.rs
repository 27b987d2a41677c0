//! The code cells of Jupyter notebooks, with the place of each character in the notebook's JSON.

use std::ops::Range as Span;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::notebook::{Notebook, NotebookError};
use super::{Buffer, Range};

/// IPython's cell magics (`%%time`) that are followed by the kernel's own language; other magics
/// are followed by another language.
const CODE_MAGICS: [&str; 7] = ["capture", "prun", "pypy", "python", "python3", "time", "timeit"];

/// The code of a notebook in the language of its kernel.
#[derive(Debug)]
pub(crate) struct NotebookCode {
    /// The cells with code, in their order.
    pub(crate) cells: Vec<CodeCell>,
    /// The number of cells that were not read, because there are too many.
    pub(crate) left_out: usize,
    /// The kernel's language in lower case.
    pub(crate) language: String,
}

/// A cell with code.
#[derive(Debug)]
pub(crate) struct CodeCell {
    /// Its number among all cells, from 1.
    pub(crate) number: usize,
    /// Its source.
    pub(crate) buffer: Buffer,
    /// The bytes of the notebook's JSON that stand for each character.
    spans: Vec<Span<usize>>,
    /// The byte of the JSON at which its source begins.
    start: usize,
}

#[derive(Deserialize)]
struct RawCell<'a> {
    cell_type: Option<String>,
    #[serde(borrow)]
    source: Option<&'a RawValue>,
    /// The name of `source` in nbformat 3.
    #[serde(borrow)]
    input: Option<&'a RawValue>,
}

impl NotebookCode {
    /// Reads the code cells of the notebook in `json`.
    pub(crate) fn parse(json: &str) -> Result<Self, NotebookError> {
        let Notebook { cells, language } = Notebook::<RawCell<'_>>::parse(json)?;
        let mut code = Vec::new();
        for (index, cell) in cells.items.iter().enumerate() {
            if cell.cell_type.as_deref().is_some_and(|kind| kind != "code") {
                continue;
            }
            let cell = CodeCell::read(json, index + 1, cell.source.or(cell.input))?;
            if !cell.is_of_other_language() {
                code.push(cell);
            }
        }
        Ok(Self { cells: code, left_out: cells.left_out, language })
    }
}

impl CodeCell {
    /// Reads a source, which is a string or a list of strings, and a part of `json`.
    fn read(json: &str, number: usize, source: Option<&RawValue>) -> Result<Self, NotebookError> {
        let offset = |part: &RawValue| (part.get().as_ptr() as usize).saturating_sub(json.as_ptr() as usize);
        let (mut text, mut spans) = (String::new(), Vec::new());
        let start = source.map_or(0, offset);
        let parts: Vec<&RawValue> = match source {
            Some(list) if list.get().starts_with('[') => serde_json::from_str(list.get())?,
            one => one.into_iter().collect(),
        };
        for part in parts {
            text.push_str(&serde_json::from_str::<String>(part.get())?);
            let start = offset(part);
            spans.extend(characters(part.get()).map(|span| start + span.start..start + span.end));
        }
        Ok(Self { number, buffer: Buffer::new(&text), spans, start })
    }

    /// Returns true if a cell magic (`%%bash`) states that the cell is not in the kernel's
    /// language.
    fn is_of_other_language(&self) -> bool {
        let first = self.buffer.line(0).unwrap_or_default();
        let magic = first.strip_prefix("%%").and_then(|magic| magic.split_whitespace().next());
        magic.is_some_and(|magic| !CODE_MAGICS.contains(&magic))
    }

    /// The source with `pass` for each line of IPython's own syntax (`%matplotlib inline`, `!ls`,
    /// `help?`).
    pub(crate) fn without_commands(&self) -> String {
        let text = self.buffer.to_string();
        let lines = text.split_inclusive('\n').map(|line| {
            let code = line.trim_start();
            if !is_command(code.trim_end()) {
                return line.to_owned();
            }
            let end = if line.ends_with('\n') { "\n" } else { "" };
            format!("{}pass{end}", &line[..line.len() - code.len()])
        });
        lines.collect()
    }

    /// The range in the notebook's `file` of a range of the cell.
    pub(crate) fn range_in_file(&self, file: &Buffer, range: Range) -> Range {
        let (first, end) = (self.buffer.char_index(range.start), self.buffer.char_index(range.end));
        let last = self.spans.last().map_or(self.start, |span| span.end);
        let from = self.spans.get(first).map_or(last, |span| span.start);
        let to = match end.checked_sub(1) {
            Some(before) if end > first => self.spans.get(before).map_or(last, |span| span.end),
            _ => from,
        };
        Range::new(file.position_of_byte(from), file.position_of_byte(to))
    }
}

/// Returns true if a trimmed line of code is an IPython command. An operator at the start of a
/// continued line has a space after it.
fn is_command(code: &str) -> bool {
    let names = |text: &str| text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
    let is_magic =
        code.strip_prefix('%').is_some_and(|rest| rest.starts_with(|c: char| c == '%' || c.is_alphabetic()));
    let is_help = code.ends_with('?') && names(code.trim_end_matches('?'));
    is_magic || is_help || code.starts_with(['!', '?'])
}

/// The bytes of a JSON string, which is valid, that stand for each of its characters.
fn characters(literal: &str) -> impl Iterator<Item = Span<usize>> {
    let end = literal.len().saturating_sub(1);
    let mut at = 1;
    std::iter::from_fn(move || {
        let rest = literal.get(at..end)?;
        let length = match rest.chars().next()? {
            '\\' => escape_length(rest),
            plain => plain.len_utf8(),
        };
        let span = at..at + length;
        at = span.end;
        Some(span)
    })
}

/// The length of the escape sequence at the start of `text`.
fn escape_length(text: &str) -> usize {
    if !text.starts_with("\\u") {
        return 2;
    }
    let unit = text.get(2..6).and_then(|digits| u16::from_str_radix(digits, 16).ok());
    // A character outside the Basic Multilingual Plane is a pair: `\ud83e\udd80`.
    if unit.is_some_and(|unit| (0xD800..0xDC00).contains(&unit)) { 12 } else { 6 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Finds `wanted` in the code cells of `json`: the cell, its position, and the text in the JSON
    /// at the mapped range.
    fn found<'j>(json: &'j str, wanted: &str) -> (usize, (u32, u32), &'j str) {
        let code = NotebookCode::parse(json).expect("a notebook");
        let file = Buffer::new(json);
        let of_cell = |cell: &CodeCell| {
            let text = cell.buffer.to_string();
            let start = text.find(wanted)?;
            let [from, to] = [start, start + wanted.len()].map(|byte| cell.buffer.position_of_byte(byte));
            let range = cell.range_in_file(&file, Range::new(from, to));
            let [from, to] = [range.start, range.end].map(|at| file.byte_offset(at));
            Some((cell.number, (range.start.line, range.start.character), &json[from..to]))
        };
        code.cells.iter().find_map(of_cell).expect("the word")
    }

    #[test]
    fn places_in_cells_are_mapped_through_the_escapes_of_the_json() {
        let json = "{\"cells\": [\n {\"cell_type\": \"markdown\", \"source\": \"x\"},\n \
             {\"cell_type\": \"code\", \"source\": [\n  \"a = \\\"é🦀\\\\\\\\\\\"; first\\n\",\n  \"\\tb = '\\ud83e\\udd80\\u00e9'; second\"\n ]},\n \
             {\"source\": \"one\\nthird\\n\"}, {\"input\": [\"old\"]}, {\"source\": \"\"}]}";
        assert_eq!(found(json, "first"), (2, (3, 19), "first"));
        assert_eq!(found(json, "é"), (2, (3, 9), "é"));
        assert_eq!(found(json, "; first\n"), (2, (3, 17), "; first\\n"), "the line's end is an escape");
        assert_eq!(found(json, "second"), (2, (4, 31), "second"));
        assert_eq!(found(json, "🦀é"), (2, (4, 10), "\\ud83e\\udd80\\u00e9"));
        assert_eq!(found(json, "third"), (3, (6, 18), "third"));
        assert_eq!(found(json, "old"), (4, (6, 41), "old"));
    }

    #[test]
    fn places_at_the_ends_of_cells_are_in_their_sources() {
        let json = "{\"cells\": [{\"source\": \"\"}, {\"source\": [\"ab\"]}, {}]}";
        let code = NotebookCode::parse(json).expect("a notebook");
        let file = Buffer::new(json);
        let place = |cell: usize, character: u32| {
            let at = Range::empty(crate::text::Position::new(0, character));
            file.byte_offset(code.cells[cell].range_in_file(&file, at).start)
        };
        assert_eq!(
            [place(0, 0), place(1, 0), place(1, 2)],
            ["\"\"", "ab", "\"]}, {}"].map(|at| json.find(at).unwrap())
        );
        assert_eq!(place(2, 7), 0, "a cell without a source");
    }

    #[test]
    fn commands_of_ipython_are_no_code_and_cells_in_other_languages_are_left_out() {
        let json = r#"{"cells": [{"source": "%%bash\nls"}, {"cell_type": "raw", "source": "x"}, {"source":
            "%%time\n%matplotlib inline\nif a:\n    !ls\nprint?\nx = (1\n  % 2)  # why?\n"}],
            "metadata": {"kernelspec": {"language": "Python"}}}"#;
        let code = NotebookCode::parse(json).expect("a notebook");
        let cells: Vec<_> = code.cells.iter().map(|cell| (cell.number, cell.without_commands())).collect();
        let plain = "pass\npass\nif a:\n    pass\npass\nx = (1\n  % 2)  # why?\n";
        assert_eq!(cells, [(3, plain.to_owned())]);
        assert_eq!(code.language, "python");
        let refused =
            |json: &str| NotebookCode::parse(json).err().map(|error| error.to_string()).unwrap_or_default();
        assert_eq!(refused("{}"), "its JSON has no `cells`");
        for broken in ["", "[", "{\"cells\": [{\"source\": 3}]}", "{\"cells\": [{\"source\": \"\\ud83e\"}]}"]
        {
            assert!(refused(broken).starts_with("its text is not valid notebook JSON: "), "{broken}");
        }
    }
}
