//! Errors of reading a patch.

use crate::text::truncate_chars;

/// The reasons why a patch cannot be read. Lines are 1-based lines of the patch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PatchError {
    /// The patch is larger than the limit.
    #[error("the patch has {bytes} bytes, and at most {most} are read; split it")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The limit in bytes.
        most: usize,
    },
    /// The patch has more hunks, files or lines than the limit.
    #[error("the patch has more than {most} {what}; split it")]
    TooMany {
        /// `hunks`, `files` or `lines`.
        what: &'static str,
        /// The limit.
        most: usize,
    },
    /// Nothing in the text is a patch.
    #[error(
        "no patch was found in the text; give a unified diff (`--- a/FILE`, `+++ b/FILE`, `@@ -1,3 +1,4 @@`) or the \
         `*** Begin Patch` form"
    )]
    Nothing,
    /// The patch is of a kind that cannot be applied.
    #[error("line {line}: {what} cannot be applied; give a unified diff of text files")]
    Unsupported {
        /// The line that shows the kind.
        line: usize,
        /// The kind, with its article.
        what: UnsupportedPatchKind,
    },
    /// The file is a link, a submodule or something else that is not a regular file.
    #[error("line {line}: mode {mode} ({what}) is refused; only regular files (100644, 100755) are patched")]
    Mode {
        /// The line that states the mode.
        line: usize,
        /// The mode as stated.
        mode: String,
        /// The meaning of the mode.
        what: &'static str,
    },
    /// A hunk comes before the name of its file.
    #[error(
        "line {line}: a hunk without the file it belongs to; put `--- a/FILE` and `+++ b/FILE` before it"
    )]
    HunkWithoutFile {
        /// The line that shows the error.
        line: usize,
    },
    /// A file is named without any change to it.
    #[error(
        "line {line}: nothing is changed in `{path}`; add a hunk (`@@ -1,3 +1,4 @@`) or leave the file out"
    )]
    NoHunks {
        /// The first line of the file's section.
        line: usize,
        /// The file.
        path: String,
    },
    /// A hunk has neither a removed nor an added line.
    #[error("line {line}: the hunk changes nothing; add lines that begin with `+` or `-`, or leave it out")]
    EmptyHunk {
        /// The first line of the part.
        line: usize,
    },
    /// A line inside a hunk does not begin with ` `, `+`, `-` or `\`.
    #[error(
        "line {line}: `{found}` inside a hunk begins with neither ` ` (context), `+` nor `-`; add that first character"
    )]
    HunkLine {
        /// The line.
        line: usize,
        /// The line found there, shortened.
        found: String,
    },
    /// The header of a hunk cannot be read.
    #[error(
        "line {line}: `{found}` is not the header of a hunk; write `@@ -OLD_LINE,COUNT +NEW_LINE,COUNT @@`"
    )]
    HunkHeader {
        /// The line.
        line: usize,
        /// The line found there, shortened.
        found: String,
    },
    /// A header of the file section cannot be read, or contradicts another.
    #[error("line {line}: {what}")]
    Header {
        /// The line.
        line: usize,
        /// A description of the error and its remedy.
        what: String,
    },
    /// The patch ends in the middle, or states itself that a part was left out.
    #[error("line {line}: {what}; give the whole patch")]
    Incomplete {
        /// The line.
        line: usize,
        /// The evidence in the patch.
        what: &'static str,
    },
}

/// Kinds of patches that are recognised and refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnsupportedPatchKind {
    /// `GIT binary patch`, `Binary files … differ`.
    Binary,
    /// `*** 1,3 ****`, `--- 1,4 ----`.
    Context,
    /// `1,3c1,4`, `< old`, `> new`.
    Normal,
    /// `1,3c`, text, `.`.
    EdScript,
    /// `diff --cc`, `@@@ … @@@`: the diff of a merge.
    Combined,
}

impl std::fmt::Display for UnsupportedPatchKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Binary => "a binary patch",
            Self::Context => "a context diff",
            Self::Normal => "a diff in the default format of `diff`",
            Self::EdScript => "an ed script",
            Self::Combined => "the combined diff of a merge",
        })
    }
}

/// Shortens `line` for an error message.
pub(super) fn error_excerpt(line: &str) -> String {
    const MAX_ERROR_LINE_CHARS: usize = 80;
    truncate_chars(line.trim_end_matches(['\n', '\r']), MAX_ERROR_LINE_CHARS).into_owned()
}
