//! Digests of trees of files: checkers have the same findings in trees with the same digest.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use ignore::{DirEntry, WalkBuilder, WalkState};
use parking_lot::Mutex;

use super::walk::rules::{is_generated_folder, is_store};
use super::walk::walk_threads;
use super::{FileStamp, ReadError, Workspace};
use crate::platform::{OsStrExt, canonicalize, is_program};
use crate::text::{PartsHash, PartsHasher};

/// The largest file whose content counts, in bytes; of a larger one the size and the time of change
/// do.
const MAX_CONTENT_BYTES: u64 = 4 << 20;
/// The most files and folders of a tree that has a digest.
const MAX_ENTRIES: usize = 200_000;
/// The file that marks a folder as a cache, which programs do not read.
pub(super) const CACHE_MARK: &str = "CACHEDIR.TAG";

/// A digest of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TreeDigest {
    /// Digest of paths and contents, the same for equal trees in different places.
    pub(crate) content: PartsHash,
    /// Digest of the states of files and folders, which change with every write, be it of the same
    /// content.
    pub(crate) states: PartsHash,
}

/// The reason that a tree has no digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DigestError {
    /// The time ended before everything was read.
    #[error("comparing the files takes too long")]
    Late,
    /// More than `MAX_ENTRIES` files and folders.
    #[error("there are more than {MAX_ENTRIES} files to compare")]
    TooLarge,
    /// A folder cannot be read.
    #[error("{0}")]
    Walk(String),
    /// An entry cannot be read, or leads to other files.
    #[error("`{}` may lead to files elsewhere, or cannot be read", .0.display())]
    Entry(PathBuf),
}

impl Workspace {
    /// Returns a digest of the workspace: its folders, and the paths, contents and executable bits
    /// of the files for which `counts` holds, hidden and ignored ones included. It is given the
    /// relative path, and whether that lies in a folder of installed packages or build output: there
    /// the paths of other files count as well.
    ///
    /// Stores of version control and those of the `environments` (absolute, no links) that have a
    /// usual name do not count, and in caches only files for which `counts` holds.
    ///
    /// # Errors
    /// The tree is too large or not read by `until`, a link leads to another folder or out of the
    /// workspace, a file cannot be read, or `is_whole` fails for the path and the content of one
    /// (`None` if it is large): that file leads out.
    pub(crate) fn tree_digest(
        &self,
        environments: &[PathBuf],
        counts: impl Fn(&Path, bool) -> bool + Sync,
        is_whole: impl Fn(&Path, Option<&[u8]>) -> bool + Sync,
        until: Instant,
    ) -> Result<TreeDigest, DigestError> {
        let environments = environments.to_vec();
        let is_left_out = move |path: &Path| is_apart(path, &environments);
        let digest_of = |entry: &DirEntry, relative: &Path| {
            let (path, kind) = (entry.path(), entry.file_type()?);
            let in_cache = self.is_in_cache(relative);
            if in_cache && (kind.is_dir() || !counts(relative, true)) {
                return Some(None);
            }
            let is_built = in_cache || self.is_built(relative);
            if kind.is_dir() {
                // A file has another digest.
                let folder = EntryDigest::of_state(path)?;
                return Some(Some(EntryDigest { content: hash_of(b"/"), ..folder }));
            }
            if path.is_dir() {
                // A module reached by a link has other modules above it. Installed packages may
                // consist of links; their files count at the target.
                let target = canonicalize(path).ok().filter(|_| is_built)?;
                let content = hash_of(target.strip_prefix(self.root()).ok()?.as_os_str().as_bytes());
                return Some(Some(EntryDigest { content, ..EntryDigest::default() }));
            }
            // The file `.git` of a worktree names its repository.
            let is_file = path.is_file() && !relative.ends_with(".git");
            // The interpreters of an environment are links out of it, and no modules.
            let is_program_link = is_built && kind.is_symlink() && relative.extension().is_none();
            if !is_file || is_program_link || !counts(relative, is_built) {
                return Some((is_file && is_built).then(EntryDigest::default));
            }
            content_digest((path, relative), self.read_rules(relative, MAX_CONTENT_BYTES), &is_whole)
                .map(Some)
        };
        digest_below(self.root(), false, is_left_out, digest_of, until)
    }

    /// Returns true if `relative` lies in a folder of installed packages or build output, or a cache.
    pub(crate) fn is_built(&self, relative: &Path) -> bool {
        let above = relative.ancestors().skip(1).map(|folder| self.root().join(folder));
        let mut above = above.take_while(|folder| folder != self.root());
        above.any(|folder| is_generated_folder(&folder) || is_cache(&folder))
    }

