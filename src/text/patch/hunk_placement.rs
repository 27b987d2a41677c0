//! The places of hunks in the old text.
//!
//! All hunks are searched for in the old text, so none is found in the added lines of another one.
//! A hunk that states a line is placed there if its lines are there; else at the nearest place that
//! has them, by the rule of `git apply` (forwards first if two are equally near). If the stated
//! line is unreliable, or if context must be dropped, a place must be unique.

use std::ops::Range;

use super::haystack::{Haystack, Needle, Sameness, TooMuchWork};
use super::{FilePatch, Hunk, HunkAnchor, LineKind, MismatchReason};

/// The maximum number of candidates, after which a hunk counts as fitting everywhere.
const MAX_HUNK_CANDIDATES: usize = 2_000;
/// The cost of a binary search, in comparisons of lines.
const BINARY_SEARCH_COMPARISONS: usize = 16;
/// The maximum number of places reported for an ambiguous hunk.
const MAX_REPORTED_HUNK_PLACES: usize = 10;

/// The place of a hunk in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Placement {
    /// Its 0-based number in the file's patch.
    pub(crate) index: usize,
    /// The 0-based line of the old text on which its first old line lies, or would lie if it was
    /// not dropped.
    pub(crate) start: isize,
    /// The lines of the old text that are replaced: from the first change to the last.
    pub(crate) core: Range<usize>,
    /// True if all old lines match in every byte, line ends included.
    pub(crate) exact: bool,
    /// The maximum number of context lines dropped at each end; or the number of lines that only
    /// resemble those of the text.
    pub(crate) fuzz: usize,
}

/// The shape of a hunk.
pub(super) struct HunkShape<'h> {
    pub(crate) needle: Needle<'h>,
    /// Context lines before the first change and behind the last.
    pub(crate) lead: usize,
    pub(crate) trail: usize,
    /// True if its last old line is the last of the text.
    at_end: bool,
}

impl<'h> HunkShape<'h> {
    pub(super) fn new(hunk: &'h Hunk, text: &Haystack<'_>) -> Self {
        let needle = text.needle(hunk.old_lines());
        let is_context = |line: &&super::HunkLine| line.kind == LineKind::Context;
        let lead = hunk.lines.iter().take_while(is_context).count();
        let trail =
            if lead == hunk.lines.len() { 0 } else { hunk.lines.iter().rev().take_while(is_context).count() };
        let says_end = matches!(hunk.place, HunkAnchor::Text { at_end: true, .. });
        let at_end = says_end || hunk.lines.iter().any(|line| !line.newline);
        Self { needle, lead, trail, at_end }
    }
}

/// Finds the places of all hunks of a file.
pub(super) struct Placer<'a, 't> {
    text: &'a Haystack<'t>,
    most_fuzz: usize,
    /// True if no hunk has context, as written by `diff -U0`. Missing context then says nothing
    /// about the position.
    without_context: bool,
    /// Per line of the old text: its use by the hunks placed so far.
    uses: Vec<LineUse>,
    /// The line behind the last line that the hunk before changes; the search starts here.
    cursor: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LineUse {
    Free,
    Context,
    Changed,
}

type PlacementResult = Result<Result<Placement, MismatchReason>, TooMuchWork>;

impl<'a, 't> Placer<'a, 't> {
    pub(super) fn new(text: &'a Haystack<'t>, patch: &FilePatch, most_fuzz: usize) -> Self {
        let has_context = |hunk: &Hunk| hunk.lines.iter().any(|line| line.kind == LineKind::Context);
        let without_context = !patch.hunks.iter().any(has_context);
        Self { text, most_fuzz, without_context, uses: vec![LineUse::Free; text.len()], cursor: 0 }
    }

    /// The place of the next hunk; hunks come in their order.
    pub(super) fn place_hunk(&mut self, index: usize, hunk: &Hunk, shape: &HunkShape<'_>) -> PlacementResult {
        let found = if shape.needle.len() == 0 {
            self.place_insertion(index, hunk, shape)
        } else {
            match self.without_fuzz(index, hunk, shape)? {
                Err(MismatchReason::NotFound) if self.most_fuzz > 0 => self.roughly(index, hunk, shape)?,
                found => found,
            }
        };
        if let Ok(placement) = &found {
            self.claim(placement, shape);
        }
        Ok(found)
    }

