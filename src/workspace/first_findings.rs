//! The first findings by path, collected from threads that report in any order.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The first findings by path, enough for the wanted number.
///
/// Only the first files by path are kept, so the result does not depend on the order of the
/// threads.
pub(super) struct FirstFindings<T> {
    wanted: usize,
    total: usize,
    files: BTreeMap<PathBuf, (usize, T)>,
}

impl<T> FirstFindings<T> {
    /// An empty collection for `wanted` findings.
    pub(super) fn new(wanted: usize) -> Self {
        Self { wanted, total: 0, files: BTreeMap::new() }
    }

    /// Adds the result of one file, which counts as `count` findings, then drops files at the end
    /// as long as those before are enough.
    pub(super) fn add(&mut self, path: &Path, count: usize, item: T) {
        self.total += count;
        self.files.insert(path.to_owned(), (count, item));
        while let Some(last) = self.files.last_entry() {
            if self.total - last.get().0 < self.wanted {
                break;
            }
            self.total -= last.remove().0;
        }
    }

    /// Returns true if nothing at or below `path` can be among the wanted findings any more.
    pub(super) fn is_beyond(&self, path: &Path) -> bool {
        self.is_full() && self.files.last_key_value().is_some_and(|(last, _)| path > last.as_path())
    }

    /// Returns true if the wanted number is reached.
    pub(super) fn is_full(&self) -> bool {
        self.total >= self.wanted
    }

    /// Returns the remaining findings, by path.
    pub(super) fn into_items(self) -> impl Iterator<Item = T> {
        self.files.into_values().map(|(_, item)| item)
    }
}
