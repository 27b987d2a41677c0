//! Places and lists in the sentences of notes.

use crate::text::Position;
use crate::workspace::WorkspacePath;

/// "src/app.py:12": the line is counted from 1.
pub(crate) fn line_address(path: &WorkspacePath, position: Position) -> String {
    format!("{}:{}", path.display(), u64::from(position.line) + 1)
}

/// The first `most` of `all`, of which there are `count`, and how many more.
pub(crate) fn abbreviate_list(all: impl Iterator<Item = String>, count: usize, most: usize) -> String {
    let named: Vec<String> = all.take(most).collect();
    match count.saturating_sub(named.len()) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}