    /// Places a hunk without old lines: at its stated line, or at the end.
    fn place_insertion(
        &self,
        index: usize,
        hunk: &Hunk,
        shape: &HunkShape<'_>,
    ) -> Result<Placement, MismatchReason> {
        let end = self.text.len();
        let at = match &hunk.place {
            HunkAnchor::Line { .. } if shape.at_end => end,
            HunkAnchor::Line { old_start, .. } if *old_start <= end => *old_start,
            HunkAnchor::Line { .. } => return Err(MismatchReason::PastEnd { lines: end }),
            HunkAnchor::Text { after, .. } if after.is_empty() => end,
            HunkAnchor::Text { .. } => return Err(MismatchReason::NothingToFind),
        };
        let inside =
            at > 0 && at < end && self.uses[at - 1] == LineUse::Changed && self.uses[at] == LineUse::Changed;
        if inside {
            return Err(MismatchReason::Overlap);
        }
        Ok(Placement { index, start: at as isize, core: at..at, exact: true, fuzz: 0 })
    }

    fn without_fuzz(&self, index: usize, hunk: &Hunk, shape: &HunkShape<'_>) -> PlacementResult {
        let part = 0..shape.needle.len();
        let mut reason = MismatchReason::NotFound;
        for sameness in [Sameness::Exact, Sameness::Content] {
            let found = match &hunk.place {
                HunkAnchor::Line { old_start, .. } => {
                    self.place_near(shape, old_start.saturating_sub(1), *old_start, sameness)?
                }
                HunkAnchor::Text { after, .. } => self.by_text(shape, part.clone(), after, sameness)?,
            };
            match found {
                Ok(at) => return Ok(Ok(self.placement(index, shape, at, part, sameness))),
                Err(MismatchReason::NotFound) => {}
                Err(MismatchReason::Overlap) => reason = MismatchReason::Overlap,
                Err(other) => return Ok(Err(other)),
            }
        }
        Ok(Err(reason))
    }

    /// The place of a whole hunk that states a line; `stated` is 0-based.
    fn place_near(
        &self,
        shape: &HunkShape<'_>,
        stated: usize,
        old_start: usize,
        sameness: Sameness,
    ) -> Result<Result<usize, MismatchReason>, TooMuchWork> {
        let part = 0..shape.needle.len();
        let fits = |at| self.fits(shape, part.clone(), at, sameness);
        let here = fits(stated)?;
        // Without context behind it a hunk reaches the end of the text, and one that states line 1
        // begins there.
        let ends = !self.without_context && shape.trail == 0;
        let end = if ends { self.text.len().checked_sub(part.len()) } else { None };
        let at_end = match end {
            Some(end) => fits(end)?.then_some(end),
            None => None,
        };
        match (here, at_end) {
            (true, Some(end)) if end != stated => {
                return Ok(Err(MismatchReason::Ambiguous { lines: vec![stated + 1, end + 1] }));
            }
            (true, _) => return Ok(Ok(stated)),
            (false, Some(end)) => return Ok(Ok(end)),
            (false, None) => {}
        }
        let begins = old_start <= 1 && !self.without_context;
        if self.without_context || ends || begins {
            return self.unique_fit(shape, part, 0, sameness);
        }
        let nearest = self.nearest_fit(shape, part.clone(), stated, sameness)?;
        Ok(nearest.ok_or(self.mismatch_reason(shape, part, sameness)?))
    }

    /// Returns the reason why no place fits: the lines are missing, or another hunk changes them.
    fn mismatch_reason(
        &self,
        shape: &HunkShape<'_>,
        part: Range<usize>,
        sameness: Sameness,
    ) -> Result<MismatchReason, TooMuchWork> {
        for at in self.text.candidates(&shape.needle, part.clone(), sameness).from(0) {
            if self.text.matches(&shape.needle, part.clone(), at, sameness)?
                && self.matches_end(shape, &part, at)
            {
                return Ok(MismatchReason::Overlap);
            }
        }
        Ok(MismatchReason::NotFound)
    }

