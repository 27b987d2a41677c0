//! Patches: their types, limits and parser.
//!
//! What lives here: [`parse`], which reads unified diffs ([`unified`]) and the `*** Begin Patch` form ([`envelope`])
//! into the same [`FilePatch`]es; [`apply()`], which makes the new text of one file out of the old; [`sequence`], which
//! does so for all files of a patch, in the order that git has. May use: the diff vocabulary of the text floor.
//! Nothing here touches a file, and no path is checked: paths are text, given raw and cleaned, and the workspace floor
//! decides whether they lie inside.
//!
//! Data passes one way: patch text → [`parse`] → [`Patch`] → [`apply()`] with the old text → [`AppliedFilePatch`](applied::AppliedFilePatch), or a
//! [`PatchMismatch`](mismatch::PatchMismatch) that tells about every hunk. Line numbers are 1-based everywhere, as patches have them.

mod applied;
mod apply;
mod assemble;
mod envelope;
mod error;
mod haystack;
mod header;
mod hunk_placement;
mod hunks;
mod mismatch;
mod names;
mod sequence;
mod unified;

#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use applied::AppliedFilePatch;
pub(crate) use applied::AppliedHunk;
pub(crate) use apply::ApplyError;
pub(crate) use apply::ApplyOptions;
pub(crate) use apply::apply;
pub(crate) use error::{PatchError, UnsupportedPatchKind};
pub(crate) use mismatch::MismatchReason;
pub(crate) use names::PatchPath;
pub(crate) use names::quote;
pub(crate) use sequence::apply_all;
pub(crate) use sequence::{FileOutcome, PatchSequenceOutcome, SequenceError};

/// Most bytes of patch text that are read.
pub(crate) const MAX_PATCH_BYTES: usize = 32 * 1024 * 1024;
/// Most hunks of all files together.
pub(crate) const MAX_HUNKS: usize = 200_000;
/// Most lines of a patch, and of a text that is patched: each takes up to 100 bytes of memory.
pub(crate) const MAX_PATCH_LINES: usize = 2_000_000;
/// Most files of one patch.
pub(crate) const MAX_FILES: usize = 20_000;

/// A patch as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Patch {
    /// The form it was written in.
    pub(crate) form: PatchForm,
    /// One entry per file section, in the order given; a file may come more than once (see [`apply_all`]).
    pub files: Vec<FilePatch>,
}

/// The forms of patches that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatchForm {
    /// `---`, `+++`, `@@ -1,2 +3,4 @@`, with or without git's headers.
    Unified,
    /// `*** Begin Patch`, `*** Update File: …`, `*** End Patch`.
    Envelope,
}

/// What a patch does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FilePatch {
    /// What happens to the file as a whole.
    pub operation: FilePatchOperation,
    /// The mode that the patch says the file had; `None` where it says nothing.
    pub(crate) old_mode: Option<FileMode>,
    /// The mode that the file shall have; `None` where it stays as it is.
    pub(crate) new_mode: Option<FileMode>,
    /// What changes in the text; empty where only the name or the mode does.
    pub hunks: Vec<Hunk>,
    /// The 1-based line of the patch at which this file's section begins.
    pub(crate) line: usize,
    /// What was wrong in the patch and could be read in one way only.
    pub(crate) repairs: Vec<Repair>,
}

impl FilePatch {
    /// The file that is read: `None` where it is created.
    pub(crate) fn old_path(&self) -> Option<&PatchPath> {
        match &self.operation {
            FilePatchOperation::Create { .. } => None,
            FilePatchOperation::Modify { path } | FilePatchOperation::Delete { path } => Some(path),
            FilePatchOperation::Rename { from, .. } | FilePatchOperation::Copy { from, .. } => Some(from),
        }
    }

    /// The file that is there afterwards: `None` where it is deleted.
    pub(crate) fn new_path(&self) -> Option<&PatchPath> {
        match &self.operation {
            FilePatchOperation::Delete { .. } => None,
            FilePatchOperation::Modify { path } | FilePatchOperation::Create { path } => Some(path),
            FilePatchOperation::Rename { to, .. } | FilePatchOperation::Copy { to, .. } => Some(to),
        }
    }

    /// Whether the patch needs nothing of an old text, so that a [`FilePatchOperation::Modify`] of a file that does not exist
    /// may be meant to create it (`@@ -0,0 +1,9 @@` without a header that says so); git takes it like that.
    pub(crate) fn may_create(&self) -> bool {
        !self.hunks.is_empty()
            && self.hunks.iter().all(|hunk| {
                let at_start = matches!(hunk.place, HunkAnchor::Line { old_start: 0, .. });
                at_start && hunk.old_lines().next().is_none()
            })
    }
}

