//! The files that differ between two trees of a repository, with their texts.

use crate::platform::OsStrExt;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use super::GitError;
use super::repository::Repository;
use super::revision::{ComparedTree, Comparison};
use super::shadow::ShadowRepository;

/// The most bytes of blobs from one git command.
const BLOB_BATCH_BYTES: u64 = 4 << 20;
/// Git's modes of regular files, in octal.
const REGULAR_MODES: [&str; 2] = ["100644", "100755"];
/// Git's mode of a submodule's commit.
pub(super) const SUBMODULE_MODE: &str = "160000";

/// One side of a file that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ComparedFile {
    /// The file does not exist.
    Absent,
    /// A regular file whose content is this blob.
    Blob(String),
    /// The content of a regular file on disk.
    OnDisk,
    /// A submodule, which is a repository of its own.
    Submodule,
    /// Another kind of entry, in words.
    Other(&'static str),
}

/// A path that differs, relative to the top of the work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ComparedPath {
    /// The path after.
    pub path: PathBuf,
    /// The path before, if it differs.
    pub renamed_from: Option<PathBuf>,
    /// The file before.
    pub before: ComparedFile,
    /// The file after.
    pub after: ComparedFile,
}

/// The differences between two trees.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TreeDifference {
    /// The paths.
    pub paths: Vec<ComparedPath>,
    /// True if there was more output than the limit.
    pub cut: bool,
}

/// Lists the differences of a comparison.
///
/// # Errors
/// If git fails or takes too long.
pub(crate) async fn difference(
    shadow: &ShadowRepository,
    repository: &Repository,
    comparison: &Comparison,
) -> Result<TreeDifference, GitError> {
    let command = match &comparison.after {
        ComparedTree::Object(_) => "diff-tree",
        ComparedTree::Index | ComparedTree::WorkTree => "diff-index",
    };
    let mut args = vec![
        command,
        "--raw",
        "-z",
        "--no-abbrev",
        "-M",
        "--no-ext-diff",
        "--no-textconv",
        // Git would run on submodules with their configuration, which is not trusted.
        "--ignore-submodules=dirty",
    ];
    match &comparison.after {
        ComparedTree::Object(id) => args.extend(["-r", &comparison.before, id]),
        ComparedTree::Index => args.extend(["--cached", &comparison.before]),
        ComparedTree::WorkTree => args.push(&comparison.before),
    }
    args.push("--");
    let args: Vec<OsString> = args.into_iter().map(OsString::from).collect();
    let done = shadow.run(repository, &args).await?;
    let mut found = TreeDifference { paths: parse(&done.output, &comparison.after), cut: done.cut };
    if comparison.after == ComparedTree::WorkTree {
        let args = ["ls-files", "--others", "--exclude-standard", "-z"].map(OsString::from);
        let done = shadow.run(repository, &args).await?;
        found.cut |= done.cut;
        found.paths.extend(whole_entries(&done.output).map(|entry| ComparedPath {
            path: path(entry),
            renamed_from: None,
            before: ComparedFile::Absent,
            after: ComparedFile::OnDisk,
        }));
    }
    Ok(found)
}

/// The files and folders that git ignores, each folder once, relative to the top of the work tree.
///
/// # Errors
/// If git fails or takes too long.
pub(crate) async fn ignored_paths(
    shadow: &ShadowRepository,
    repository: &Repository,
) -> Result<Vec<PathBuf>, GitError> {
    let args = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"];
    let done = shadow.run(repository, &args.map(OsString::from)).await?;
    Ok(nul_paths(&done.output).collect())
}

