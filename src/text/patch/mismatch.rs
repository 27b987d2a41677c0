//! The explanation of a hunk that does not fit: reason, nearest place, differences.

use std::collections::HashMap;

use super::applied::AppliedHunk;
use super::haystack::{Haystack, line_content};
use super::{Hunk, HunkAnchor, HunkLine};
use crate::text::difference::{Difference, shown_line};
use crate::text::lines::strip_line_end;

/// The number of hunks for which the nearest place is searched; each search reads the whole text.
const MAX_EXPLAINED_HUNKS: usize = 20;
/// The number of equal lines that are examined in the search for the nearest place.
const MAX_FOLLOWED_EQUAL_LINES: usize = 200_000;

/// The hunks that do not fit, and those that would.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PatchMismatch {
    /// Every hunk that does not fit, in order.
    pub failed: Vec<HunkMismatch>,
    /// The hunks that would fit, in order; nothing was changed.
    pub(crate) fitting: Vec<AppliedHunk>,
}

/// A hunk that does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HunkMismatch {
    /// Its 0-based number within the file's section of the patch.
    pub(crate) index: usize,
    /// The 1-based line of the patch at which it begins.
    pub(crate) patch_line: usize,
    /// The 1-based line of the old text that it states; `None` if it states none.
    pub(crate) old_start: Option<usize>,
    /// The reason why the hunk does not fit.
    pub reason: MismatchReason,
    /// True if the text has the hunk's new lines already, so that the hunk was probably applied
    /// before.
    pub(crate) already_applied: bool,
    /// The place with the most of its old lines, and the difference there. `None` if no old line is
    /// found, and after the first twenty mismatches.
    pub(crate) nearest: Option<NearestPlace>,
}

/// The reasons why a hunk does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MismatchReason {
    /// Its old lines are not in the text.
    NotFound,
    /// Its old lines are in several places, and the choice is ambiguous.
    Ambiguous {
        /// The 1-based lines at which it would fit, at most ten.
        lines: Vec<usize>,
    },
    /// Another hunk changes the same place.
    Overlap,
    /// The hunk has no old lines, and belongs behind a line that the text does not have.
    PastEnd {
        /// The number of lines of the text.
        lines: usize,
    },
    /// The hunk has neither a line number nor old lines.
    NothingToFind,
    /// The hunk has no old lines, and the hunks around it were found at other lines than stated.
    /// Its own line number is then unreliable.
    Unanchored,
}

/// The best place for a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NearestPlace {
    /// The 1-based line of the text on which the hunk's first old line would lie.
    pub(crate) line: usize,
    /// The number of old lines that match there.
    pub(crate) same: usize,
    /// The number of old lines of the hunk.
    pub(crate) of: usize,
    /// The 1-based line of the text that is the first to differ.
    pub(crate) differs_at: usize,
    /// The hunk's line there, shortened.
    pub(crate) expected: String,
    /// The text's line there, shortened; `None` behind its end.
    pub(crate) found: Option<String>,
    /// The difference between the two lines.
    pub(crate) difference: Difference,
}

/// Explains why `hunk` does not fit.
pub(super) fn explain_mismatch(
    text: &Haystack<'_>,
    index: usize,
    hunk: &Hunk,
    reason: MismatchReason,
    explained: usize,
) -> HunkMismatch {
    let old_start = match hunk.place {
        HunkAnchor::Line { old_start, .. } => Some(old_start),
        HunkAnchor::Text { .. } => None,
    };
    let tell = explained < MAX_EXPLAINED_HUNKS && reason == MismatchReason::NotFound;
    let nearest = if tell { nearest_place(text, hunk, old_start) } else { None };
    let already_applied = tell && is_applied(text, hunk);
    HunkMismatch { index, patch_line: hunk.line, old_start, reason, already_applied, nearest }
}

/// Returns true if the hunk adds something and its new lines are in the text.
fn is_applied(text: &Haystack<'_>, hunk: &Hunk) -> bool {
    let new: Vec<&str> = hunk.new_lines().map(line_content).collect();
    let adds =
        hunk.lines.iter().any(|line| line.kind == super::LineKind::Add && !line.text.trim().is_empty());
    let Some((shift, rarest)) =
        new.iter().enumerate().min_by_key(|(_, line)| text.lines_equal_to(line).len())
    else {
        return false;
    };
    let places = text.lines_equal_to(rarest).iter().take(1 + MAX_FOLLOWED_EQUAL_LINES / new.len());
    adds && places.filter_map(|place| (*place as usize).checked_sub(shift)).any(|at| {
        let here = text.lines.get(at..at + new.len());
        here.is_some_and(|here| here.iter().zip(&new).all(|(line, new)| strip_line_end(line) == *new))
    })
}

