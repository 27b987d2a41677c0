//! Places and lists in the sentences of notes.

use crate::text::{LineColumn, Position};
use crate::workspace::WorkspacePath;

/// An address such as "src/app.py:12:5", which every tool accepts.
pub(crate) fn address_of(path: &WorkspacePath, position: Position) -> String {
    format!("{}:{}", path.display(), LineColumn::from(position))
}

/// The first `most` of `all`, and the number of the rest out of `count`.
pub(crate) fn abbreviate_list(all: impl Iterator<Item = String>, count: usize, most: usize) -> String {
    let named: Vec<String> = all.take(most).collect();
    match count.saturating_sub(named.len()) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}
