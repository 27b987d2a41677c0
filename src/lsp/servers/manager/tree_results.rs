//! Results of reading the whole tree, kept until a watched file changes.

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::Manager;

/// The most items that the kept results have together, to bound their memory.
const MAX_KEPT_ITEMS: usize = 5_000;

/// A result of any type, with its number of items.
type KeptResult = (Arc<dyn Any + Send + Sync>, usize);

/// The results about one state of the tree, by question.
#[derive(Debug, Default)]
pub(super) struct TreeResults(Mutex<(u64, HashMap<String, KeptResult>)>);

impl TreeResults {
    fn get<T: Clone + 'static>(&self, revision: u64, key: &str) -> Option<T> {
        let kept = self.0.lock();
        let (known, _) = kept.1.get(key).filter(|_| kept.0 == revision)?;
        known.downcast_ref().cloned()
    }

    fn insert<T: Send + Sync + 'static>(&self, revision: u64, key: String, result: T, items: usize) {
        let mut kept = self.0.lock();
        let total: usize = kept.1.values().map(|(_, items)| items).sum();
        if kept.0 != revision || total + items > MAX_KEPT_ITEMS {
            *kept = (revision, HashMap::new());
        }
        if items <= MAX_KEPT_ITEMS {
            kept.1.insert(key, (Arc::new(result), items));
        }
    }
}

impl Manager {
    /// Returns a number that differs from earlier ones if a file has changed meanwhile; `None` if
    /// the tree is not watched.
    pub(crate) fn tree_revision(&self) -> Option<u64> {
        self.shared.feed.get().filter(|feed| feed.is_ready())?.revision()
    }

    /// Starts watching the tree, so that later results can be kept.
    pub(crate) fn watch_tree(&self) {
        self.shared.begin_watching();
    }

    /// Returns the result that was kept for `key` at this revision of the tree, if it has one.
    pub(crate) fn kept_result<T: Clone + 'static>(&self, revision: Option<u64>, key: &str) -> Option<T> {
        self.shared.tree_results.get(revision?, key)
    }

    /// Keeps a result about this revision of the tree, if it has one; `items` is the size of a
    /// result that may be kept.
    pub(crate) fn keep_result<T: Clone + Send + Sync + 'static>(
        &self,
        revision: Option<u64>,
        key: String,
        result: &T,
        items: Option<usize>,
    ) {
        if let (Some(revision), Some(items)) = (revision, items) {
            self.shared.tree_results.insert(revision, key, result.clone(), items);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_is_kept_until_the_revision_changes_or_memory_ends() {
        let results = TreeResults::default();
        results.insert(1, "a".to_owned(), 5_u32, MAX_KEPT_ITEMS);
        assert_eq!((results.get::<u32>(1, "a"), results.get::<u32>(2, "a")), (Some(5), None));
        assert_eq!(results.get::<u64>(1, "a"), None, "another type");
        results.insert(1, "b".to_owned(), 6_u32, 1);
        assert_eq!((results.get::<u32>(1, "a"), results.get::<u32>(1, "b")), (None, Some(6)));
        results.insert(1, "c".to_owned(), 7_u32, MAX_KEPT_ITEMS + 1);
        assert_eq!(results.get::<u32>(1, "c"), None);
    }
}