/// Files that git assumes unchanged without a check, because the user set that
/// (`git update-index --assume-unchanged`, or `--skip-worktree` outside of a sparse checkout).
///
/// # Errors
/// If git fails or takes too long.
pub(crate) async fn unwatched_paths(
    shadow: &ShadowRepository,
    repository: &Repository,
) -> Result<Vec<PathBuf>, GitError> {
    let done = shadow.run(repository, &["ls-files", "-v", "-z"].map(OsString::from)).await?;
    // A small letter stands for the first flag, `S` for the second. A file excluded from the work
    // tree does not exist.
    let marked = whole_entries(&done.output).filter_map(|entry| match entry {
        [mark, b' ', name @ ..] if mark.is_ascii_lowercase() || *mark == b'S' => Some(path(name)),
        _ => None,
    });
    Ok(marked.filter(|path| repository.top.join(path).symlink_metadata().is_ok()).collect())
}

/// Parses `--raw -z`; an unfinished last entry is left out.
fn parse(output: &[u8], later: &ComparedTree) -> Vec<ComparedPath> {
    let mut entries = whole_entries(output);
    let mut found = Vec::new();
    while let Some(head) = entries.next() {
        let Some(head) = head.strip_prefix(b":") else { continue };
        let head = String::from_utf8_lossy(head);
        let fields: Vec<&str> = head.split(' ').collect();
        let [old_mode, new_mode, old_id, new_id, status] = fields[..] else { continue };
        let Some(first) = entries.next().map(path) else { break };
        let (path, renamed_from) = match status.as_bytes().first() {
            Some(b'R') => match entries.next().map(self::path) {
                Some(new) => (new, Some(first)),
                None => break,
            },
            _ => (first, None),
        };
        let (before, mut after) = (compared_file(old_mode, old_id), compared_file(new_mode, new_id));
        if status == "U" {
            // Git gives neither mode nor id for a path in conflict.
            after = match later {
                ComparedTree::WorkTree => ComparedFile::OnDisk,
                _ => ComparedFile::Other("in conflict"),
            };
        }
        found.push(ComparedPath { path, renamed_from, before, after });
    }
    found
}

fn compared_file(mode: &str, id: &str) -> ComparedFile {
    match mode {
        "000000" => ComparedFile::Absent,
        SUBMODULE_MODE => ComparedFile::Submodule,
        "120000" => ComparedFile::Other("a symbolic link"),
        _ if !REGULAR_MODES.contains(&mode) => ComparedFile::Other("no regular file"),
        // Git gives no id for a file that it has not read from the disk.
        _ if id.bytes().all(|byte| byte == b'0') => ComparedFile::OnDisk,
        _ => ComparedFile::Blob(id.to_owned()),
    }
}

/// The entries, which end in NUL.
pub(super) fn whole_entries(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    let whole = output.iter().rposition(|byte| *byte == 0).map_or(0, |end| end);
    output[..whole].split(|byte| *byte == 0).filter(|entry| !entry.is_empty())
}

/// The paths, which end in NUL.
pub(super) fn nul_paths(output: &[u8]) -> impl Iterator<Item = PathBuf> {
    whole_entries(output).map(path)
}

pub(super) fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

/// The content of a blob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BlobContent {
    /// The whole content.
    Bytes(Vec<u8>),
    /// The blob has this many bytes, which exceeds the limit.
    TooLarge(u64),
    /// The clone does not contain the blob.
    Missing,
}

/// The contents of blobs of at most `most_bytes` each, by their ids.
///
/// # Errors
/// If git fails or takes too long.
pub(crate) async fn blobs(
    shadow: &ShadowRepository,
    repository: &Repository,
    ids: &[String],
    most_bytes: u64,
) -> Result<BTreeMap<String, BlobContent>, GitError> {
    let mut found = BTreeMap::new();
    let wanted: BTreeSet<&str> = ids.iter().map(String::as_str).collect();
    let mut batches: Vec<(u64, Vec<&str>)> = Vec::new();
    let listed = cat_file(shadow, repository, "--batch-check", wanted.iter().copied()).await?;
    for line in String::from_utf8_lossy(&listed).lines() {
        let mut fields = line.split(' ');
        let (Some(id), size) = (fields.next(), fields.nth(1).and_then(|size| size.parse::<u64>().ok()))
        else {
            continue;
        };
        let Some(id) = wanted.get(id).copied() else { continue };
        match size {
            None => drop(found.insert(id.to_owned(), BlobContent::Missing)),
            Some(size) if size > most_bytes => drop(found.insert(id.to_owned(), BlobContent::TooLarge(size))),
            Some(size) => match batches.last_mut() {
                Some((total, batch)) if *total + size <= BLOB_BATCH_BYTES => {
                    *total += size;
                    batch.push(id);
                }
                _ => batches.push((size, vec![id])),
            },
        }
    }
    for (_, batch) in batches {
        let output = cat_file(shadow, repository, "--batch", batch.into_iter()).await?;
        found.extend(parse_batch(&output).map(|(id, bytes)| (id, BlobContent::Bytes(bytes))));
    }
    Ok(found)
}

