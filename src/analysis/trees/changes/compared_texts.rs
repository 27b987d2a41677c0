//! The files that differ between two trees, with their texts before and after.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::analysis::breakage::edited_text::EditedText;
use crate::analysis::context::Context;
use crate::analysis::error::ToolError;
use crate::analysis::trees::git_access::{OpenRepository, from_git_error};
use crate::process::git::difference::{BlobContent, ComparedFile, ComparedPath, blobs, difference};
use crate::process::git::revision::Comparison;
use crate::workspace::{ReadError, WorkspacePath};

/// The differing files in the workspace.
#[derive(Debug, Default)]
pub(crate) struct ComparedTexts {
    /// The text files.
    pub edits: Vec<EditedText>,
    /// Files that cannot be compared as text.
    pub unread: Vec<(WorkspacePath, UnreadReason)>,
    /// The number of files outside the workspace or with unusable names.
    pub elsewhere: usize,
    /// True if there were more differences than the limit.
    pub cut: bool,
    /// The number of files that git assumes unchanged without a check.
    pub unwatched: usize,
}

/// The reason that a file cannot be compared as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UnreadReason {
    /// The path is a submodule.
    Submodule,
    /// The path is not a regular file; its kind in words. The target of a link may still be a
    /// source.
    NoFile(String),
    /// Another reason, in words.
    Other(String),
}

impl fmt::Display for UnreadReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Submodule => out.write_str("it is a submodule"),
            Self::NoFile(reason) | Self::Other(reason) => out.write_str(reason),
        }
    }
}

/// One side of a file as text.
enum SideText {
    Absent,
    Text(String),
    Unread(UnreadReason),
}

impl ComparedTexts {
    /// Reads the files that differ in `comparison`.
    ///
    /// # Errors
    /// If git fails.
    pub(crate) async fn read(
        context: &Context,
        opened: &OpenRepository,
        comparison: &Comparison,
    ) -> Result<Self, ToolError> {
        let OpenRepository { repository, shadow } = opened;
        let found = difference(shadow, repository, comparison).await.map_err(from_git_error)?;
        let ids: Vec<String> = found
            .paths
            .iter()
            .flat_map(|one| [&one.before, &one.after])
            .filter_map(|side| match side {
                ComparedFile::Blob(id) => Some(id.clone()),
                _ => None,
            })
            .collect();
        let limit = context.config.settings.limits.max_file_bytes;
        let blobs = blobs(shadow, repository, &ids, limit).await.map_err(from_git_error)?;
        let mut texts = Self { cut: found.cut, ..Self::default() };
        let mut libraries = LibraryFolders::default();
        for one in &found.paths {
            let is_new = one.before == ComparedFile::Absent && one.after == ComparedFile::OnDisk;
            if !(is_new && libraries.contain(&repository.top, &one.path)) {
                texts.add(context, &repository.top, one, &blobs);
            }
        }
        Ok(texts)
    }

    /// The reasons that the list may be incomplete, in sentences.
    pub(crate) fn gaps(&self) -> Vec<String> {
        let submodules = self.unread.iter().filter(|(_, reason)| *reason == UnreadReason::Submodule);
        let mut gaps: Vec<String> = submodules
            .map(|(path, _)| {
                format!("{} is a submodule: changes between its commits are not checked", path.display())
            })
            .collect();
        gaps.extend(self.cut.then(|| "git returned more differences than the limit".to_owned()));
        gaps.extend((self.elsewhere > 0).then(|| {
            let count = self.elsewhere;
            format!("{count} changed files are outside the workspace: their effect on it is unknown")
        }));
        gaps.extend((self.unwatched > 0).then(|| {
            let advice = "git update-index --no-assume-unchanged reverts that";
            format!("git assumes that {} files are unchanged ({advice})", self.unwatched)
        }));
        gaps
    }

