//! Limits on the parts of one answer that come from servers, in bytes.
//!
//! A text that is the whole answer (a hover) may fill [`LimitSettings::answer_bytes`]. The budget
//! of a list grows with the number of its items, and each text in it is truncated by itself, so
//! that no item displaces the others. Omissions are reported in the text, by `count` and
//! `has_more`, or by `cut`.

use std::borrow::Cow;
use std::io;

use serde::Serialize;

use crate::analysis::context::Context;
use crate::config::LimitSettings;
use crate::text::{cut_markdown, truncate_with_note};

/// The limit for a name, a label, a title or a type.
const MAX_ANSWER_NAME_BYTES: usize = 1_000;
/// The limit for the text that a completion inserts.
const MAX_ANSWER_INSERTION_BYTES: usize = 4_000;
/// The limit for a diagnostic's message: messages about C++ templates and Rust traits have some
/// thousands of bytes.
const MAX_DIAGNOSTIC_MESSAGE_BYTES: usize = 4_000;
/// The limit for the documentation of one item among several.
const MAX_ITEM_DOCUMENTATION_BYTES: usize = 2_000;
/// The maximum number of related places of one diagnostic.
pub(crate) const MAX_RELATED_PLACES: usize = 10;
/// The maximum number of diagnostics listed for one code action.
pub(crate) const MAX_DIAGNOSTICS_PER_ACTION: usize = 10;
/// The factor between the budget of a list with the default number of items and that of a text. A
/// place takes about 250 bytes as JSON, and a hundred places should fit.
const LIST_BUDGET_FACTOR: usize = 4;

/// The remaining budget of a list.
#[derive(Debug)]
pub(crate) struct ListBudget {
    left: usize,
    is_empty: bool,
}

impl ListBudget {
    /// The budget of a list of at most `limit` items.
    pub(crate) fn for_list(context: &Context, limit: usize) -> Self {
        Self::with_limits(&context.config.settings.limits, limit)
    }

    fn with_limits(limits: &LimitSettings, limit: usize) -> Self {
        let parts = limit.div_ceil(limits.answer_items.max(1)).max(1);
        Self {
            left: limits.answer_bytes.saturating_mul(LIST_BUDGET_FACTOR).saturating_mul(parts),
            is_empty: true,
        }
    }

    /// Returns true and charges the budget if `item` fits. The first item always fits, because an
    /// empty list would be useless.
    pub(crate) fn try_take(&mut self, item: &impl Serialize) -> bool {
        let size = json_size(item);
        let fits = self.is_empty || size <= self.left;
        self.is_empty = false;
        self.left = if fits { self.left.saturating_sub(size) } else { 0 };
        fits
    }

    /// The first of `items` that fit, at most `limit`.
    pub(crate) fn fill<T: Serialize>(&mut self, items: impl IntoIterator<Item = T>, limit: usize) -> Vec<T> {
        items.into_iter().take(limit).take_while(|item| self.try_take(item)).collect()
    }
}

/// The size of `item` as JSON, in bytes.
pub(crate) fn json_size(item: &impl Serialize) -> usize {
    struct JsonByteCounter(usize);
    impl io::Write for JsonByteCounter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = JsonByteCounter(0);
    match serde_json::to_writer(&mut count, item) {
        Ok(()) => count.0,
        // An item that cannot be serialized has no size; writing the answer reports the error.
        Err(_) => 0,
    }
}

/// Truncates Markdown that is the whole answer.
pub(crate) fn cut_page(context: &Context, text: String) -> String {
    cut_owned(text, |text| cut_markdown(text, context.config.settings.limits.answer_bytes))
}

/// Truncates a name, label, title or detail.
pub(crate) fn name(text: String) -> String {
    cut_owned(text, |text| truncate_with_note(text, MAX_ANSWER_NAME_BYTES))
}

/// Truncates the text that a completion inserts.
pub(crate) fn insertion(text: String) -> String {
    cut_owned(text, |text| truncate_with_note(text, MAX_ANSWER_INSERTION_BYTES))
}

/// Truncates a diagnostic's message.
pub(crate) fn message(text: &str) -> String {
    truncate_with_note(text, MAX_DIAGNOSTIC_MESSAGE_BYTES).into_owned()
}

/// Truncates Markdown about one item among several.
pub(crate) fn documentation(text: String) -> String {
    cut_owned(text, |text| cut_markdown(text, MAX_ITEM_DOCUMENTATION_BYTES))
}

fn cut_owned(text: String, cut: impl Fn(&str) -> Cow<'_, str>) -> String {
    let shorter = match cut(&text) {
        Cow::Borrowed(_) => None,
        Cow::Owned(shorter) => Some(shorter),
    };
    shorter.unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_budget_grows_with_limit_and_always_takes_one_item() {
        let limits = LimitSettings { answer_bytes: 1_000, answer_items: 10, ..LimitSettings::default() };
        let filled = |limit, size: usize| {
            ListBudget::with_limits(&limits, limit)
                .fill(std::iter::repeat_n("x".repeat(size - 2), 100), limit)
                .len()
        };
        assert_eq!(filled(10, 100), 10);
        assert_eq!(filled(10, 1_000), 4);
        assert_eq!(filled(20, 1_000), 8);
        assert_eq!(filled(10, 100_000), 1);
    }

    #[test]
    fn list_budget_leaves_out_everything_behind_an_oversized_item() {
        let mut room = ListBudget { left: 10, is_empty: true };
        assert_eq!(room.fill(["four", "much too long", "x"], 10), ["four"]);
        assert!(!room.try_take(&"x"));
    }
}
