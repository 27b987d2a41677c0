//! Replacement, removal and neighbours of a block of lines (a function, a class), in the
//! indentation and spacing of the text around it.

use super::{Buffer, Position, Range};

/// The beginnings of lines that belong to the block below them: decorators, attributes, comments.
/// `#name` is not among them, because C's preprocessor and JavaScript's private names begin so.
const ATTACHED: &[&str] = &["@", "# ", "##", "#:", "#[", "//", "/*", "--", ";;"];
/// The beginnings of lines that end a block opened on an earlier line.
const CLOSERS: &[&str] = &["}", ")", "]", "end"];
/// The maximum number of lines of one decorator.
const MAX_ATTACHED_LINES: usize = 100;
/// The maximum number of empty lines between two blocks.
pub(super) const MAX_GAP_LINES: usize = 2;

/// The change to a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockEdit<'a> {
    /// Replaces the block by another text; decorators and comments above it stay, unless the text
    /// brings its own.
    Replace(&'a str),
    /// Inserts a text before the block and its attached lines.
    InsertBefore(&'a str),
    /// Inserts a text after the block.
    InsertAfter(&'a str),
    /// Removes the block with its attached lines.
    Remove,
}

/// Edits the block at `range` of `text`, a whole definition. New text may be indented as in the
/// file, or begin at column 0; it gets the line ends of the file.
pub(crate) fn edit_block(text: &str, range: Range, edit: BlockEdit<'_>) -> String {
    let block = Block::new(text, range);
    match edit {
        BlockEdit::Replace(new) => block.replaced(new),
        BlockEdit::InsertBefore(new) => {
            let at = block.line_start(block.first_line);
            let gap = block.line_end.repeat(1 + block.gap());
            format!("{}{}{gap}{}", &text[..at], block.indented(new), &text[at..])
        }
        BlockEdit::InsertAfter(new) => {
            let at = block.content_end(block.last_line);
            let gap = block.line_end.repeat(1 + block.gap());
            format!("{}{gap}{}{}", &text[..at], block.indented(new), &text[at..])
        }
        BlockEdit::Remove => block.removed(),
    }
}

/// A block that was taken out of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CutBlock {
    /// The block with its attached lines, in whole lines.
    pub(crate) block: String,
    /// The text without it.
    pub(crate) rest: String,
    /// The empty lines between it and its neighbours.
    pub(crate) gap: usize,
}

/// Cuts the block at `range` out of `text`; `None` if it shares its lines with other code.
pub(crate) fn cut_block(text: &str, range: Range) -> Option<CutBlock> {
    let block = Block::new(text, range);
    let own = block.line_start(block.first_line)..block.content_end(block.last_line);
    (!block.shares_line).then(|| CutBlock {
        block: text[own].to_owned(),
        rest: block.removed(),
        gap: block.gap(),
    })
}

struct Block<'t> {
    text: &'t str,
    lines: Vec<String>,
    buffer: Buffer,
    /// The start and end of the block's text, in bytes, without the indentation before it.
    start: usize,
    end: usize,
    /// The first line that belongs to it, its own last line.
    first_line: usize,
    last_line: usize,
    /// The white space before its first line.
    indent: String,
    line_end: &'static str,
    /// True if other code is on its lines; text that only introduces and ends it (`export const`,
    /// `;`) does not count.
    shares_line: bool,
}

impl<'t> Block<'t> {
    fn new(text: &'t str, range: Range) -> Self {
        let buffer = Buffer::new(text);
        let line = |line| buffer.line(line).unwrap_or_default().into_owned();
        let lines: Vec<String> = (0..buffer.line_count()).map(line).collect();
        let range_line = range.start.line as usize;
        // Some servers count decorators and comments in, others do not.
        let own_line = first_own_line(&lines, range_line, range.end.line as usize);
        let indent = lines.get(own_line).map(|line| line[..indent_of(line)].to_owned()).unwrap_or_default();
        let first_text = line_start(&buffer, own_line) + indent.len();
        let given = buffer.byte_offset(range.start);
        let start = given.max(first_text);
        let end = start + text[start..buffer.byte_offset(range.end).max(start)].trim_end().len();
        let mut block = Self {
            text,
            start,
            end,
            first_line: range_line,
            last_line: buffer.position_of_byte(end).line as usize,
            indent,
            line_end: if text.contains("\r\n") { "\r\n" } else { "\n" },
            shares_line: false,
            lines,
            buffer,
        };
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c.is_whitespace();
        let behind = text[end..block.content_end(block.last_line).max(end)].trim();
        block.shares_line = start > first_text
            && !(text[first_text..start].chars().all(is_word) && matches!(behind, "" | ";"));
        while let Some(line) = block.attached_above() {
            block.first_line = line;
        }
        block
    }

