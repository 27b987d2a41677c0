//! The map from the lines of an old text to those of a new one.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};

/// A map from the lines of an old text to those of a new one.
#[derive(Debug, Clone, Default)]
pub struct LineMap {
    /// The replaced ranges: 0-based lines before and after, in order.
    hunks: Vec<(Range<u32>, Range<u32>)>,
}

impl LineMap {
    /// From `old` to `new`.
    pub fn between(old: &str, new: &str) -> Self {
        let input = InternedInput::new(old, new);
        let mut diff = Diff::compute(Algorithm::Histogram, &input);
        diff.postprocess_lines(&input);
        Self { hunks: diff.hunks().map(|hunk| (hunk.before, hunk.after)).collect() }
    }

    /// Returns the new 0-based line of an old one; `None` if it was replaced or removed.
    pub fn new_line(&self, old: u32) -> Option<u32> {
        let mut shift = 0_i64;
        for (before, after) in &self.hunks {
            if old < before.start {
                break;
            }
            if old < before.end {
                return None;
            }
            shift = i64::from(after.end) - i64::from(before.end);
        }
        u32::try_from(i64::from(old) + shift).ok()
    }

    /// The replaced lines of the old text, 0-based; a range is empty if lines were only added.
    pub(crate) fn old_ranges(&self) -> impl Iterator<Item = Range<u32>> {
        self.hunks.iter().map(|(before, _)| before.clone())
    }

    /// The lines of the new text that took their place.
    pub(crate) fn new_ranges(&self) -> impl Iterator<Item = Range<u32>> {
        self.hunks.iter().map(|(_, after)| after.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_map_shifts_lines_behind_inserted_lines() {
        let map = LineMap::between("a\nb\nc\nd\n", "x\na\nc\ny\nz\nd\n");
        let lines: Vec<Option<u32>> = (0..4).map(|line| map.new_line(line)).collect();
        assert_eq!(lines, [Some(1), None, Some(2), Some(5)]);
        let same = LineMap::between("a\n", "a\n");
        assert_eq!(same.new_line(0), Some(0));
        assert_eq!(same.old_ranges().count(), 0);
    }
}