async fn cat_file<'i>(
    shadow: &ShadowRepository,
    repository: &Repository,
    how: &str,
    ids: impl Iterator<Item = &'i str>,
) -> Result<Vec<u8>, GitError> {
    let input: String = ids.flat_map(|id| [id, "\n"]).collect();
    let args = ["cat-file", how, "--buffer"].map(OsString::from);
    let done = shadow.run_with(&repository.top, &args, input.as_bytes(), &[]).await?;
    Ok(done.output)
}

/// Parses `cat-file --batch`: `ID blob SIZE`, a line end, the bytes, a line end.
fn parse_batch(mut output: &[u8]) -> impl Iterator<Item = (String, Vec<u8>)> {
    std::iter::from_fn(move || {
        let end = output.iter().position(|byte| *byte == b'\n')?;
        let head = String::from_utf8_lossy(&output[..end]).into_owned();
        let mut fields = head.split(' ');
        let id = fields.next()?.to_owned();
        let size: usize = fields.nth(1)?.parse().ok()?;
        let rest = output.get(end + 1..)?;
        let bytes = rest.get(..size)?.to_vec();
        output = rest.get(size + 1..).unwrap_or_default();
        Some((id, bytes))
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn raw_entries_of_each_kind_are_parsed() {
        let (a, b, none) = ("a".repeat(40), "b".repeat(40), "0".repeat(40));
        let output = format!(
            ":100644 100644 {a} {b} M\0x.py\0:100644 100644 {a} {none} M\0on disk\0:000000 100644 {none} {b} A\0new\0\
             :100644 000000 {a} {none} D\0gone\0:100644 100644 {a} {a} R100\0old\0moved\0\
             :160000 160000 {a} {b} M\0sub\0:100644 100644 {a} {b} M\0cut"
        );
        let found = parse(output.as_bytes(), &ComparedTree::WorkTree);
        let blob = |id: &str| ComparedFile::Blob(id.to_owned());
        let sides: Vec<(&str, ComparedFile, ComparedFile)> = found
            .iter()
            .map(|one| (one.path.to_str().expect("a name"), one.before.clone(), one.after.clone()))
            .collect();
        assert_eq!(
            sides[..5],
            [
                ("x.py", blob(&a), blob(&b)),
                ("on disk", blob(&a), ComparedFile::OnDisk),
                ("new", ComparedFile::Absent, blob(&b)),
                ("gone", blob(&a), ComparedFile::Absent),
                ("moved", blob(&a), blob(&a)),
            ]
        );
        assert_eq!(found[4].renamed_from.as_deref(), Some(Path::new("old")));
        assert!(found[5].before == ComparedFile::Submodule && found.len() == 6);
    }

    #[test]
    fn batch_of_blobs_with_line_ends_is_read_by_sizes() {
        let output = b"aa blob 4\nx\n\ny\nbb missing\n";
        let found: Vec<_> = parse_batch(output).collect();
        assert_eq!(found, [("aa".to_owned(), b"x\n\ny".to_vec())]);
        assert_eq!(parse_batch(b"aa blob 40\nshort").count(), 0);
    }
}