    /// Returns true if `relative` is a cache or lies in one.
    fn is_in_cache(&self, relative: &Path) -> bool {
        let all = relative.ancestors().map(|folder| self.root().join(folder));
        all.take_while(|folder| folder != self.root()).any(|folder| is_cache(&folder))
    }
}

/// Returns true for a folder, or a link to one, whose content programs that check files do not
/// read, or that is one of the `environments` (canonical) and has a usual name.
fn is_apart(path: &Path, environments: &[PathBuf]) -> bool {
    let is_environment = || canonicalize(path).is_ok_and(|folder| environments.contains(&folder));
    is_store(path) || is_generated_folder(path) && is_environment()
}

/// Returns true for the folder of a cache: of bytecode, or a hidden one.
fn is_cache(path: &Path) -> bool {
    let is_hidden = path.file_name().is_some_and(|name| name.as_bytes().starts_with(b"."));
    path.ends_with("__pycache__") || is_hidden && path.join(CACHE_MARK).is_file()
}

/// The digests of one entry of a tree.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct EntryDigest {
    content: PartsHash,
    state: PartsHash,
}

impl EntryDigest {
    /// The digest of something at `path` of which no content counts.
    fn of_state(path: &Path) -> Option<Self> {
        let state = hash_of(format!("{:?}", FileStamp::from_path(path)?).as_bytes());
        Some(Self { state, ..Self::default() })
    }
}

fn hash_of(part: &[u8]) -> PartsHash {
    let mut hasher = PartsHasher::default();
    hasher.add(part);
    hasher.finish()
}

/// The digest of a file's content, or of its size and time of change if it is large.
fn content_digest(
    (absolute, relative): (&Path, &Path),
    content: Result<Vec<u8>, ReadError>,
    is_whole: impl Fn(&Path, Option<&[u8]>) -> bool,
) -> Option<EntryDigest> {
    let mut hasher = PartsHasher::default();
    match content {
        Ok(content) if is_whole(relative, Some(&content)) => hasher.add(&content),
        Err(ReadError::TooLarge { .. }) if is_whole(relative, None) => {
            hasher.add(size_and_time(absolute)?.as_bytes());
        }
        Ok(_) | Err(_) => return None,
    }
    hasher.add(&[u8::from(is_program(absolute))]);
    Some(EntryDigest { content: hasher.finish(), ..EntryDigest::of_state(absolute)? })
}

/// The part of a file that counts in a digest of a folder, beside its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileAspect {
    /// Its path alone.
    Path,
    /// Its size.
    Size,
    /// Its size, and the time of its last change.
    SizeAndTime,
    /// Its content.
    Content,
}

/// Returns a digest of the files below `folder` (anywhere), from their paths and the aspects that
/// `aspect` selects. Links are followed; folders for which `is_left_out` holds are not read, and
/// bytecode does not count.
///
/// # Errors
/// There are too many files, not all are seen by `until`, or `aspect` refuses one.
pub(crate) fn folder_digest(
    folder: &Path,
    is_left_out: impl Fn(&Path) -> bool + Send + Sync + 'static,
    aspect: impl Fn(&Path) -> Option<FileAspect> + Sync,
    until: Instant,
) -> Result<TreeDigest, DigestError> {
    let digest_of = |entry: &DirEntry, relative: &Path| {
        let path = entry.path();
        let is_source = || path.extension().is_some_and(|extension| extension == "py" || extension == "pyi");
        if relative.iter().any(|name| name == "__pycache__") && !is_source() {
            return Some(None);
        }
        let plain = EntryDigest::of_state(path)?;
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            return Some(Some(plain));
        }
        let content = match aspect(path)? {
            FileAspect::Path => PartsHash::default(),
            FileAspect::Size => hash_of(&FileStamp::from_path(path)?.size.to_le_bytes()),
            FileAspect::SizeAndTime => hash_of(size_and_time(path)?.as_bytes()),
            FileAspect::Content => {
                let content = Workspace::read_bytes_outside(path, MAX_CONTENT_BYTES);
                return content_digest((path, relative), content, |_, _| true).map(Some);
            }
        };
        Some(Some(EntryDigest { content, ..plain }))
    };
    digest_below(folder, true, is_left_out, digest_of, until)
}

/// Size and time of change of the file at `path`.
fn size_and_time(path: &Path) -> Option<String> {
    let stamp = FileStamp::from_path(path)?;
    Some(format!("{} {}", stamp.size, stamp.mtime_ns))
}

