//! Unified diffs of two texts, for answers.

use std::fmt::Write as _;
use std::ops::Range;

use imara_diff::sources::lines;
use imara_diff::{Algorithm, InternedInput};

use super::patch::quote;

/// The beginning of the line that stands for the omitted part of a shortened diff.
/// [`super::patch::parse`] refuses such a diff.
pub(crate) const TRUNCATED: &str = "... diff truncated: ";

/// The format of a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DiffOptions {
    /// Lines of context around each change.
    pub(crate) context: usize,
    /// Most bytes of [`UnifiedDiff::text`], without the line that marks the omission.
    pub(crate) max_bytes: usize,
}

impl Default for DiffOptions {
    /// Three lines of context, 32 KiB.
    fn default() -> Self {
        Self { context: 3, max_bytes: 32 * 1024 }
    }
}

/// The difference of two texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnifiedDiff {
    /// The unified diff; empty if nothing differs. Lines have the line ends of the texts, so a CRLF
    /// line ends in CRLF; a last line without line end is followed by `\ No newline at end of
    /// file`.
    pub(crate) text: String,
    /// The number of lines that only the new text has; complete even if `text` is shortened.
    pub(crate) additions: usize,
    /// The number of lines that only the old text has; complete even if `text` is shortened.
    pub(crate) deletions: usize,
    /// The part that `text` leaves out; `None` if the diff is whole.
    pub(crate) truncated: Option<DiffTruncation>,
}

/// The omitted part of a shortened diff. The last line of its text states the same numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DiffTruncation {
    /// Hunks that are missing or not whole.
    pub(crate) hunks: usize,
    /// Lines that are missing: context, added and removed ones.
    pub(crate) lines: usize,
}

/// Computes the difference between `old` and `new`. A path is `None` if there is no such file: that
/// side is `/dev/null`.
///
/// Headers are git's: `--- a/…` and `+++ b/…`, before them `diff --git` if those two alone would be
/// ambiguous (a rename, an empty file that is created or deleted). A diff that is not shortened
/// turns `old` into `new`, byte by byte. Git's own heuristics bound the time for texts with many
/// differences.
pub(crate) fn unified_diff(
    old_path: Option<&str>,
    old: &str,
    new_path: Option<&str>,
    new: &str,
    options: DiffOptions,
) -> UnifiedDiff {
    let input = InternedInput::new(lines(old), lines(new));
    let changes = compute_hunks(&input);
    let count = |of: fn(&imara_diff::Hunk) -> usize| changes.iter().map(of).sum();
    let (additions, deletions) = (count(|change| change.after.len()), count(|change| change.before.len()));
    let groups = group_changes(changes.into_iter(), options.context, input.before.len(), input.after.len());
    let mut text = file_header(old_path, new_path, !groups.is_empty());
    let mut writer = DiffWriter { input: &input, text: &mut text, most: options.max_bytes, left_out: None };
    for group in &groups {
        writer.write_hunk(group);
    }
    let truncated = writer.left_out;
    if let Some(DiffTruncation { hunks, lines }) = truncated {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{TRUNCATED}{hunks} hunks, {lines} lines left out");
    }
    UnifiedDiff { text, additions, deletions, truncated }
}

/// Computes the hunks. The algorithm takes minutes for long texts of few different lines; such
/// texts become one change.
fn compute_hunks(input: &InternedInput<&str>) -> Vec<imara_diff::Hunk> {
    const LONG_DIFF_THRESHOLD_LINES: usize = 20_000;
    let (old, new) = (&input.before, &input.after);
    let front = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let shortest = old.len().min(new.len()) - front;
    let back = old.iter().rev().zip(new.iter().rev()).take(shortest).take_while(|(a, b)| a == b).count();
    let between = (old.len() - front - back) + (new.len() - front - back);
    if between > LONG_DIFF_THRESHOLD_LINES && (input.interner.num_tokens() as usize) < between / 16 {
        let until = |len: usize| front as u32..(len - back) as u32;
        return vec![imara_diff::Hunk { before: until(old.len()), after: until(new.len()) }];
    }
    // The histogram algorithm takes quadratic time for many small changes: seconds for 40,000
    // lines.
    let mut diff = imara_diff::Diff::compute(Algorithm::Myers, input);
    diff.postprocess_lines(input);
    diff.hunks().collect()
}