    /// Searches outwards from the stated line, forwards first, like git.
    fn nearest_fit(
        &self,
        shape: &HunkShape<'_>,
        part: Range<usize>,
        stated: usize,
        sameness: Sameness,
    ) -> Result<Option<usize>, TooMuchWork> {
        let candidates = self.text.candidates(&shape.needle, part.clone(), sameness);
        let mut ahead = candidates.from(stated).peekable();
        let mut behind = candidates.before(stated).peekable();
        loop {
            let next = match (ahead.peek(), behind.peek()) {
                (Some(a), Some(b)) if a - stated <= stated - b => ahead.next(),
                (_, Some(_)) => behind.next(),
                (Some(_), None) => ahead.next(),
                (None, None) => return Ok(None),
            };
            if let Some(at) = next
                && self.fits(shape, part.clone(), at, sameness)?
            {
                return Ok(Some(at));
            }
        }
    }

    /// Returns the unique place from line `from` on. Places that other hunks use count, too,
    /// because the remaining one of several would be chosen by chance.
    fn unique_fit(
        &self,
        shape: &HunkShape<'_>,
        part: Range<usize>,
        from: usize,
        sameness: Sameness,
    ) -> Result<Result<usize, MismatchReason>, TooMuchWork> {
        let mut found = Vec::new();
        for at in self.text.candidates(&shape.needle, part.clone(), sameness).from(from) {
            if self.text.matches(&shape.needle, part.clone(), at, sameness)?
                && self.matches_end(shape, &part, at)
            {
                found.push(at);
                if found.len() > MAX_REPORTED_HUNK_PLACES {
                    break;
                }
            }
        }
        Ok(match found.as_slice() {
            [] => Err(MismatchReason::NotFound),
            [at] if self.has_no_overlap(shape, &part, *at) => Ok(*at),
            [_] => Err(MismatchReason::Overlap),
            several => Err(ambiguous(several)),
        })
    }

    fn all_fits(
        &self,
        shape: &HunkShape<'_>,
        part: Range<usize>,
        from: usize,
        sameness: Sameness,
    ) -> Result<Vec<usize>, TooMuchWork> {
        let mut found = Vec::new();
        for at in self.text.candidates(&shape.needle, part.clone(), sameness).from(from) {
            if self.fits(shape, part.clone(), at, sameness)? {
                found.push(at);
                if found.len() == MAX_HUNK_CANDIDATES {
                    break;
                }
            }
        }
        Ok(found)
    }

    /// Finds the place of a hunk that states no line. Several places are distinguished by the lines
    /// that `after` names.
    fn by_text(
        &self,
        shape: &HunkShape<'_>,
        part: Range<usize>,
        after: &[String],
        sameness: Sameness,
    ) -> Result<Result<usize, MismatchReason>, TooMuchWork> {
        let all = self.all_fits(shape, part.clone(), self.cursor, sameness)?;
        match all.as_slice() {
            // Chunks may come out of order, too, if their text alone determines their place.
            [] => return self.unique_fit(shape, part, 0, sameness),
            [at] => return Ok(Ok(*at)),
            _ => {}
        }
        let following = self.after_anchors(&all, after)?;
        Ok(match following.as_slice() {
            [at] => Ok(*at),
            [] => Err(ambiguous(&all)),
            several => Err(ambiguous(several)),
        })
    }

    /// Returns the first of the `places` behind each sequence of the named lines.
    fn after_anchors(&self, places: &[usize], after: &[String]) -> Result<Vec<usize>, TooMuchWork> {
        let Some((outermost, inner)) = after.split_first() else { return Ok(Vec::new()) };
        let starts = self.text.lines_trimmed(outermost);
        let mut found = Vec::new();
        for (number, start) in starts.iter().enumerate() {
            self.text.spend(BINARY_SEARCH_COMPARISONS * (1 + inner.len()))?;
            let mut at = Some(*start);
            for name in inner {
                let lines = self.text.lines_trimmed(name);
                at = at.and_then(|at| lines.get(lines.partition_point(|line| *line <= at)).copied());
            }
            let Some(at) = at else { continue };
            let next = places.get(places.partition_point(|place| *place < at));
            let limit = starts.get(number + 1).copied().unwrap_or(usize::MAX);
            found.extend(next.filter(|place| **place < limit));
        }
        found.dedup();
        Ok(found)
    }