    /// The first line of the decorator, attribute or comment that ends right above.
    fn attached_above(&self) -> Option<usize> {
        let above = self.first_line.checked_sub(1).filter(|_| !self.shares_line)?;
        let own = self.indent.len();
        let begins = |line: &str| indent_of(line) == own && is_attached(line);
        if begins(&self.lines[above]) {
            return Some(above);
        }
        // One of several lines ends with a line that closes it.
        let last = self.lines[above].trim_end();
        let closes = last.ends_with("*/") || indent_of(last) == own && is_closer(last);
        let first =
            self.lines[..above].iter().rposition(|line| indent_of(line) == own && !line.is_empty())?;
        let is_one = closes && begins(&self.lines[first]) && attached_end(&self.lines, first) == above;
        is_one.then_some(first)
    }

    /// Replaces the block by `new`. The text before and behind the block on its lines, such as
    /// `export const` and `;`, is dropped if `new` has it too.
    fn replaced(&self, new: &str) -> String {
        let new = self.indented(new);
        let new = new.trim_start();
        let own_line = self.buffer.position_of_byte(self.start).line as usize;
        let first_text = self.line_start(own_line) + self.indent.len();
        let before = self.text[first_text..self.start].trim_end();
        let start = match () {
            () if !before.is_empty() && new.starts_with(before) => first_text,
            () if !self.shares_line && is_attached(new) => {
                self.line_start(self.first_line) + self.indent.len()
            }
            () => self.start,
        };
        let behind = &self.text[self.end..self.content_end(self.last_line).max(self.end)];
        let repeats = !behind.trim().is_empty() && new.ends_with(behind.trim());
        let end = if repeats { self.end + behind.len() } else { self.end };
        format!("{}{new}{}", &self.text[..start], &self.text[end..])
    }

    fn line_start(&self, line: usize) -> usize {
        line_start(&self.buffer, line)
    }

    /// Returns the byte offset of the end of `line`, without its line break.
    fn content_end(&self, line: usize) -> usize {
        self.line_start(line) + self.lines.get(line).map_or(0, String::len)
    }

    fn empty_lines_above(&self) -> usize {
        self.lines[..self.first_line].iter().rev().take_while(|line| line.trim().is_empty()).count()
    }

    fn empty_lines_below(&self) -> usize {
        self.lines.iter().skip(self.last_line + 1).take_while(|line| line.trim().is_empty()).count()
    }

    /// The number of empty lines between the block and its siblings; one if it has no siblings and
    /// is not a single line.
    fn gap(&self) -> usize {
        let (above, below) = (self.empty_lines_above(), self.empty_lines_below());
        let before = self.first_line.checked_sub(above + 1).map(|line| &self.lines[line]);
        let after = self.lines.get(self.last_line + below + 1);
        let own = self.indent.len();
        let is_sibling = |line: &str| indent_of(line) >= own && !line.trim_end().ends_with(['{', ':', '(']);
        let above = before.filter(|line| is_sibling(line)).map(|_| above);
        let below = after.filter(|line| indent_of(line) == own && !is_closer(line)).map(|_| below);
        let usual = usize::from(self.last_line > self.first_line);
        above.max(below).unwrap_or(usual).min(MAX_GAP_LINES)
    }