fn file_header(old: Option<&str>, new: Option<&str>, has_hunks: bool) -> String {
    let side = |prefix: &str, path: Option<&str>| {
        path.map_or_else(|| "/dev/null".to_owned(), |path| quote(&format!("{prefix}/{path}")))
    };
    let mut text = String::new();
    let (Some(any_old), Some(any_new)) = (old.or(new), new.or(old)) else { return text };
    let renamed = any_old != any_new;
    if renamed || (!has_hunks && old.is_some() != new.is_some()) {
        text = format!("diff --git {} {}\n", side("a", Some(any_old)), side("b", Some(any_new)));
        if renamed {
            text.push_str(&format!("rename from {}\nrename to {}\n", quote(any_old), quote(any_new)));
        } else if old.is_none() {
            text.push_str("new file mode 100644\n");
        } else {
            text.push_str("deleted file mode 100644\n");
        }
    }
    if has_hunks {
        // A name with spaces is followed by a tab, so that it is not read as a name and a date.
        let end = |name: String| if name.contains(' ') { name + "\t" } else { name };
        text.push_str(&format!("--- {}\n+++ {}\n", end(side("a", old)), end(side("b", new))));
    }
    text
}

/// Changes that share context.
struct DiffHunk {
    /// Lines of the old and the new text, 0-based, context included.
    old: Range<usize>,
    new: Range<usize>,
    changes: Vec<imara_diff::Hunk>,
}

impl DiffHunk {
    /// Returns the number of its lines: shared, removed and added ones.
    fn lines(&self) -> usize {
        let added: usize = self.changes.iter().map(|change| change.after.len()).sum();
        self.old.len() + added
    }
}

fn group_changes(
    changes: impl Iterator<Item = imara_diff::Hunk>,
    context: usize,
    old_len: usize,
    new_len: usize,
) -> Vec<DiffHunk> {
    let mut groups: Vec<DiffHunk> = Vec::new();
    for change in changes {
        let (old_end, new_end) = (change.before.end as usize, change.after.end as usize);
        let behind = context.min(old_len - old_end).min(new_len - new_end);
        let old_start = change.before.start as usize;
        match groups.last_mut() {
            Some(last) if old_start.saturating_sub(context) <= last.old.end => {
                (last.old.end, last.new.end) = (old_end + behind, new_end + behind);
                last.changes.push(change);
            }
            _ => {
                let before = context.min(old_start);
                groups.push(DiffHunk {
                    old: old_start - before..old_end + behind,
                    new: change.after.start as usize - before..new_end + behind,
                    changes: vec![change],
                });
            }
        }
    }
    groups
}

struct DiffWriter<'a, 't> {
    input: &'a InternedInput<&'t str>,
    text: &'a mut String,
    most: usize,
    left_out: Option<DiffTruncation>,
}

impl<'t> DiffWriter<'_, 't> {
    fn write_hunk(&mut self, group: &DiffHunk) {
        if let Some(left_out) = &mut self.left_out {
            left_out.hunks += 1;
            left_out.lines += group.lines();
            return;
        }
        let head = format!("@@ -{} +{} @@\n", range(group.old.clone()), range(group.new.clone()));
        let lines = self.lines_of(group);
        let mut written = 0;
        if self.text.len() + head.len() <= self.most {
            let before = self.text.len();
            self.text.push_str(&head);
            for (sign, line) in &lines {
                if self.text.len() + 1 + line.len() > self.most {
                    break;
                }
                push_line(self.text, *sign, line);
                written += 1;
            }
            if written == 0 {
                self.text.truncate(before);
            }
        }
        if written < lines.len() {
            self.left_out = Some(DiffTruncation { hunks: 1, lines: lines.len() - written });
        }
    }

    fn lines_of(&self, group: &DiffHunk) -> Vec<(char, &'t str)> {
        let old = |at: usize| self.input.interner[self.input.before[at]];
        let new = |at: usize| self.input.interner[self.input.after[at]];
        let mut lines = Vec::with_capacity(group.lines());
        let mut at = group.old.start;
        for change in &group.changes {
            lines.extend((at..change.before.start as usize).map(|at| (' ', old(at))));
            lines.extend(change.before.clone().map(|at| ('-', old(at as usize))));
            lines.extend(change.after.clone().map(|at| ('+', new(at as usize))));
            at = change.before.end as usize;
        }
        lines.extend((at..group.old.end).map(|at| (' ', old(at))));
        lines
    }
}

fn push_line(text: &mut String, sign: char, line: &str) {
    text.push(sign);
    text.push_str(line);
    if !line.ends_with('\n') {
        text.push_str("\n\\ No newline at end of file\n");
    }
}

/// Formats `start,count` with a 1-based start: the count is left out if it is 1, and the line
/// before is given if it is 0.
fn range(lines: Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        count => format!("{},{count}", lines.start + 1),
    }
}

#[cfg(test)]
mod tests;
