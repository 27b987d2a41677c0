//! Digests of trees of files. Programs that read trees with the same digest find the same.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use ignore::{DirEntry, WalkBuilder, WalkState};
use parking_lot::Mutex;

use super::walk::rules::is_generated_folder;
use super::walk::walk_threads;
use super::{FileStamp, ReadError, Workspace};
use crate::platform::{OsStrExt, is_program};
use crate::text::{PartsHash, PartsHasher};

/// The largest file whose content counts, in bytes; of a larger one the size and the time of change
/// do.
const MAX_CONTENT_BYTES: u64 = 4 << 20;
/// The most files and folders of a tree that has a digest.
const MAX_ENTRIES: usize = 200_000;
/// The file that marks a folder as a cache, which programs leave out of what they read.
const CACHE_MARK: &str = "CACHEDIR.TAG";

/// A digest of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TreeDigest {
    /// Digest of paths and contents, the same for equal trees in different places.
    pub(crate) content: PartsHash,
    /// Digest of the files' states, which change with every write, be it of the same content.
    pub(crate) states: PartsHash,
}

impl Workspace {
    /// Returns a digest of the workspace: its folders, and the paths, contents and executable bits
    /// of the files for whose path (relative) `counts` holds, hidden and ignored ones included.
    ///
    /// Stores of version control, caches, installed packages of JavaScript and the `environments`
    /// (absolute) do not count. `None` if the tree is too large or not read by `until`, a link
    /// leads to a folder elsewhere, a file cannot be read, or `is_whole` fails for the path and the
    /// content of one: that file leads out.
    pub(crate) fn tree_digest(
        &self,
        environments: &[PathBuf],
        counts: impl Fn(&Path) -> bool + Sync,
        is_whole: impl Fn(&Path, &[u8]) -> bool + Sync,
        until: Instant,
    ) -> Option<TreeDigest> {
        let environments: Vec<PathBuf> =
            environments.iter().filter_map(|folder| fs::canonicalize(folder).ok()).collect();
        let is_left_out = {
            let environments = environments.clone();
            move |path: &Path| is_apart(path, &environments)
        };
        let digest_of = |entry: &DirEntry, relative: &Path| {
            let (path, kind) = (entry.path(), entry.file_type()?);
            if kind.is_dir() {
                return Some(Some(EntryDigest::default()));
            }
            let is_folder = kind.is_symlink() && path.is_dir();
            if is_folder {
                return self.folder_link_digest(path, &environments).map(Some);
            }
            // The file `.git` of a worktree names its repository.
            if relative.ends_with(".git") || !counts(relative) || !(kind.is_file() || path.is_file()) {
                return Some(None);
            }
            let content = match kind.is_symlink() {
                true => Self::read_bytes_outside(path, MAX_CONTENT_BYTES),
                false => self.read_rules(relative, MAX_CONTENT_BYTES),
            };
            content_digest((path, relative), content, &is_whole).map(Some)
        };
        digest_below(self.root(), false, is_left_out, digest_of, until)
    }

    /// The digest of a link to a folder, by where it leads: what is there counts itself. `None` if
    /// it leads to a folder that does not count.
    fn folder_link_digest(&self, path: &Path, environments: &[PathBuf]) -> Option<EntryDigest> {
        let target = fs::canonicalize(path).ok()?;
        let mut between = target.ancestors().take_while(|folder| *folder != self.root());
        if !target.starts_with(self.root()) || between.any(|folder| is_apart(folder, environments)) {
            return None;
        }
        let mut hasher = PartsHasher::default();
        hasher.add_name(fs::read_link(path).ok()?.as_os_str());
        Some(EntryDigest { content: hasher.finish(), ..EntryDigest::default() })
    }
}

/// Returns true for a folder, or a link to one, whose content programs that check files do not
/// read, or that is one of the `environments` (canonical).
fn is_apart(path: &Path, environments: &[PathBuf]) -> bool {
    if path.join("pyvenv.cfg").is_file() {
        return fs::canonicalize(path).is_ok_and(|folder| environments.contains(&folder));
    }
    let is_hidden = path.file_name().is_some_and(|name| name.as_bytes().starts_with(b"."));
    is_generated_folder(path) || (is_hidden && path.join(CACHE_MARK).is_file())
}

/// The digests of one entry of a tree.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct EntryDigest {
    content: PartsHash,
    state: PartsHash,
}

/// The digest of a file's content, or of its size and time of change if it is large.
fn content_digest(
    (absolute, relative): (&Path, &Path),
    content: Result<Vec<u8>, ReadError>,
    is_whole: impl Fn(&Path, &[u8]) -> bool,
) -> Option<EntryDigest> {
    let (mut hasher, mut state) = (PartsHasher::default(), PartsHasher::default());
    match content {
        Ok(content) if is_whole(relative, &content) => hasher.add(&content),
        Err(ReadError::TooLarge { .. }) => add_stamp(&mut hasher, absolute)?,
        Ok(_) | Err(_) => return None,
    }
    hasher.add(&[u8::from(is_program(absolute))]);
    let stamp = FileStamp::from_path(absolute)?;
    state.add(format!("{stamp:?}").as_bytes());
    Some(EntryDigest { content: hasher.finish(), state: state.finish() })
}

