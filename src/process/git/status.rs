//! The output of `git status` in types of this crate.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::GitError;
use super::difference::{path, whole_entries};
use super::repository::Repository;
use super::shadow::ShadowRepository;

/// The kind of change to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum GitChangeKind {
    #[allow(missing_docs)] // a doc comment would turn the schema's short `enum` into a long `oneOf`
    Added,
    #[allow(missing_docs)] // as above
    Modified,
    #[allow(missing_docs)] // as above
    Deleted,
    #[allow(missing_docs)] // as above
    Renamed,
    #[allow(missing_docs)] // as above
    Copied,
    #[allow(missing_docs)] // as above
    Typechange,
    #[allow(missing_docs)] // as above
    Conflicted,
}

/// A file that changed; paths are relative to the top of the work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GitChange {
    /// The present path, or the last one of a deleted file.
    pub path: PathBuf,
    /// The kind of change.
    pub change: GitChangeKind,
    /// The path before a rename or copy.
    pub from: Option<PathBuf>,
}

/// The status of a work tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct GitStatus {
    /// The changes between the commit and the index.
    pub staged: Vec<GitChange>,
    /// The changes between the index and the work tree, and conflicts.
    pub unstaged: Vec<GitChange>,
    /// The files only in the work tree that are not ignored.
    pub untracked: Vec<PathBuf>,
    /// True if there was more output than the limit.
    pub cut: bool,
}

/// The status of files at and below `below` (relative to the top of the work tree; empty for all
/// of it).
///
/// # Errors
/// If git fails or takes too long.
pub(crate) async fn status(
    shadow: &ShadowRepository,
    repository: &Repository,
    below: &Path,
    untracked: bool,
) -> Result<GitStatus, GitError> {
    let untracked = if untracked { "--untracked-files=all" } else { "--untracked-files=no" };
    // Git would run on submodules with their configuration, which is not trusted.
    let args =
        ["status", "--porcelain=v2", "-z", "--find-renames", "--ignore-submodules=dirty", untracked, "--"];
    let mut args: Vec<OsString> = args.map(OsString::from).to_vec();
    if !below.as_os_str().is_empty() {
        args.push(below.into());
    }
    let done = shadow.run(repository, &args).await?;
    Ok(GitStatus { cut: done.cut, ..parse(&done.output) })
}

/// Parses `--porcelain=v2 -z`; an unfinished last entry is left out.
fn parse(output: &[u8]) -> GitStatus {
    let mut status = GitStatus::default();
    let mut entries = whole_entries(output);
    while let Some(entry) = entries.next() {
        match entry.first() {
            Some(b'?') => status.untracked.extend(entry.get(2..).map(path)),
            Some(b'1') => status.add_entry(entry, 8, None),
            Some(b'2') => {
                let Some(from) = entries.next() else { break };
                status.add_entry(entry, 9, Some(path(from)));
            }
            Some(b'u') => {
                let path = field(entry, 10).map(path);
                let change = GitChangeKind::Conflicted;
                status.unstaged.extend(path.map(|path| GitChange { path, change, from: None }));
            }
            _ => {}
        }
    }
    status
}

impl GitStatus {
    /// Adds an entry `1 XY …` or `2 XY …`: X is the index, Y the work tree; the path follows the
    /// field `at`.
    fn add_entry(&mut self, entry: &[u8], at: usize, from: Option<PathBuf>) {
        let (Some([index, tree]), Some(path)) = (entry.get(2..4), field(entry, at).map(path)) else { return };
        for (letter, list) in [(index, &mut self.staged), (tree, &mut self.unstaged)] {
            if let Some(change) = change_kind(*letter) {
                let moved = matches!(change, GitChangeKind::Renamed | GitChangeKind::Copied);
                let from = from.clone().filter(|_| moved);
                list.push(GitChange { path: path.clone(), change, from });
            }
        }
    }
}

fn field(entry: &[u8], at: usize) -> Option<&[u8]> {
    entry.splitn(at + 1, |byte| *byte == b' ').nth(at)
}

fn change_kind(letter: u8) -> Option<GitChangeKind> {
    Some(match letter {
        b'A' => GitChangeKind::Added,
        b'M' => GitChangeKind::Modified,
        b'D' => GitChangeKind::Deleted,
        b'R' => GitChangeKind::Renamed,
        b'C' => GitChangeKind::Copied,
        b'T' => GitChangeKind::Typechange,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_status_porcelain_entries_of_each_kind_are_parsed() {
        let output = b"1 .M N... 100644 100644 100644 aa bb a b.rs\0\
            1 AM N... 000000 100644 100644 00 bb new\nline\0\
            2 R. N... 100644 100644 100644 aa aa R100 to\0from\0\
            u UU N... 100644 100644 100644 100644 aa bb cc both\0? un tracked\0? cut";
        let status = parse(output);
        let change = |path: &str, change| GitChange { path: path.into(), change, from: None };
        assert_eq!(
            status.staged,
            [
                change("new\nline", GitChangeKind::Added),
                GitChange { from: Some("from".into()), ..change("to", GitChangeKind::Renamed) }
            ]
        );
        assert_eq!(
            status.unstaged,
            [
                change("a b.rs", GitChangeKind::Modified),
                change("new\nline", GitChangeKind::Modified),
                change("both", GitChangeKind::Conflicted)
            ]
        );
        assert_eq!(status.untracked, [PathBuf::from("un tracked")]);
    }

    #[test]
    fn malformed_git_status_output_gives_no_entries() {
        for output in [b"".as_slice(), b"\0", b"1\0", b"1 .M\0", b"2 R. x\0", b"u\0", b"?\0", b"\xff\xff\0"] {
            assert_eq!(parse(output).staged, []);
        }
    }
}
