//! Assembly of the new text from the old one and from hunks whose places are known.
//!
//! Unchanged lines are copied from the old text, so they keep every byte. Added lines are the
//! patch's own in every byte if its old lines matched in every byte. If only their line ends
//! differed, the old text decides the line ends.

use super::haystack::Haystack;
use super::hunk_placement::{HunkShape, Placement};
use super::{FilePatch, Hunk, HunkAnchor, HunkLine, LineKind};
use crate::text::lines::{LineEnd, common_line_end, line_end};

/// The new text, and the adaptations made.
pub(super) struct AssembledText {
    pub(crate) text: String,
    /// Per placement, in the order given: true if lines got another line end than the patch has.
    pub(crate) adapted: Vec<bool>,
}

/// Inserts hunks at their places. `placed` is sorted by place, and no two of them change the same
/// lines.
pub(super) fn assemble(
    text: &Haystack<'_>,
    patch: &FilePatch,
    placed: &[(Placement, &HunkShape<'_>)],
    old: &str,
) -> AssembledText {
    let trusts = |(placement, shape): &(Placement, &HunkShape<'_>)| {
        placement.exact && shows_line_end(patch, placement, shape)
    };
    let mut writer = PatchedTextWriter {
        text,
        out: String::with_capacity(old.len()),
        common: common_line_end(old),
        trusted: placed.iter().any(trusts),
        doubted: false,
        adapted: false,
    };
    let differ = |placement: &Placement| writer.ends_differ(&patch.hunks[placement.index], placement);
    writer.doubted = placed.iter().any(|(placement, _)| !placement.exact && differ(placement));
    let mut at = 0;
    let mut adapted = Vec::with_capacity(placed.len());
    for (placement, shape) in placed {
        writer.copy_lines(at..placement.core.start);
        writer.adapted = false;
        writer.write_hunk(&patch.hunks[placement.index], placement, shape);
        adapted.push(writer.adapted);
        at = placement.core.end;
    }
    writer.copy_lines(at..text.len());
    AssembledText { text: writer.out, adapted }
}

/// Returns true if an old line of the hunk has a line end, which can then be compared with the
/// text's.
fn shows_line_end(patch: &FilePatch, placement: &Placement, shape: &HunkShape<'_>) -> bool {
    shape.needle.len() > 0 && patch.hunks[placement.index].old_lines().any(|line| line.newline)
}

struct PatchedTextWriter<'a, 't> {
    text: &'a Haystack<'t>,
    out: String,
    /// The line end of most lines of the old text.
    common: Option<LineEnd>,
    /// True if the old lines of some hunk had the line ends of the text.
    trusted: bool,
    /// True if the old lines of some hunk had other line ends than the text.
    doubted: bool,
    adapted: bool,
}

impl PatchedTextWriter<'_, '_> {
    fn copy_lines(&mut self, lines: std::ops::Range<usize>) {
        for line in &self.text.lines[lines] {
            self.push(line);
        }
    }

    /// Appends a line. If the previous line has no line end, it gets one.
    fn push(&mut self, line: &str) {
        if !self.out.is_empty() && !self.out.ends_with('\n') && !line.is_empty() {
            self.out.push_str(self.common.unwrap_or(LineEnd::Lf).as_str());
        }
        self.out.push_str(line);
    }

    fn write_hunk(&mut self, hunk: &Hunk, placement: &Placement, shape: &HunkShape<'_>) {
        let adapt = if placement.exact {
            // Nothing of this hunk shows its line ends; one that states a line is taken at its
            // word, as git does.
            let found = matches!(hunk.place, HunkAnchor::Text { .. });
            !self.trusted && (found || self.doubted)
        } else {
            self.ends_differ(hunk, placement)
        };
        let mut at = placement.core.start;
        let changed = &hunk.lines[shape.lead..hunk.lines.len() - shape.trail];
        for line in changed {
            match line.kind {
                LineKind::Context => {
                    let line = self.text.lines[at];
                    self.push(line);
                    at += 1;
                }
                LineKind::Remove => at += 1,
                LineKind::Add => self.write_added_line(line, adapt, at),
            }
        }
        // An appended hunk says nothing about the final newline.
        let is_appended = shape.needle.len() == 0 && matches!(hunk.place, HunkAnchor::Text { .. });
        if (!placement.exact || is_appended) && placement.core.end == self.text.len() {
            self.final_line_end(hunk, adapt);
        }
    }

    fn write_added_line(&mut self, line: &HunkLine, adapt: bool, at: usize) {
        let end = if adapt { self.line_end_near(at) } else { None };
        match end.filter(|_| line.newline) {
            Some(end) => {
                let content = line.text.strip_suffix('\r').unwrap_or(&line.text);
                let given = if content.len() < line.text.len() { LineEnd::CrLf } else { LineEnd::Lf };
                self.adapted |= given != end;
                self.push(content);
                self.out.push_str(end.as_str());
            }
            None => {
                self.push(&line.text);
                if line.newline {
                    self.out.push('\n');
                }
            }
        }
    }

    /// The line end at line `at` of the old text, or of the line before, or of most lines.
    fn line_end_near(&self, at: usize) -> Option<LineEnd> {
        let here = |at: usize| self.text.lines.get(at).and_then(|line| line_end(line));
        at.checked_sub(1).and_then(here).or_else(|| here(at)).or(self.common)
    }

    /// Returns true if an old line of the hunk has a CR and the text has none, or the reverse.
    fn ends_differ(&self, hunk: &Hunk, placement: &Placement) -> bool {
        hunk.old_lines().enumerate().any(|(number, line)| {
            let at = placement.start + number as isize;
            let there = usize::try_from(at).ok().and_then(|at| self.text.lines.get(at));
            let there = there.and_then(|line| line_end(line));
            there.is_some_and(|there| line.newline && (there == LineEnd::CrLf) != line.text.ends_with('\r'))
        })
    }

    /// Decides the end of the last line. A hunk that changes the last line, and was wrong about its
    /// line end, changes the end only if it states so.
    fn final_line_end(&mut self, hunk: &Hunk, adapt: bool) {
        let ends = |line: Option<&HunkLine>| line.is_none_or(|line| line.newline);
        let last = hunk.lines.last().is_some_and(|line| line.kind == LineKind::Context);
        if last || ends(hunk.old_lines().next_back()) != ends(hunk.new_lines().next_back()) {
            return;
        }
        let Some(there) = self.text.lines.last().map(|line| line.ends_with('\n')) else { return };
        if there && !self.out.ends_with('\n') && !self.out.is_empty() {
            let end = self.line_end_near(self.text.len()).unwrap_or(LineEnd::Lf);
            self.out.push_str(end.as_str());
            self.adapted = true;
        } else if !there && self.out.ends_with('\n') {
            self.out.pop();
            if adapt || self.common == Some(LineEnd::CrLf) {
                let content = self.out.strip_suffix('\r').unwrap_or(&self.out).len();
                self.out.truncate(content);
            }
            self.adapted = true;
        }
    }
}
