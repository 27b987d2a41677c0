//! Application of the hunks of one file to its text.

use super::applied::{AppliedFilePatch, AppliedHunk};
use super::assemble::assemble;
use super::haystack::{Haystack, TooMuchWork};
use super::hunk_placement::{HunkShape, Placement, Placer};
use super::mismatch::{self, HunkMismatch, PatchMismatch};
use super::{FilePatch, HunkAnchor, MismatchReason};

/// The tolerance with which hunks are placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ApplyOptions {
    /// The maximum number of context lines that may be dropped at each end of a hunk, if its place
    /// is then unique; 0 demands all.
    pub fuzz: usize,
}

impl Default for ApplyOptions {
    /// Two lines, like `patch`.
    fn default() -> Self {
        Self { fuzz: 2 }
    }
}

/// The reasons why a patch was not applied. The text is then unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ApplyError {
    /// Hunks do not fit.
    #[error("{0}")]
    Mismatch(PatchMismatch),
    /// The patch deletes the file, and some of its text would be left.
    #[error(
        "the patch deletes the file, but removes only a part of it; {lines} lines would be left (the first is line {first})"
    )]
    NotAll {
        /// Lines left.
        lines: usize,
        /// The 1-based line of the old text that is the first to be left.
        first: usize,
    },
    /// The search for the hunks takes too long.
    #[error(
        "the hunks fit nearly everywhere in the file, and telling the places apart takes too long; give more context or split the patch"
    )]
    TooMuchWork,
}

/// Applies the hunks of `patch` to `old`, the text of its [`FilePatch::old_path`] (empty if that is
/// `None`).
///
/// Applies all hunks or none. A byte order mark that the patch does not mention stays. A patch
/// without hunks returns the old text; one that deletes a file and has no hunks returns nothing.
///
/// # Errors
/// [`ApplyError::Mismatch`] reports every hunk that does not fit.
pub(crate) fn apply(
    patch: &FilePatch,
    old: &str,
    options: ApplyOptions,
) -> Result<AppliedFilePatch, ApplyError> {
    let deletes = matches!(patch.operation, super::FilePatchOperation::Delete { .. });
    if deletes && patch.hunks.is_empty() {
        return Ok(AppliedFilePatch { text: String::new(), hunks: Vec::new() });
    }
    let mentions_mark = |hunk: &super::Hunk| hunk.lines.iter().any(|line| line.text.starts_with(MARK));
    let (mark, body) = match old.strip_prefix(MARK) {
        Some(body) if !patch.hunks.iter().any(mentions_mark) => (&old[..MARK.len_utf8()], body),
        _ => ("", old),
    };
    let mut applied = apply_to(patch, body, options)?;
    if !mark.is_empty() && !deletes {
        applied.text.insert_str(0, mark);
    }
    if deletes && !applied.text.is_empty() {
        return Err(partially_applied_error(patch, body, &applied));
    }
    Ok(applied)
}

/// The byte order mark.
const MARK: char = '\u{feff}';