/// The part of a file that counts in a digest of a folder, beside its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileAspect {
    /// Its size.
    Size,
    /// Its size, and the time of its last change.
    SizeAndTime,
    /// Its content.
    Content,
}

/// Returns a digest of the files at and below `folder`, anywhere, by their paths and what `aspect`
/// returns for them; links are followed. `None` if there are too many, or not all are seen by
/// `until`.
pub(crate) fn folder_digest(
    folder: &Path,
    aspect: impl Fn(&Path) -> FileAspect + Sync,
    until: Instant,
) -> Option<PartsHash> {
    let digest_of = |entry: &DirEntry, relative: &Path| {
        let path = entry.path();
        let mut hasher = PartsHasher::default();
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            return Some(Some(EntryDigest::default()));
        }
        match aspect(path) {
            FileAspect::Size => hasher.add(&FileStamp::from_path(path)?.size.to_le_bytes()),
            FileAspect::SizeAndTime => add_stamp(&mut hasher, path)?,
            FileAspect::Content => {
                let content = Workspace::read_bytes_outside(path, MAX_CONTENT_BYTES);
                return content_digest((path, relative), content, |_, _| true).map(Some);
            }
        }
        Some(Some(EntryDigest { content: hasher.finish(), ..EntryDigest::default() }))
    };
    let is_left_out = |path: &Path| path.ends_with("__pycache__");
    digest_below(folder, true, is_left_out, digest_of, until).map(|digest| digest.content)
}

/// Adds size and time of change of the file at `path`.
fn add_stamp(hasher: &mut PartsHasher, path: &Path) -> Option<()> {
    let stamp = FileStamp::from_path(path)?;
    hasher.add(&stamp.size.to_le_bytes());
    hasher.add(&stamp.mtime_ns.to_le_bytes());
    Some(())
}