    /// Returns the unique place whose lines resemble those of the hunk; else the unique place of a
    /// part of the hunk. Models often change white space at line ends, quotes and dashes.
    fn roughly(&self, index: usize, hunk: &Hunk, shape: &HunkShape<'_>) -> PlacementResult {
        let part = 0..shape.needle.len();
        let reason = match self.unique_fit(shape, part.clone(), 0, Sameness::Appearance)? {
            Ok(at) => {
                let fuzz = shape.needle.differing_lines(self.text, at);
                let placement = self.placement(index, shape, at, part, Sameness::Appearance);
                return Ok(Ok(Placement { fuzz, ..placement }));
            }
            Err(reason) => reason,
        };
        Ok(self.with_fuzz(index, hunk, shape)?.map_err(|found| match found {
            MismatchReason::NotFound => reason,
            found => found,
        }))
    }

    /// Drops more and more context, and accepts only a unique place.
    fn with_fuzz(&self, index: usize, hunk: &Hunk, shape: &HunkShape<'_>) -> PlacementResult {
        for fuzz in 1..=self.most_fuzz {
            let (lead, trail) = (fuzz.min(shape.lead), fuzz.min(shape.trail));
            let part = lead..shape.needle.len().saturating_sub(trail);
            if fuzz > shape.lead.max(shape.trail) || part.is_empty() {
                break;
            }
            let from = if matches!(hunk.place, HunkAnchor::Text { .. }) { self.cursor } else { 0 };
            match self.unique_fit(shape, part.clone(), from, Sameness::Content)? {
                Ok(at) => {
                    let exact = self.text.matches(&shape.needle, part.clone(), at, Sameness::Exact)?;
                    let sameness = if exact { Sameness::Exact } else { Sameness::Content };
                    let placement = self.placement(index, shape, at, part, sameness);
                    return Ok(Ok(Placement { fuzz, ..placement }));
                }
                Err(MismatchReason::NotFound) => {}
                Err(other) => return Ok(Err(other)),
            }
        }
        Ok(Err(MismatchReason::NotFound))
    }

    fn fits(
        &self,
        shape: &HunkShape<'_>,
        part: Range<usize>,
        at: usize,
        sameness: Sameness,
    ) -> Result<bool, TooMuchWork> {
        Ok(self.text.matches(&shape.needle, part.clone(), at, sameness)?
            && self.matches_end(shape, &part, at)
            && self.has_no_overlap(shape, &part, at))
    }

    fn matches_end(&self, shape: &HunkShape<'_>, part: &Range<usize>, at: usize) -> bool {
        !shape.at_end || part.end < shape.needle.len() || at + part.len() == self.text.len()
    }

    /// Returns true if no other hunk changes these lines and this hunk changes no line that another
    /// one needs. Context may be shared.
    fn has_no_overlap(&self, shape: &HunkShape<'_>, part: &Range<usize>, at: usize) -> bool {
        let core = changed_lines(shape, part, at);
        let lines = at..at + part.len();
        lines.clone().all(|line| self.uses[line] != LineUse::Changed)
            && core.clone().all(|line| self.uses[line] == LineUse::Free)
    }

    fn placement(
        &self,
        index: usize,
        shape: &HunkShape<'_>,
        at: usize,
        part: Range<usize>,
        sameness: Sameness,
    ) -> Placement {
        let core = changed_lines(shape, &part, at);
        let start = at as isize - part.start as isize;
        Placement { index, start, core, exact: sameness == Sameness::Exact, fuzz: 0 }
    }

    fn claim(&mut self, placement: &Placement, shape: &HunkShape<'_>) {
        let end = placement.start + shape.needle.len() as isize;
        let (from, to) = (placement.start.max(0) as usize, (end.max(0) as usize).min(self.uses.len()));
        for line in from..to {
            let changed = placement.core.contains(&line);
            if changed {
                self.uses[line] = LineUse::Changed;
            } else if self.uses[line] == LineUse::Free {
                self.uses[line] = LineUse::Context;
            }
        }
        self.cursor = placement.core.end;
    }
}

/// The lines between the first change and the last, for the `part` of a hunk that lies at line
/// `at`.
fn changed_lines(shape: &HunkShape<'_>, part: &Range<usize>, at: usize) -> Range<usize> {
    let start = at + shape.lead - part.start;
    let end = at + (shape.needle.len() - shape.trail) - part.start;
    start..end
}

fn ambiguous(places: &[usize]) -> MismatchReason {
    MismatchReason::Ambiguous {
        lines: places.iter().take(MAX_REPORTED_HUNK_PLACES).map(|place| place + 1).collect(),
    }
}
