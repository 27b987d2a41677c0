//! The record of how a patch was applied: hunks, their places and repairs.

/// The result of a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AppliedFilePatch {
    /// The new text.
    pub text: String,
    /// Per hunk, in the order given.
    pub hunks: Vec<AppliedHunk>,
}

/// The position at which a hunk was applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AppliedHunk {
    /// Its 0-based number within the file's section of the patch.
    pub index: usize,
    /// The 1-based line of the old text that it states; `None` if it states none.
    pub(crate) old_start: Option<usize>,
    /// The 1-based line of the old text at which it was found; for a hunk without old lines, the
    /// line behind which it was inserted.
    pub applied_at: usize,
    /// The distance between the two in lines: positive if it was found farther down; 0 if it states
    /// no line.
    pub offset: isize,
    /// Lines of context dropped at each end, at most.
    pub fuzz: usize,
    /// True if the added lines got the line ends of the file instead of those of the patch. This
    /// happens if the old lines matched except for their line ends.
    pub(crate) line_ends_adapted: bool,
}