/// Hashes the entries below `root`, without folders for which `is_left_out` holds, by their paths
/// and what `digest_of` returns for them: `None` ends the walk without a result, `Some(None)`
/// leaves an entry out.
fn digest_below(
    root: &Path,
    follow_links: bool,
    is_left_out: impl Fn(&Path) -> bool + Send + Sync + 'static,
    digest_of: impl Fn(&DirEntry, &Path) -> Option<Option<EntryDigest>> + Sync,
    until: Instant,
) -> Option<TreeDigest> {
    let found: Mutex<Vec<(PathBuf, EntryDigest)>> = Mutex::default();
    let (is_cut, seen) = (AtomicBool::new(false), AtomicUsize::new(0));
    let mut walk = WalkBuilder::new(root);
    walk.standard_filters(false).follow_links(follow_links).threads(walk_threads());
    walk.filter_entry(move |entry| {
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        entry.depth() == 0 || is_file || !is_left_out(entry.path())
    });
    walk.build_parallel().run(|| {
        Box::new(|entry| {
            let quit = || {
                is_cut.store(true, Ordering::Relaxed);
                WalkState::Quit
            };
            if seen.fetch_add(1, Ordering::Relaxed) > MAX_ENTRIES || Instant::now() > until {
                return quit();
            }
            // A link to nowhere, or in a circle; a folder without permission.
            let Ok(entry) = entry else { return if follow_links { WalkState::Continue } else { quit() } };
            let Ok(relative) = entry.path().strip_prefix(root) else { return quit() };
            match digest_of(&entry, relative) {
                Some(Some(digest)) => {
                    found.lock().push((relative.to_owned(), digest));
                    WalkState::Continue
                }
                Some(None) => WalkState::Continue,
                None => quit(),
            }
        })
    });
    if is_cut.into_inner() {
        return None;
    }
    let mut found = found.into_inner();
    found.sort();
    let (mut contents, mut states) = (PartsHasher::default(), PartsHasher::default());
    for (path, digest) in found {
        contents.add(path.as_os_str().as_bytes());
        contents.add(&digest.content);
        states.add(&digest.state);
    }
    Some(TreeDigest { content: contents.finish(), states: states.finish() })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::time::{Duration, SystemTime};

    use proptest::prelude::*;

    use super::*;

    /// One random change of a tree.
    #[derive(Debug, Clone)]
    enum TreeChange {
        Write(usize, &'static str),
        Remove(usize),
        Rename(usize, usize),
        Link(usize, usize),
        MakeFolder(usize),
        Touch(usize),
        SetMode(usize, u32),
        WriteStore(&'static str),
    }

    const NAMES: [&str; 6] = ["a.py", "b.py", "in/c.py", "in/deep/d.py", ".hidden.py", "notes.rs"];
    const FOLDERS: [&str; 3] = ["empty", "in/empty", "in/deep/empty"];

    fn change() -> impl Strategy<Value = TreeChange> {
        let (name, folder) = (0..NAMES.len(), 0..FOLDERS.len());
        prop_oneof![
            4 => (name.clone(), prop_oneof![Just("x"), Just("y"), Just("long")]).prop_map(|(at, text)| TreeChange::Write(at, text)),
            2 => name.clone().prop_map(TreeChange::Remove),
            2 => (name.clone(), name.clone()).prop_map(|(from, to)| TreeChange::Rename(from, to)),
            1 => (name.clone(), name.clone()).prop_map(|(at, to)| TreeChange::Link(at, to)),
            1 => folder.prop_map(TreeChange::MakeFolder),
            1 => name.clone().prop_map(TreeChange::Touch),
            1 => (name, prop_oneof![Just(0o600), Just(0o755)]).prop_map(|(at, mode)| TreeChange::SetMode(at, mode)),
            1 => prop_oneof![Just("1"), Just("2")].prop_map(TreeChange::WriteStore),
        ]
    }

    fn apply(root: &Path, change: &TreeChange) {
        let path = |at: &usize| root.join(NAMES[*at]);
        // A change that is impossible in this tree changes nothing.
        let _ = match change {
            TreeChange::Write(at, text) => {
                let _gone = fs::remove_file(path(at));
                fs::write(path(at), text)
            }
            TreeChange::Remove(at) => fs::remove_file(path(at)),
            TreeChange::Rename(from, to) => fs::rename(path(from), path(to)),
            TreeChange::Link(at, to) => symlink(NAMES[*to], path(at)),
            TreeChange::MakeFolder(at) => fs::create_dir(root.join(FOLDERS[*at])),
            TreeChange::Touch(at) => fs::File::options()
                .append(true)
                .open(path(at))
                .and_then(|file| file.set_modified(SystemTime::now() + Duration::from_secs(60))),
            TreeChange::SetMode(at, mode) => fs::metadata(path(at))
                .and_then(|_| fs::set_permissions(path(at), fs::Permissions::from_mode(*mode))),
            TreeChange::WriteStore(text) => fs::write(root.join(".git/index"), text),
        };
    }

    /// The folders and texts that a reader of Python files finds.
    fn content(root: &Path, folder: &Path, found: &mut BTreeMap<PathBuf, String>) {
        for entry in fs::read_dir(folder).unwrap().flatten().filter(|entry| entry.file_name() != ".git") {
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            let is_python = path.extension().is_some_and(|extension| extension == "py");
            let relative = path.strip_prefix(root).unwrap().to_owned();
            if kind.is_dir() {
                found.insert(relative, "/".to_owned());
                content(root, &path, found);
            } else if let Some(text) = fs::read_to_string(&path).ok().filter(|_| is_python) {
                let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o111;
                found.insert(relative, format!("{text} {}", mode != 0));
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]
        /// 40 trees with up to 60 changes each.
        #[test]
        fn digest_changes_exactly_when_what_is_read_changes(changes in prop::collection::vec(change(), 1..60)) {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().canonicalize().unwrap();
            [".git", "in/deep"].iter().for_each(|name| fs::create_dir_all(root.join(name)).unwrap());
            let workspace = Workspace::open(&root).unwrap();
            let mut known: BTreeMap<PartsHash, BTreeMap<PathBuf, String>> = BTreeMap::new();
            for change in &changes {
                apply(&root, change);
                let counts = |path: &Path| path.extension().is_some_and(|extension| extension == "py");
                let digest = workspace.tree_digest(&[], counts, |_, _| true, Instant::now() + Duration::from_secs(60));
                let digest = digest.expect("nothing leads out of the tree").content;
                let mut read = BTreeMap::new();
                content(&root, &root, &mut read);
                let same = known.iter().find(|(_, other)| **other == read).map(|(digest, _)| *digest);
                prop_assert_eq!(same.unwrap_or(digest), digest, "{:?}", change);
                prop_assert_eq!(known.entry(digest).or_insert_with(|| read.clone()), &read);
            }
        }
    }

    #[test]
    fn tree_with_a_link_to_a_folder_outside_has_no_digest_and_one_to_a_file_has_that_of_its_content() {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let workspace = Workspace::open(folder.path()).unwrap();
        let digest = || {
            workspace
                .tree_digest(&[], |_| true, |_, _| true, Instant::now() + Duration::from_secs(60))
                .map(|digest| digest.content)
        };
        fs::write(folder.path().join("made.py"), "x").unwrap();
        let plain = digest();
        fs::remove_file(folder.path().join("made.py")).unwrap();
        fs::write(other.path().join("made.py"), "x").unwrap();
        symlink(other.path().join("made.py"), folder.path().join("made.py")).unwrap();
        assert!(plain.is_some() && digest() == plain);
        symlink(other.path(), folder.path().join("out")).unwrap();
        assert_eq!(digest(), None);
    }
}