    fn removed(&self) -> String {
        if self.shares_line {
            return format!("{}{}", &self.text[..self.start], &self.text[self.end..]);
        }
        let (above, below) = (self.empty_lines_above(), self.empty_lines_below());
        let after = self.lines.get(self.last_line + below + 1);
        // At the end of the surrounding block, the empty lines before it are removed; else those
        // behind it.
        let is_last = after.is_none_or(|line| indent_of(line) < self.indent.len() || is_closer(line));
        let (first, last) = match is_last {
            true => (self.first_line - above, self.last_line),
            false => (self.first_line, self.last_line + below),
        };
        let end = match self.lines.len() > last + 1 {
            true => self.line_start(last + 1),
            false => self.text.len(),
        };
        format!("{}{}", &self.text[..self.line_start(first)], &self.text[end..])
    }

    /// Returns `new` in the indentation of the block.
    fn indented(&self, new: &str) -> String {
        let lines: Vec<&str> = new.lines().map(str::trim_end).skip_while(|line| line.is_empty()).collect();
        let count = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
        let lines = &lines[..count];
        let Some(first) = lines.first() else { return String::new() };
        let own = &first[..first.len() - first.trim_start().len()];
        let keep = own.is_empty() && self.is_in_place(&lines[1..]);
        let shifted = lines.iter().enumerate().map(|(index, line)| match line.strip_prefix(own) {
            _ if line.is_empty() => String::new(),
            _ if keep && index > 0 => (*line).to_owned(),
            Some(rest) => format!("{}{rest}", self.indent),
            None => format!("{}{}", self.indent, line.trim_start()),
        });
        shifted.collect::<Vec<_>>().join(self.line_end)
    }

    /// Returns true if the lines after an unindented first line are indented as in the file: deeper
    /// than the block, or closing it there.
    fn is_in_place(&self, rest: &[&str]) -> bool {
        let own = self.indent.len();
        let indents = rest.iter().filter(|line| !line.is_empty()).map(|line| indent_of(line));
        let closes = rest.last().is_some_and(|line| is_closer(line) && indent_of(line) == own);
        own > 0 && indents.min().is_some_and(|least| least > own || least == own && closes)
    }
}

fn line_start(buffer: &Buffer, line: usize) -> usize {
    buffer.byte_offset(Position::new(u32::try_from(line).unwrap_or(u32::MAX), 0))
}

/// The first line from `first` on, up to `last`, that is not a decorator, attribute or comment.
fn first_own_line(lines: &[String], first: usize, last: usize) -> usize {
    let mut line = first;
    while line < last && lines.get(line).is_some_and(|text| is_attached(text) || text.trim().is_empty()) {
        line = attached_end(lines, line) + 1;
    }
    if line <= last { line } else { first }
}

/// The last line of the decorator, attribute or comment that begins on `first`.
fn attached_end(lines: &[String], first: usize) -> usize {
    if lines.get(first).is_some_and(|line| line.trim_start().starts_with("/*")) {
        let end = lines.iter().skip(first).take(MAX_ATTACHED_LINES).position(|line| line.contains("*/"));
        return first + end.unwrap_or_default();
    }
    let mut open = 0_isize;
    for (index, line) in lines.iter().enumerate().skip(first).take(MAX_ATTACHED_LINES) {
        let count = |brackets: &[char]| line.matches(brackets).count() as isize;
        open += count(&['(', '[', '{']) - count(&[')', ']', '}']);
        if open <= 0 || is_comment(line) {
            return index;
        }
    }
    first
}

fn is_attached(line: &str) -> bool {
    let own = line.trim_start();
    own == "#" || ATTACHED.iter().any(|begin| own.starts_with(begin))
}