/// Hashes the paths of the entries below `root` and the results of `digest_of`: `None` ends the
/// walk, `Some(None)` skips an entry. Folders for which `is_left_out` holds are skipped.
fn digest_below(
    root: &Path,
    follow_links: bool,
    is_left_out: impl Fn(&Path) -> bool + Send + Sync + 'static,
    digest_of: impl Fn(&DirEntry, &Path) -> Option<Option<EntryDigest>> + Sync,
    until: Instant,
) -> Result<TreeDigest, DigestError> {
    let found: Mutex<Vec<(PathBuf, EntryDigest)>> = Mutex::default();
    let (fault, seen) = (Mutex::new(None), AtomicUsize::new(0));
    let mut walk = WalkBuilder::new(root);
    walk.standard_filters(false).follow_links(follow_links).threads(walk_threads());
    walk.filter_entry(move |entry| {
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        entry.depth() == 0 || is_file || !is_left_out(entry.path())
    });
    walk.build_parallel().run(|| {
        Box::new(|entry| {
            let quit = |why| {
                fault.lock().get_or_insert(why);
                WalkState::Quit
            };
            if seen.fetch_add(1, Ordering::Relaxed) > MAX_ENTRIES {
                return quit(DigestError::TooLarge);
            }
            if Instant::now() > until {
                return quit(DigestError::Late);
            }
            // A dangling link has no content; any other error ends the walk.
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) if follow_links && is_missing(&error) => return WalkState::Continue,
                Err(error) => return quit(DigestError::Walk(error.to_string())),
            };
            let refuse = || quit(DigestError::Entry(entry.path().to_owned()));
            let Ok(relative) = entry.path().strip_prefix(root) else { return refuse() };
            match digest_of(&entry, relative) {
                Some(Some(digest)) => {
                    found.lock().push((relative.to_owned(), digest));
                    WalkState::Continue
                }
                Some(None) => WalkState::Continue,
                None => refuse(),
            }
        })
    });
    if let Some(why) = fault.into_inner() {
        return Err(why);
    }
    let mut found = found.into_inner();
    found.sort();
    let (mut contents, mut states) = (PartsHasher::default(), PartsHasher::default());
    for (path, digest) in found {
        contents.add(path.as_os_str().as_bytes());
        contents.add(&digest.content);
        states.add(&digest.state);
    }
    Ok(TreeDigest { content: contents.finish(), states: states.finish() })
}

