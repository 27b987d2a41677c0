//! Tables, aligned by the columns that characters take on a terminal.

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

use super::DisplayCapabilities;

/// Cells are aligned up to this width: one that is wider would cost every row as much.
const MAX_ALIGNED_CELL_WIDTH: usize = 120;

/// A cell: safe text of one line, and its style.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    /// `text`, which must be escaped already, in `style`.
    pub(crate) fn new(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style }
    }

    /// `text`, which must be escaped already.
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self::new(text, Style::new())
    }
}

/// The rows below each other, cells two blanks apart, each line ended; no line ends in blanks.
pub(crate) fn table(header: &[&str], rows: &[Vec<Cell>], look: &DisplayCapabilities) -> String {
    let header: Vec<Cell> = header.iter().map(|title| Cell::new(*title, super::display::DIM)).collect();
    let header = (!header.is_empty()).then_some(header);
    let columns = rows.iter().chain(&header).map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            let cells = rows.iter().chain(&header).filter_map(|row| row.get(column));
            cells.map(|cell| cell.text.width()).max().unwrap_or(0).min(MAX_ALIGNED_CELL_WIDTH)
        })
        .collect();
    header.iter().chain(rows).map(|row| line(row, &widths, look)).collect()
}

fn line(row: &[Cell], widths: &[usize], look: &DisplayCapabilities) -> String {
    let last = row.iter().rposition(|cell| !cell.text.is_empty());
    let mut out = String::new();
    for (index, cell) in row.iter().enumerate().take(last.map_or(0, |last| last + 1)) {
        out.push_str(&look.paint(cell.style, &cell.text));
        if Some(index) != last {
            // A column that is empty in every row takes no room.
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
