//! Patches: their types, limits and parser.
//!
//! Contents: [`parse`], which reads unified diffs ([`unified`]) and the `*** Begin Patch` form
//! ([`envelope`]) into the same [`FilePatch`]es; [`apply()`], which makes the new text of one file
//! out of the old; [`sequence`], which does so for all files of a patch, in git's order. May use:
//! the diff vocabulary of the text layer. Nothing here touches a file, and no path is checked:
//! paths are text, given raw and cleaned, and the workspace layer decides whether they lie inside.
//!
//! Data flow: patch text → [`parse`] → [`Patch`] → [`apply()`] with the old text →
//! [`AppliedFilePatch`](applied::AppliedFilePatch), or a [`PatchMismatch`](mismatch::PatchMismatch)
//! that describes every hunk. Line numbers are 1-based everywhere, as in patches.

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
    /// One entry per file section, in the order given; a file may come more than once (see
    /// [`apply_all`]).
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

/// The changes of a patch to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FilePatch {
    /// The operation on the file as a whole.
    pub operation: FilePatchOperation,
    /// The former mode of the file, as the patch states it; `None` if it states none.
    pub(crate) old_mode: Option<FileMode>,
    /// The new mode of the file; `None` if it stays.
    pub(crate) new_mode: Option<FileMode>,
    /// The changes to the text; empty if only the name or the mode changes.
    pub hunks: Vec<Hunk>,
    /// The 1-based line of the patch at which this file's section begins.
    pub(crate) line: usize,
    /// The errors of the patch that allowed only one reading.
    pub(crate) repairs: Vec<Repair>,
}

impl FilePatch {
    /// Returns the file that is read; `None` if the file is created.
    pub(crate) fn old_path(&self) -> Option<&PatchPath> {
        match &self.operation {
            FilePatchOperation::Create { .. } => None,
            FilePatchOperation::Modify { path } | FilePatchOperation::Delete { path } => Some(path),
            FilePatchOperation::Rename { from, .. } | FilePatchOperation::Copy { from, .. } => Some(from),
        }
    }

    /// Returns the resulting file; `None` if the file is deleted.
    pub(crate) fn new_path(&self) -> Option<&PatchPath> {
        match &self.operation {
            FilePatchOperation::Delete { .. } => None,
            FilePatchOperation::Modify { path } | FilePatchOperation::Create { path } => Some(path),
            FilePatchOperation::Rename { to, .. } | FilePatchOperation::Copy { to, .. } => Some(to),
        }
    }

    /// Returns true if the patch needs no old text. A [`FilePatchOperation::Modify`] of a file that
    /// does not exist may then be meant to create it (`@@ -0,0 +1,9 @@` without a header that says
    /// so), as git assumes.
    pub(crate) fn may_create(&self) -> bool {
        !self.hunks.is_empty()
            && self.hunks.iter().all(|hunk| {
                let at_start = matches!(hunk.place, HunkAnchor::Line { old_start: 0, .. });
                at_start && hunk.old_lines().next().is_none()
            })
    }
}

/// The operation of a patch on a file as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FilePatchOperation {
    /// Its text or mode changes.
    Modify {
        /// The file.
        path: PatchPath,
    },
    /// The file is created; its name must be free.
    Create {
        /// The file.
        path: PatchPath,
    },
    /// The file is deleted; the removed lines are its whole text.
    Delete {
        /// The file.
        path: PatchPath,
    },
    /// The file is renamed, and its text may change.
    Rename {
        /// The former name.
        from: PatchPath,
        /// The new name.
        to: PatchPath,
    },
    /// The file stays, and a copy of it is created.
    Copy {
        /// The file that stays.
        from: PatchPath,
        /// The new file.
        to: PatchPath,
    },
}

/// The modes a file may have, as git knows them; links and submodules are refused when a patch is
/// read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileMode {
    /// `100644`
    Regular,
    /// `100755`
    Executable,
}

/// One changed place of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hunk {
    /// The position of the hunk.
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

/// The position of a hunk in the old text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HunkAnchor {
    /// At a line, as stated by `@@ -old_start,… +new_start,… @@`.
    Line {
        /// The 1-based line of the old text at which it begins. A hunk without old lines is
        /// inserted behind this line; 0 is the start of the text.
        old_start: usize,
        /// The 1-based line of the new text, as stated. Only for display.
        new_start: usize,
    },
    /// At its old lines, which are searched for.
    Text {
        /// Lines that come before it, outermost first (`@@ class A`, `@@ def b`); compared without
        /// the white space around them.
        after: Vec<String>,
        /// True if its last old line is the last of the file.
        at_end: bool,
    },
}

/// A line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HunkLine {
    /// The role of the line.
    pub kind: LineKind,
    /// Its text without the final LF; a CR before that is part of it.
    pub text: String,
    /// True if an LF ends the line; false for the last line of a text without one (`\ No newline at
    /// end of file`).
    pub(crate) newline: bool,
}

/// The role of a line in a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineKind {
    /// The line stays.
    Context,
    /// The line is removed.
    Remove,
    /// The line is added.
    Add,
}

/// An error in a patch that was repaired, and its interpretation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repair {
    /// The 1-based line of the patch.
    pub(crate) line: usize,
    /// The kind of the error.
    pub(crate) kind: RepairKind,
}

/// The errors of a patch that still allow to read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RepairKind {
    /// The header of a hunk states wrong numbers of lines.
    Counts {
        /// The stated numbers of old and new lines.
        stated: (usize, usize),
        /// The counted numbers of old and new lines.
        actual: (usize, usize),
    },
    /// The header of a hunk states no line, so its place was searched for by its text.
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

/// Parses a patch in either form: the envelope if a line `*** Begin Patch` comes before any file
/// header, else unified.
///
/// Text around it (a mail, a commit message, a Markdown fence) is skipped.
///
/// # Errors
/// [`PatchError`], with the 1-based line of the patch, if nothing could be parsed or something is
/// refused.
pub(crate) fn parse(text: &str) -> Result<Patch, PatchError> {
    if text.len() > MAX_PATCH_BYTES {
        return Err(PatchError::TooLarge { bytes: text.len(), most: MAX_PATCH_BYTES });
    }
    if has_too_many_lines(text) {
        return Err(PatchError::TooMany { what: "lines", most: MAX_PATCH_LINES });
    }
    // A file with a patch may begin with a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    match envelope::start(&lines) {
        Some(start) => Ok(Patch { form: PatchForm::Envelope, files: envelope::parse(&lines, start)? }),
        None => Ok(Patch { form: PatchForm::Unified, files: unified::parse(&lines)? }),
    }
}

#[cfg(test)]
mod tests;
