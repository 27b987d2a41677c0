//! The first findings by path, collected from threads that report in any order.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What was found so far, by file; of which only the first by path are kept, enough for as many findings as are wanted.
/// So the same findings remain whichever thread comes first.
pub(super) struct FirstFindings<T> {
    wanted: usize,
    total: usize,
    files: BTreeMap<PathBuf, (usize, T)>,
}

impl<T> FirstFindings<T> {
    /// Nothing yet; `wanted` findings will do.
    pub(super) fn new(wanted: usize) -> Self {
        Self { wanted, total: 0, files: BTreeMap::new() }
    }

    /// Adds what one file holds, which counts as `count` findings, then drops files at the end as long as those before
    /// hold enough.
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

    /// Whether nothing at or below `path` can be among those wanted any more.
    pub(super) fn is_beyond(&self, path: &Path) -> bool {
        self.is_full() && self.files.last_key_value().is_some_and(|(last, _)| path > last.as_path())
    }

    /// Whether there are as many as wanted.
    pub(super) fn is_full(&self) -> bool {
        self.total >= self.wanted
    }

    /// What is left, by path.
    pub(super) fn into_items(self) -> impl Iterator<Item = T> {
        self.files.into_values().map(|(_, item)| item)
    }
}
