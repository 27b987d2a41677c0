//! Tables, aligned by the display width of characters and fitted to the terminal.

use anstyle::Style;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::cli::render::DisplayCapabilities;

/// The width up to which cells are aligned. A wider cell would widen every row.
const MAX_ALIGNED_CELL_WIDTH: usize = 120;

/// The minimum width for wrapping the last column of a table that is too wide. With less room, the
/// excess cells are below their row.
const MIN_WRAPPED_COLUMN_WIDTH: usize = 24;
/// The indentation of cells below their row.
const BELOW_INDENT: usize = 4;

/// A cell: safe text of one line, and its style.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    /// Creates a cell with `text`, which must be escaped already, in `style`.
    pub(crate) fn new(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style }
    }

    /// Creates a cell with `text`, which must be escaped already.
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self::new(text, Style::new())
    }
}

/// Renders the rows with two blanks between cells and without trailing blanks. On a narrower
/// terminal, the last column is wrapped, or the columns that do not fit are below their row with
/// their titles.
pub(crate) fn table(header: &[&str], rows: &[Vec<Cell>], display: &DisplayCapabilities) -> String {
    let header: Vec<Cell> = header.iter().map(|title| Cell::new(*title, super::display::DIM)).collect();
    let header = (!header.is_empty()).then_some(header);
    let columns = rows.iter().chain(&header).map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            let cells = rows.iter().chain(&header).filter_map(|row| row.get(column));
            cells.map(|cell| cell.text.width()).max().unwrap_or(0).min(MAX_ALIGNED_CELL_WIDTH)
        })
        .collect();
    if display.terminal {
        let all = || header.iter().chain(rows);
        // Counts the full width of cells, including those beyond the limit of alignment.
        if all().map(|row| line_width(row, &widths)).max().is_some_and(|widest| widest > display.width) {
            return fitted(header.as_deref(), rows, &widths, display);
        }
    }
    header.iter().chain(rows).map(|row| line(row, &widths, display)).collect()
}

/// Returns the display width of a row.
fn line_width(row: &[Cell], widths: &[usize]) -> usize {
    let Some(last) = row.iter().rposition(|cell| !cell.text.is_empty()) else { return 0 };
    let before = row[..last].iter().zip(widths).filter(|(_, width)| **width > 0);
    before.map(|(cell, width)| cell.text.width().max(*width) + 2).sum::<usize>() + row[last].text.width()
}

fn fitted(
    header: Option<&[Cell]>,
    rows: &[Vec<Cell>],
    widths: &[usize],
    display: &DisplayCapabilities,
) -> String {
    let taken = |columns: usize| -> usize {
        widths[..columns].iter().filter(|width| **width > 0).map(|width| width + 2).sum()
    };
    let last = widths.iter().rposition(|width| *width > 0).unwrap_or(0);
    if taken(last) + MIN_WRAPPED_COLUMN_WIDTH <= display.width {
        let wrapped = |row: &Vec<Cell>| with_last_wrapped(row, last, taken(last), widths, display);
        return header
            .map(|header| line(header, widths, display))
            .into_iter()
            .chain(rows.iter().map(wrapped))
            .collect();
    }
    let beside = (1..=last).rev().find(|columns| taken(*columns) <= display.width + 2).unwrap_or(0);
    let mut out = header
        .filter(|_| beside > 0)
        .map(|header| line(&header[..beside], widths, display))
        .unwrap_or_default();
    for row in rows {
        let (upper, lower) = row.split_at(beside.min(row.len()));
        let indent = if beside > 0 { BELOW_INDENT } else { 0 };
        if beside > 0 {
            out.push_str(&line(upper, widths, display));
        }
        let titles = header.map_or(&[][..], |header| &header[beside..]);
        for below in below_row(lower, titles, display.width.saturating_sub(indent)) {
            let painted: Vec<String> =
                below.iter().map(|cell| display.paint(cell.style, &cell.text)).collect();
            out.push_str(&format!("{:indent$}{}\n", "", painted.join("  ")));
        }
    }
    out
}

/// Renders a row whose cell `last` starts at the column `at` and is wrapped below itself.
fn with_last_wrapped(
    row: &[Cell],
    last: usize,
    at: usize,
    widths: &[usize],
    display: &DisplayCapabilities,
) -> String {
    let Some(cell) = row.get(last) else { return line(row, widths, display) };
    let mut parts = wrap_words(&cell.text, display.width - at).into_iter();
    let mut first = row[..last].to_vec();
    first.push(Cell::new(parts.next().unwrap_or_default(), cell.style));
    let mut out = line(&first, widths, display);
    for part in parts {
        out.push_str(&format!("{:at$}{}\n", "", display.paint(cell.style, &part)));
    }
    out
}