/// Returns true for the error of a link to nowhere.
fn is_missing(error: &ignore::Error) -> bool {
    error.io_error().is_some_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

#[cfg(all(test, unix))]
mod tests {
    use crate::platform::files::{PermissionsExt, symlink};
    use std::collections::BTreeMap;
    use std::fs;
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

    #[test]
    fn folder_and_file_of_one_name_have_different_digests() {
        let folder = tempfile::tempdir().unwrap();
        let root = canonicalize(folder.path()).unwrap();
        let (workspace, built) = (Workspace::open(&root).unwrap(), root.join("node_modules/one"));
        let digest = || {
            let until = Instant::now() + Duration::from_secs(60);
            workspace.tree_digest(&[], |_, _| false, |_, _| true, until).unwrap().content
        };
        fs::create_dir_all(&built).unwrap();
        let first = digest();
        fs::remove_dir(&built).unwrap();
        fs::write(&built, "").unwrap();
        assert_ne!(digest(), first);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]
        /// 40 trees with up to 60 changes each.
        #[test]
        fn digest_changes_exactly_when_what_is_read_changes(changes in prop::collection::vec(change(), 1..60)) {
            let folder = tempfile::tempdir().unwrap();
            let root = canonicalize(folder.path()).unwrap();
            [".git", "in/deep"].iter().for_each(|name| fs::create_dir_all(root.join(name)).unwrap());
            let workspace = Workspace::open(&root).unwrap();
            let mut known: BTreeMap<PartsHash, BTreeMap<PathBuf, String>> = BTreeMap::new();
            for change in &changes {
                apply(&root, change);
                let counts = |path: &Path, _: bool| path.extension().is_some_and(|extension| extension == "py");
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

    /// Writes a file below `root`, and its folders.
    fn write(root: &Path, name: &str, text: &str) {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn digest(root: &Path, environments: &[PathBuf]) -> Result<TreeDigest, DigestError> {
        let counts = |path: &Path, is_built: bool| {
            !is_built || path.extension().is_some_and(|extension| extension == "py")
        };
        let until = Instant::now() + Duration::from_secs(60);
        Workspace::open(root).unwrap().tree_digest(environments, counts, |_, _| true, until)
    }

    #[test]
    fn tree_with_a_link_to_a_folder_or_outside_has_no_digest() {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = canonicalize(folder.path()).unwrap();
        write(&root, "deep/er/made.py", "x");
        write(other.path(), "made.py", "x");
        symlink("deep/er/made.py", root.join("made.py")).unwrap();
        assert!(digest(&root, &[]).is_ok(), "a link to a file");
        let link = root.join("link");
        for target in [other.path().join("made.py"), other.path().to_owned(), root.join("deep/er")] {
            symlink(&target, &link).unwrap();
            assert_eq!(digest(&root, &[]), Err(DigestError::Entry(link.clone())), "{target:?}");
            fs::remove_file(&link).unwrap();
        }
        // Installed packages may consist of links.
        fs::create_dir(root.join("node_modules")).unwrap();
        let (link, turn) = (root.join("node_modules/pack"), other.path().join("turn"));
        symlink(root.join("deep"), &turn).unwrap();
        symlink(&turn, &link).unwrap();
        let first = digest(&root, &[]).expect("it leads back").content;
        fs::remove_file(&turn).unwrap();
        symlink(root.join("deep/er"), &turn).unwrap();
        assert_ne!(digest(&root, &[]).expect("it leads back").content, first);
    }

    #[test]
    fn sources_count_in_environments_and_built_folders_that_are_not_set_apart() {
        let folder = tempfile::tempdir().unwrap();
        let root = canonicalize(folder.path()).unwrap();
        write(&root, "Cargo.toml", "");
        let environments = ["services/api", ".venv"].map(|name| root.join(name));
        environments.iter().for_each(|folder| write(folder, "pyvenv.cfg", "home = /usr/bin\n"));
        write(&root, ".gen/CACHEDIR.TAG", "");
        let content = || digest(&root, &environments).expect("a digest").content;
        for (name, counts) in [
            ("services/api/app.py", true),
            ("node_modules/gen.py", true),
            ("target/gen.py", true),
            ("env/more.py", true),
            (".venv/lib/pack.py", false),
            ("__pycache__/a.py", true),
            (".gen/made.py", true),
        ] {
            write(&root, name, "x = 1");
            let first = content();
            write(&root, name, "x = 2");
            assert_eq!(content() != first, counts, "{name}");
        }
        let first = content();
        write(&root, "in/__pycache__/a.cpython-311.pyc", "1");
        write(&root, ".gen/deep/made.o", "1");
        fs::remove_dir_all(root.join("in/__pycache__")).unwrap();
        write(&root, "in/a.rs", "");
        let with_folder = content();
        write(&root, "in/__pycache__/a.cpython-311.pyc", "1");
        assert!(with_folder != first && content() == with_folder, "of caches modules alone count");
        let first = content();
        write(&root, "target/debug/made.o", "1");
        let with_object = content();
        write(&root, "target/debug/made.o", "2");
        assert!(with_object != first && content() == with_object, "of others the paths count");
        let is_built = |name: &str| Workspace::open(&root).unwrap().is_built(Path::new(name));
        assert!(is_built("target/gen.py") && is_built(".venv/lib/pack.py") && !is_built("services/a.py"));
    }

    #[test]
    fn changes_that_were_taken_back_change_the_states() {
        let folder = tempfile::tempdir().unwrap();
        let root = canonicalize(folder.path()).unwrap();
        write(&root, "pack/lib.py", "x = 1");
        symlink("pack/lib.py", root.join("link.py")).unwrap();
        let aspect = |_: &Path| Some(FileAspect::Content);
        let until = || Instant::now() + Duration::from_secs(60);
        let digests =
            || [digest(&root, &[]), folder_digest(&root, |_| false, aspect, until())].map(Result::unwrap);
        let (file, link, more) = (root.join("pack/lib.py"), root.join("link.py"), root.join("pack/more.py"));
        let changes: [(&str, &dyn Fn()); 3] = [
            ("a file that is written", &|| {
                let before = fs::metadata(&file).unwrap().modified().unwrap();
                fs::write(&file, "x = 2").unwrap();
                fs::write(&file, "x = 1").unwrap();
                fs::File::options().append(true).open(&file).unwrap().set_modified(before).unwrap();
            }),
            ("a new file", &|| {
                fs::write(&more, "").unwrap();
                fs::remove_file(&more).unwrap();
            }),
            ("a link", &|| {
                fs::remove_file(&link).unwrap();
                symlink("pack/lib.py", &link).unwrap();
            }),
        ];
        for (what, change) in changes {
            let first = digests();
            // A file system's clock has ticks.
            std::thread::sleep(Duration::from_millis(25));
            change();
            for (first, then) in first.iter().zip(digests()) {
                assert!(first.content == then.content && first.states != then.states, "{what}");
            }
        }
    }
}