fn is_comment(line: &str) -> bool {
    let own = line.trim_start();
    is_attached(line) && !own.starts_with('@') && !own.starts_with("#[")
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn is_closer(line: &str) -> bool {
    CLOSERS.iter().any(|closer| line.trim_start().starts_with(closer))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PYTHON: &str = "import os\n\n\nclass Cart:\n    size = 1\n\n    # The sum.\n    @cached\n    def total(self):\n        \
                          return 1\n\n    def count(self):\n        return 2\n\n\ndef main():\n    pass\n";

    /// From the line of `def NAME` through `lines` lines.
    fn range_of(text: &str, first: &str, lines: u32) -> Range {
        let line = text.lines().position(|line| line.trim_start().starts_with(first)).unwrap() as u32;
        let column = indent_of(text.lines().nth(line as usize).unwrap()) as u32;
        let last = line + lines - 1;
        let end = text.lines().nth(last as usize).unwrap().chars().count() as u32;
        Range::new(Position::new(line, column), Position::new(last, end))
    }

    #[test]
    fn replaced_block_takes_the_indentation_of_the_old_one() {
        let total = range_of(PYTHON, "def total", 2);
        let expected = PYTHON.replace("        return 1\n", "        value = 3\n\n        return value\n");
        for new in [
            "def total(self):\n    value = 3\n\n    return value\n",
            "    def total(self):\n        value = 3\n\n        return value",
            "def total(self):\n        value = 3\n\n        return value",
        ] {
            assert_eq!(edit_block(PYTHON, total, BlockEdit::Replace(new)), expected, "{new}");
        }
    }

    #[test]
    fn replaced_block_in_braces_keeps_its_closing_line() {
        let text = "class A {\n  area() {\n    return 1;\n  }\n}\n";
        let area = range_of(text, "area", 3);
        let expected = text.replace("return 1", "return 2");
        for new in
            ["area() {\n  return 2;\n}", "area() {\n    return 2;\n  }", "  area() {\n    return 2;\n  }\n"]
        {
            assert_eq!(edit_block(text, area, BlockEdit::Replace(new)), expected, "{new}");
        }
    }

    #[test]
    fn inserted_block_stands_above_decorators_with_the_gap_of_its_siblings() {
        let total = range_of(PYTHON, "def total", 2);
        let new = "def first(self):\n    return 0";
        let expected =
            PYTHON.replace("    # The sum.", "    def first(self):\n        return 0\n\n    # The sum.");
        assert_eq!(edit_block(PYTHON, total, BlockEdit::InsertBefore(new)), expected);
        let expected = PYTHON.replace("return 1\n", "return 1\n\n    def first(self):\n        return 0\n");
        assert_eq!(edit_block(PYTHON, total, BlockEdit::InsertAfter(new)), expected);
        let main = range_of(PYTHON, "def main", 2);
        let added = edit_block(PYTHON, main, BlockEdit::InsertAfter("def last():\n    pass\n"));
        assert_eq!(added, format!("{PYTHON}\n\ndef last():\n    pass\n"));
    }

    #[test]
    fn inserted_line_beside_single_lines_has_no_gap() {
        let text = "const A: u8 = 1;\nconst B: u8 = 2;\n";
        let added =
            edit_block(text, range_of(text, "const A", 1), BlockEdit::InsertAfter("const C: u8 = 3;"));
        assert_eq!(added, "const A: u8 = 1;\nconst C: u8 = 3;\nconst B: u8 = 2;\n");
    }

    #[test]
    fn removed_block_takes_comments_decorators_and_one_gap_with_it() {
        let removed = edit_block(PYTHON, range_of(PYTHON, "def total", 2), BlockEdit::Remove);
        assert_eq!(
            removed,
            PYTHON.replace("    # The sum.\n    @cached\n    def total(self):\n        return 1\n\n", "")
        );
        let removed = edit_block(PYTHON, range_of(PYTHON, "def count", 2), BlockEdit::Remove);
        assert_eq!(removed, PYTHON.replace("\n    def count(self):\n        return 2\n", ""));
        let removed = edit_block(PYTHON, range_of(PYTHON, "def main", 2), BlockEdit::Remove);
        assert_eq!(removed, PYTHON.replace("\n\ndef main():\n    pass\n", ""));
    }

    #[test]
    fn block_edit_keeps_carriage_returns_and_preprocessor_lines() {
        let text = "#include <a.h>\r\nint f(void) {\r\n  return 1;\r\n}\r\n";
        let range = range_of(text, "int f", 3);
        let added = edit_block(text, range, BlockEdit::InsertBefore("int g(void);"));
        assert_eq!(added, "#include <a.h>\r\nint g(void);\r\nint f(void) {\r\n  return 1;\r\n}\r\n");
        assert_eq!(edit_block(text, range, BlockEdit::Remove), "#include <a.h>\r\n");
    }

    #[test]
    fn decorators_stay_whether_or_not_the_range_has_them() {
        let text = "@route(\n    \"/\",\n)\n# Why.\n@cached\ndef f():\n    return 1\n";
        let own = range_of(text, "def f", 2);
        let whole = Range::new(Position::new(0, 0), own.end);
        for range in [own, whole] {
            let replaced = edit_block(text, range, BlockEdit::Replace("def f():\n    return 2"));
            assert_eq!(replaced, text.replace("return 1", "return 2"));
            let replaced = edit_block(text, range, BlockEdit::Replace("@other\ndef f():\n    return 2"));
            assert_eq!(replaced, "@other\ndef f():\n    return 2\n");
            let added = edit_block(text, range, BlockEdit::InsertBefore("X = 1"));
            assert_eq!(added, format!("X = 1\n\n{text}"));
            assert_eq!(edit_block(text, range, BlockEdit::Remove), "");
        }
    }

    #[test]
    fn comment_of_several_lines_belongs_to_the_block_and_a_private_name_does_not() {
        let text = "class A {\n  #count() {\n    return 1;\n  }\n\n  /**\n   * Why.\n   */\n  area() {\n    return 2;\n  }\n}\n";
        let removed = edit_block(text, range_of(text, "area", 3), BlockEdit::Remove);
        assert_eq!(removed, "class A {\n  #count() {\n    return 1;\n  }\n}\n");
        let replaced =
            edit_block(text, range_of(text, "#count", 3), BlockEdit::Replace("#count() {\n  return 3;\n}"));
        assert_eq!(replaced, text.replace("return 1", "return 3"));
    }

    #[test]
    fn declaration_given_whole_is_not_doubled_where_the_range_has_a_part_of_it() {
        let text = "export const rate = 1;\nlet x = 2;\n";
        let range = Range::new(Position::new(0, 13), Position::new(0, 21));
        for new in ["rate = 3", "export const rate = 3;", "export const rate = 3"] {
            let replaced = edit_block(text, range, BlockEdit::Replace(new));
            assert_eq!(replaced, "export const rate = 3;\nlet x = 2;\n", "{new}");
        }
    }

    #[test]
    fn block_that_shares_its_line_is_edited_alone() {
        let text = "a = 1; b = 2\n";
        let range = Range::new(Position::new(0, 7), Position::new(0, 12));
        assert_eq!(edit_block(text, range, BlockEdit::Replace("b = 3")), "a = 1; b = 3\n");
        assert_eq!(edit_block(text, range, BlockEdit::Remove), "a = 1; \n");
        assert_eq!(cut_block(text, range), None);
    }

    #[test]
    fn words_that_introduce_a_declaration_go_with_it() {
        let text = "let x = 2;\n\n/** Why. */\nexport const rate = 1;\n\nlet y = 3;\n";
        let range = Range::new(Position::new(3, 13), Position::new(3, 21));
        let rest = "let x = 2;\n\nlet y = 3;\n";
        assert_eq!(edit_block(text, range, BlockEdit::Remove), rest);
        let block = "/** Why. */\nexport const rate = 1;".to_owned();
        assert_eq!(cut_block(text, range), Some(CutBlock { block, rest: rest.to_owned(), gap: 1 }));
        let added = edit_block(text, range, BlockEdit::InsertBefore("let z = 1;"));
        assert_eq!(added, text.replace("/** Why", "let z = 1;\n\n/** Why"));
        let several = "const a = 1, b = 2;\n";
        assert_eq!(cut_block(several, Range::new(Position::new(0, 6), Position::new(0, 11))), None);
    }

    #[test]
    fn range_that_ends_on_the_next_line_ends_with_its_last_text() {
        let text = "fn a() {\n}\n\nfn b() {}\n";
        let range = Range::new(Position::new(0, 0), Position::new(2, 0));
        assert_eq!(edit_block(text, range, BlockEdit::Replace("fn c() {}")), "fn c() {}\n\nfn b() {}\n");
    }
}