/// Arranges cells in lines of at most `width` columns, each after its title.
fn below_row(cells: &[Cell], titles: &[Cell], width: usize) -> Vec<Vec<Cell>> {
    let mut lines: Vec<Vec<Cell>> = Vec::new();
    let mut used = 0;
    for (at, cell) in cells.iter().enumerate().filter(|(_, cell)| !cell.text.is_empty()) {
        let title = titles.get(at).map(|title| title.text.as_str()).unwrap_or_default();
        let text = if title.is_empty() { cell.text.clone() } else { format!("{title} {}", cell.text) };
        for (part, text) in wrap_words(&text, width).into_iter().enumerate() {
            let needed = text.width();
            match lines.last_mut().filter(|_| part == 0 && used + 2 + needed <= width) {
                Some(line) => {
                    used += 2 + needed;
                    line.push(Cell::new(text, cell.style));
                }
                None => {
                    used = needed;
                    lines.push(vec![Cell::new(text, cell.style)]);
                }
            }
        }
    }
    lines
}

/// Wraps `text` into lines of at most `width` columns. A longer word is broken after a `/`, else
/// anywhere.
pub(crate) fn wrap_words(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        if let Some(line) = lines.last_mut().filter(|line| line.width() + 1 + word.width() <= width) {
            line.push(' ');
            line.push_str(word);
            continue;
        }
        let mut rest = word;
        while rest.width() > width {
            let (mut end, mut columns, mut slash) = (0, 0, None);
            for (at, character) in rest.char_indices() {
                columns += character.width().unwrap_or(0);
                if columns > width && end > 0 {
                    break;
                }
                end = at + character.len_utf8();
                slash = if character == '/' { Some(end) } else { slash };
            }
            let end = slash.filter(|slash| *slash > 1).unwrap_or(end);
            lines.push(rest[..end].to_owned());
            rest = &rest[end..];
        }
        if !rest.is_empty() {
            lines.push(rest.to_owned());
        }
    }
    lines
}

fn line(row: &[Cell], widths: &[usize], display: &DisplayCapabilities) -> String {
    let last = row.iter().rposition(|cell| !cell.text.is_empty());
    let mut out = String::new();
    for (index, cell) in row.iter().enumerate().take(last.map_or(0, |last| last + 1)) {
        out.push_str(&display.paint(cell.style, &cell.text));
        if Some(index) != last {
            // A column that is empty in every row has no width.
            let gap =
                if widths[index] == 0 { 0 } else { widths[index].saturating_sub(cell.text.width()) + 2 };
            out.extend(std::iter::repeat_n(' ', gap));
        }
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terminal(width: usize) -> DisplayCapabilities {
        DisplayCapabilities { terminal: true, color: false, width }
    }

    fn row(texts: &[&str]) -> Vec<Cell> {
        texts.iter().map(|text| Cell::plain(*text)).collect()
    }

    #[test]
    fn table_wider_than_its_terminal_wraps_its_last_column_or_stacks() {
        let rows = [
            row(&["lsp_hover", "read", "What something is: its type and documentation"]),
            row(&["x", "", "short"]),
        ];
        let header = ["TOOL", "EFFECT", "WHAT"];
        assert_eq!(
            table(&header, &rows, &terminal(50)),
            "TOOL       EFFECT  WHAT\nlsp_hover  read    What something is: its type and\n                   documentation\n\
             x                  short\n"
        );
        assert_eq!(
            table(&header, &rows, &terminal(30)),
            "TOOL       EFFECT\nlsp_hover  read\n    WHAT What something is:\n    its type and documentation\nx\n    WHAT short\n"
        );
        // Output for other programs stays one line per row.
        let piped = DisplayCapabilities { terminal: false, ..terminal(30) };
        assert_eq!(table(&header, &rows, &piped).lines().count(), 3);
    }

    #[test]
    fn no_line_of_a_fitted_table_is_wider_than_its_terminal() {
        let long = "/a/very/long/path/to/something/that/has/no/blank.txt";
        let rows = [
            row(&[long, "1", "2", long, "名前名前名前名前名前名前名前名前名前"]),
            row(&["a", "b", "c", "d", "e"]),
        ];
        for width in 10..120 {
            let text = table(&["PATH", "N", "M", "ELSEWHERE", "NAME"], &rows, &terminal(width));
            for line in text.lines() {
                assert!(line.width() <= width && line == line.trim_end(), "{width}: {line:?}\n{text}");
            }
        }
    }

    #[test]
    fn long_words_are_broken_after_a_slash() {
        assert_eq!(wrap_words("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap_words("/a/very/long/path is long", 8), ["/a/very/", "long/", "path is", "long"]);
    }

    #[test]
    fn table_columns_align_by_display_width_without_trailing_blanks() {
        let rows = [
            vec![Cell::plain("名前"), Cell::plain(""), Cell::plain("x")],
            vec![Cell::plain("a"), Cell::plain(""), Cell::plain("")],
        ];
        assert_eq!(
            table(&["N", "", "DETAIL"], &rows, &DisplayCapabilities::PLAIN),
            "N     DETAIL\n名前  x\na\n"
        );
    }
}