/// What happens to a file as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FilePatchOperation {
    /// Its text or mode changes.
    Modify {
        /// The file.
        path: PatchPath,
    },
    /// It comes into being; there must be none of this name.
    Create {
        /// The file.
        path: PatchPath,
    },
    /// It goes; what the hunks remove is all of its text.
    Delete {
        /// The file.
        path: PatchPath,
    },
    /// It gets another name, and perhaps another text.
    Rename {
        /// Its name so far.
        from: PatchPath,
        /// Its name from now on.
        to: PatchPath,
    },
    /// It stays, and another file begins as a copy of it.
    Copy {
        /// The file that stays.
        from: PatchPath,
        /// The new one.
        to: PatchPath,
    },
}

/// The modes a file may have, as git knows them; links and submodules are refused when a patch is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileMode {
    /// `100644`
    Regular,
    /// `100755`
    Executable,
}

/// One place of a file that changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hunk {
    /// Where it belongs.
    pub(crate) place: HunkAnchor,
    /// Its lines, in the order given.
    pub lines: Vec<HunkLine>,
    /// The 1-based line of the patch at which it begins.
    pub(crate) line: usize,
}

impl Hunk {
    /// The lines that the old text must have: context and removed ones.
    pub(crate) fn old_lines(&self) -> impl DoubleEndedIterator<Item = &HunkLine> {
        self.lines.iter().filter(|line| line.kind != LineKind::Add)
    }

    /// The lines that the new text will have: context and added ones.
    pub(crate) fn new_lines(&self) -> impl DoubleEndedIterator<Item = &HunkLine> {
        self.lines.iter().filter(|line| line.kind != LineKind::Remove)
    }
}

/// Where a hunk belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HunkAnchor {
    /// At a line, as `@@ -old_start,… +new_start,… @@` says.
    Line {
        /// The 1-based line of the old text at which it begins. Where the hunk has no old lines, it goes behind this
        /// line; 0 is the start of the text.
        old_start: usize,
        /// The 1-based line of the new text, as stated. For people; nothing is computed from it.
        new_start: usize,
    },
    /// Where its old lines are.
    Text {
        /// Lines that come before it, outermost first (`@@ class A`, `@@ def b`); compared without the white space
        /// around them.
        after: Vec<String>,
        /// Whether its last old line is the last of the file.
        at_end: bool,
    },
}

/// A line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HunkLine {
    /// What is done with it.
    pub kind: LineKind,
    /// Its text without the final LF; a CR before that is part of it.
    pub text: String,
    /// Whether an LF ends it; false for the last line of a text without one (`\ No newline at end of file`).
    pub(crate) newline: bool,
}

/// What is done with a line of a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineKind {
    /// It stays.
    Context,
    /// It goes.
    Remove,
    /// It comes.
    Add,
}

/// Something that was wrong in a patch, and how it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repair {
    /// The 1-based line of the patch.
    pub(crate) line: usize,
    /// What was wrong.
    pub(crate) kind: RepairKind,
}

/// What can be wrong in a patch and still be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RepairKind {
    /// The header of a hunk states other numbers of lines than it has.
    Counts {
        /// As stated: old lines, new lines.
        stated: (usize, usize),
        /// As counted: old lines, new lines.
        actual: (usize, usize),
    },
    /// The header of a hunk states no line, so its place was looked for by its text.
    NoPlace,
}

impl std::fmt::Display for Repair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.kind {
            RepairKind::Counts { stated: (old, new), actual: (old_lines, new_lines) } => write!(
                f,
                "line {} of the patch states {old} old and {new} new lines; the hunk has {old_lines} and {new_lines}",
                self.line
            ),
            RepairKind::NoPlace => {
                write!(f, "line {} of the patch states no line numbers; the text decides", self.line)
            }
        }
    }
}

/// Returns true if `text` has more than [`MAX_PATCH_LINES`].
pub(crate) fn has_too_many_lines(text: &str) -> bool {
    memchr::memchr_iter(b'\n', text.as_bytes()).nth(MAX_PATCH_LINES).is_some()
}

/// Reads a patch in either form: the envelope where a line `*** Begin Patch` comes before any file header, else unified.
///
/// Text around it (a mail, a commit message, a Markdown fence) is passed over.
///
/// # Errors
/// [`PatchError`], with the 1-based line of the patch: nothing that could be read, or something that is refused.
pub(crate) fn parse(text: &str) -> Result<Patch, PatchError> {
    if text.len() > MAX_PATCH_BYTES {
        return Err(PatchError::TooLarge { bytes: text.len(), most: MAX_PATCH_BYTES });
    }
    if has_too_many_lines(text) {
        return Err(PatchError::TooMany { what: "lines", most: MAX_PATCH_LINES });
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    match envelope::start(&lines) {
        Some(start) => Ok(Patch { form: PatchForm::Envelope, files: envelope::parse(&lines, start)? }),
        None => Ok(Patch { form: PatchForm::Unified, files: unified::parse(&lines)? }),
    }
}

#[cfg(test)]
mod tests;