fn apply_to(patch: &FilePatch, old: &str, options: ApplyOptions) -> Result<AppliedFilePatch, ApplyError> {
    let text = Haystack::new(old);
    let shapes: Vec<HunkShape<'_>> = patch.hunks.iter().map(|hunk| HunkShape::new(hunk, &text)).collect();
    let placements = place_all(patch, &text, &shapes, options)?;
    let mut placed: Vec<(Placement, &HunkShape<'_>)> =
        placements.iter().map(|placement| (placement.clone(), &shapes[placement.index])).collect();
    // Stable: hunks that insert at one place stay in their order.
    placed.sort_by_key(|(placement, _)| (placement.core.start, placement.core.end));
    let assembled = assemble(&text, patch, &placed, old);
    let mut hunks = summaries(patch, &placements);
    for ((placement, _), adapted) in placed.iter().zip(assembled.adapted) {
        hunks[placement.index].line_ends_adapted = adapted;
    }
    Ok(AppliedFilePatch { text: assembled.text, hunks })
}

/// Finds the places of all hunks, in their order, or the reason for each that has none.
fn place_all(
    patch: &FilePatch,
    text: &Haystack<'_>,
    shapes: &[HunkShape<'_>],
    options: ApplyOptions,
) -> Result<Vec<Placement>, ApplyError> {
    let mut placer = Placer::new(text, patch, options.fuzz);
    let mut placements = Vec::with_capacity(patch.hunks.len());
    let mut failed: Vec<(usize, MismatchReason)> = Vec::new();
    for (index, (hunk, shape)) in patch.hunks.iter().zip(shapes).enumerate() {
        match placer.place_hunk(index, hunk, shape)? {
            Ok(placement) => placements.push(placement),
            Err(reason) => failed.push((index, reason)),
        }
    }
    let moved = placements.iter().any(|placement| offset(patch, placement) != 0);
    if moved {
        let (loose, firm) = placements.into_iter().partition(|placement| {
            is_insertion(patch, placement) && shapes[placement.index].needle.len() == 0
        });
        placements = firm;
        // A hunk may seem to lie inside another one only because that one moved.
        for (index, reason) in &mut failed {
            if shapes[*index].needle.len() == 0 && *reason == MismatchReason::Overlap {
                *reason = MismatchReason::Unanchored;
            }
        }
        failed.extend(
            loose.into_iter().map(|placement: Placement| (placement.index, MismatchReason::Unanchored)),
        );
    }
    if failed.is_empty() {
        return Ok(placements);
    }
    failed.sort_by_key(|(index, _)| *index);
    let explain = |(number, (index, reason)): (usize, (usize, MismatchReason))| -> HunkMismatch {
        mismatch::explain_mismatch(text, index, &patch.hunks[index], reason, number)
    };
    let failed = failed.into_iter().enumerate().map(explain).collect();
    Err(ApplyError::Mismatch(PatchMismatch { failed, fitting: summaries(patch, &placements) }))
}

/// Returns true if the hunk is placed by a stated line after the text's start, because it has no
/// old lines to search for.
fn is_insertion(patch: &FilePatch, placement: &Placement) -> bool {
    matches!(patch.hunks[placement.index].place, HunkAnchor::Line { old_start, .. } if old_start > 0)
}

fn offset(patch: &FilePatch, placement: &Placement) -> isize {
    match patch.hunks[placement.index].place {
        HunkAnchor::Line { old_start, .. } => {
            let inserts = patch.hunks[placement.index].old_lines().next().is_none();
            placement.start + isize::from(!inserts) - old_start as isize
        }
        HunkAnchor::Text { .. } => 0,
    }
}

fn summaries(patch: &FilePatch, placements: &[Placement]) -> Vec<AppliedHunk> {
    let summary = |placement: &Placement| {
        let hunk = &patch.hunks[placement.index];
        let old_start = match hunk.place {
            HunkAnchor::Line { old_start, .. } => Some(old_start),
            HunkAnchor::Text { .. } => None,
        };
        let inserts = hunk.old_lines().next().is_none();
        AppliedHunk {
            index: placement.index,
            old_start,
            applied_at: placement.start.max(0) as usize + usize::from(!inserts),
            offset: offset(patch, placement),
            fuzz: placement.fuzz,
            line_ends_adapted: false,
        }
    };
    placements.iter().map(summary).collect()
}

fn partially_applied_error(patch: &FilePatch, old: &str, applied: &AppliedFilePatch) -> ApplyError {
    let first = match patch.hunks.first().map(|hunk| &hunk.place) {
        Some(HunkAnchor::Line { old_start, .. }) if *old_start > 1 => 1,
        _ => patch.hunks.first().map_or(0, |hunk| hunk.old_lines().count()) + 1,
    };
    let first = first.min(old.lines().count().max(1));
    ApplyError::NotAll { lines: applied.text.lines().count(), first }
}

impl From<TooMuchWork> for ApplyError {
    fn from(_: TooMuchWork) -> Self {
        Self::TooMuchWork
    }
}
