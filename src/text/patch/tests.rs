//! Reading, placing, sequences, and hostile input.

mod applying;
#[cfg(unix)]
mod corpus;
mod hostile;
mod reading;
mod sequences;

use super::*;

/// The only file of a patch that can be read.
fn file(text: &str) -> FilePatch {
    let patch = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(patch.files.len(), 1, "{text}");
    patch.files.into_iter().next().expect("one file")
}

/// Hunks for the file `f`.
fn hunks(text: &str) -> FilePatch {
    file(&format!("--- a/f\n+++ b/f\n{text}"))
}

/// The lines of a hunk as a patch has them.
fn lines(hunk: &Hunk) -> String {
    let sign = |kind| match kind {
        LineKind::Context => ' ',
        LineKind::Remove => '-',
        LineKind::Add => '+',
    };
    let end = |newline| if newline { "\n" } else { "<end>" };
    hunk.lines.iter().map(|line| format!("{}{}{}", sign(line.kind), line.text, end(line.newline))).collect()
}

impl FilePatch {
    /// Lines added and removed, as the patch has them.
    pub(crate) fn line_counts(&self) -> (usize, usize) {
        let lines = self.hunks.iter().flat_map(|hunk| &hunk.lines);
        lines.fold((0, 0), |(added, removed), line| match line.kind {
            LineKind::Add => (added + 1, removed),
            LineKind::Remove => (added, removed + 1),
            LineKind::Context => (added, removed),
        })
    }
}

impl FilePatchOperation {
    /// The one word for answers: `modify`, `create`, `delete`, `rename` or `copy`.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Modify { .. } => "modify",
            Self::Create { .. } => "create",
            Self::Delete { .. } => "delete",
            Self::Rename { .. } => "rename",
            Self::Copy { .. } => "copy",
        }
    }
}

impl AppliedFilePatch {
    /// Returns true if, in any hunk, added lines got the file's line ends instead of the patch's.
    pub(crate) fn line_ends_adapted(&self) -> bool {
        self.hunks.iter().any(|hunk| hunk.line_ends_adapted)
    }
}