    fn add(
        &mut self,
        context: &Context,
        top: &Path,
        one: &ComparedPath,
        blobs: &BTreeMap<String, BlobContent>,
    ) {
        let inside = |path: &PathBuf| context.workspace.path(&top.join(path)).ok();
        let absent = &ComparedFile::Absent;
        let from = one.renamed_from.as_ref().map(inside);
        self.elsewhere += usize::from(inside(&one.path).is_none() || from == Some(None));
        let (path, renamed_from, before, after) = match (inside(&one.path), from) {
            (Some(path), None) => (path, None, &one.before, &one.after),
            (Some(path), Some(Some(from))) => (path, Some(from), &one.before, &one.after),
            // Half of the move is outside the workspace: here the file was added or removed.
            (Some(path), Some(None)) => (path, None, absent, &one.after),
            (None, Some(Some(from))) => (from, None, &one.before, absent),
            (None, _) => return,
        };
        if one.path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            // For an untracked folder with a repository of its own, git lists only the folder.
            self.unread.push((path, UnreadReason::NoFile("it is a repository of its own".to_owned())));
            return;
        }
        let is_hidden = |path: &WorkspacePath| context.workspace.is_path_hidden(path);
        if is_hidden(&path) || renamed_from.as_ref().is_some_and(is_hidden) {
            self.unread.push((path, UnreadReason::Other("a rule hides it".to_owned())));
            return;
        }
        let before = side_text(context, renamed_from.as_ref().unwrap_or(&path), before, blobs);
        let after = side_text(context, &path, after, blobs);
        let (before, after) = match (before, after) {
            (SideText::Unread(reason), _) | (_, SideText::Unread(reason)) => {
                self.unread.push((path, reason));
                return;
            }
            (SideText::Absent, SideText::Absent) => return,
            (SideText::Text(before), SideText::Absent) => (Some(before), None),
            (SideText::Absent, SideText::Text(after)) => (None, Some(after)),
            (SideText::Text(before), SideText::Text(after)) => {
                let before = with_line_ends_of(before, &after);
                if before == after && renamed_from.is_none() {
                    return;
                }
                (Some(before), Some(after))
            }
        };
        self.edits.push(EditedText { path, renamed_from, before, after });
    }
}

fn side_text(
    context: &Context,
    path: &WorkspacePath,
    side: &ComparedFile,
    blobs: &BTreeMap<String, BlobContent>,
) -> SideText {
    let unread = |reason: &str| SideText::Unread(UnreadReason::Other(reason.to_owned()));
    match side {
        ComparedFile::Absent => SideText::Absent,
        ComparedFile::Submodule => SideText::Unread(UnreadReason::Submodule),
        ComparedFile::Other(reason) => SideText::Unread(UnreadReason::NoFile(format!("it is {reason}"))),
        ComparedFile::OnDisk => {
            let limit = context.config.settings.limits.max_file_bytes;
            match context.workspace.read_text_up_to(path, limit) {
                Ok(file) => SideText::Text(file.text),
                // The file was deleted after git's scan, or git's index is older than the disk.
                Err(ReadError::NotFound { .. }) => SideText::Absent,
                Err(error) => unread(&error.reason()),
            }
        }
        ComparedFile::Blob(id) => match blobs.get(id) {
            None => unread("git does not return it"),
            Some(BlobContent::Missing) => unread("the clone does not have its text (git fetch gets it)"),
            Some(BlobContent::TooLarge(size)) => unread(&format!("it is too large ({size} bytes)")),
            Some(BlobContent::Bytes(bytes)) => match std::str::from_utf8(bytes) {
                _ if bytes.contains(&0) => unread("it is not text"),
                Ok(text) => SideText::Text(text.strip_prefix('\u{feff}').unwrap_or(text).to_owned()),
                Err(_) => unread("it is not in UTF-8"),
            },
        },
    }
}

/// Folders of installed packages, which a repository may have forgotten to ignore.
#[derive(Default)]
struct LibraryFolders(BTreeMap<PathBuf, bool>);

impl LibraryFolders {
    /// Returns true if `path`, relative to `top`, is in such a folder.
    fn contain(&mut self, top: &Path, path: &Path) -> bool {
        let folders = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
        folders.into_iter().any(|folder| {
            let is_library = || {
                folder.ends_with("node_modules")
                    || top.join(folder).join("pyvenv.cfg").symlink_metadata().is_ok()
            };
            *self.0.entry(folder.to_owned()).or_insert_with(is_library)
        })
    }
}

/// `before` with line ends as in `after`: git may store a file with other line ends than those on
/// disk.
fn with_line_ends_of(before: String, after: &str) -> String {
    match (before.contains('\r'), after.contains("\r\n")) {
        (false, true) => before.replace('\n', "\r\n"),
        (true, false) if !after.contains('\r') => before.replace("\r\n", "\n"),
        _ => before,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_alone_are_no_difference() {
        assert_eq!(with_line_ends_of("a\nb\n".to_owned(), "a\r\nc\r\n"), "a\r\nb\r\n");
        assert_eq!(with_line_ends_of("a\r\nb\r\n".to_owned(), "a\nc\n"), "a\nb\n");
        assert_eq!(with_line_ends_of("a\nb\n".to_owned(), "c\n"), "a\nb\n");
    }
}