/// Finds the place with most of the old lines, the nearest to `stated` (1-based) among equals.
fn nearest_place(text: &Haystack<'_>, hunk: &Hunk, stated: Option<usize>) -> Option<NearestPlace> {
    let old: Vec<&HunkLine> = hunk.old_lines().collect();
    let mut votes: HashMap<usize, usize> = HashMap::new();
    let mut left = MAX_FOLLOWED_EQUAL_LINES;
    for (at, line) in old.iter().enumerate() {
        let places = text.lines_trimmed(&line.text);
        // Frequent lines (blank ones, braces) are poor evidence, and slow to compare.
        let places = &places[..places.len().min(left)];
        left -= places.len();
        for start in places.iter().filter_map(|place| place.checked_sub(at)) {
            *votes.entry(start).or_default() += if line.text.trim().is_empty() { 1 } else { 4 };
        }
    }
    let wanted = stated.unwrap_or(1).saturating_sub(1);
    let best =
        votes.into_iter().max_by_key(|(start, votes)| (*votes, std::cmp::Reverse(start.abs_diff(wanted))));
    let stated_line = stated.map(|line| line.saturating_sub(1)).filter(|start| *start < text.len());
    let start = best.map(|(start, _)| start).or(stated_line)?;
    compare(text, &old, start)
}

fn compare(text: &Haystack<'_>, old: &[&HunkLine], start: usize) -> Option<NearestPlace> {
    let here = |at: usize| text.lines.get(start + at).copied();
    let agrees = |at: usize| here(at).is_some_and(|line| strip_line_end(line) == line_content(old[at]));
    let same = (0..old.len()).filter(|at| agrees(*at)).count();
    let differs = (0..old.len()).find(|at| !agrees(*at))?;
    let expected = line_content(old[differs]);
    let found = here(differs).map(strip_line_end);
    Some(NearestPlace {
        line: start + 1,
        same,
        of: old.len(),
        differs_at: start + differs + 1,
        expected: shown_line(expected),
        found: found.map(shown_line),
        difference: found.map_or(Difference::EndOfText, |found| Difference::between(expected, found)),
    })
}

impl std::fmt::Display for MismatchReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotFound => f.write_str("its lines are not in the file"),
            Self::Ambiguous { lines } => {
                let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
                write!(f, "it fits at several places (lines {}); give more context lines", lines.join(", "))
            }
            Self::Overlap => {
                f.write_str("its place is changed by another hunk of the patch; make one hunk of both")
            }
            Self::PastEnd { lines } => {
                write!(f, "it starts past the end of the file, which has {lines} lines")
            }
            Self::NothingToFind => f.write_str(
                "it has neither a line number nor context; add context lines around the new lines",
            ),
            Self::Unanchored => f.write_str(
                "it has no context, and other hunks were found elsewhere than stated; add context lines",
            ),
        }
    }
}

impl std::fmt::Display for HunkMismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "hunk {} (line {} of the patch): {}", self.index + 1, self.patch_line, self.reason)?;
        if self.already_applied {
            f.write_str("; the file already contains its new lines")?;
        }
        let Some(near) = &self.nearest else { return Ok(()) };
        write!(f, "; nearest is line {} ({} of {} lines the same): ", near.line, near.same, near.of)?;
        write!(f, "line {} should be `{}`", near.differs_at, near.expected)?;
        match &near.found {
            Some(found) => write!(f, " but is `{found}` ({})", near.difference),
            None => write!(f, " ({})", near.difference),
        }
    }
}

impl std::fmt::Display for PatchMismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let all = self.failed.len() + self.fitting.len();
        write!(f, "{} of {all} hunks do not fit", self.failed.len())?;
        for failed in self.failed.iter().take(MAX_EXPLAINED_HUNKS) {
            write!(f, "\n{failed}")?;
        }
        match self.failed.len().checked_sub(MAX_EXPLAINED_HUNKS) {
            None | Some(0) => Ok(()),
            Some(more) => write!(f, "\nand {more} more"),
        }
    }
}
