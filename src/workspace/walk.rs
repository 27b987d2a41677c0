//! The walk over the files of the workspace.

pub(crate) mod git_config;
pub(crate) mod ignore_files;
pub(crate) mod rules;
pub(crate) mod select;
pub(crate) mod walk_gaps;

use crate::platform::canonicalize;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use ignore::WalkState;
use parking_lot::Mutex;

use self::rules::walker;
use super::first_findings::FirstFindings;
use super::{ReadError, WorkDeadline, Workspace, WorkspacePath};

/// The limits of a walk.
#[derive(Debug, Clone, Copy)]
pub struct WalkLimits {
    /// The maximum number of files.
    pub max_files: usize,
    /// The time at which the walk ends in any case.
    pub deadline: Instant,
}

/// The files found by a walk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WalkResult {
    /// Regular files, sorted; neither links nor special files.
    pub files: Vec<WorkspacePath>,
    /// True if a limit, of count or depth, ended the walk before the tree did. If the count was
    /// reached, these are the first files in order, the same ones every time.
    pub(crate) truncated: bool,
}

impl Workspace {
    /// Returns the regular files at and below `under`, within `limits`, without ignored files,
    /// hidden files, `node_modules` and the like, unless `under` itself is such a directory. Links
    /// are not followed, apart from `under`. Empty if `under` is missing or leads out.
    pub fn files(&self, under: &WorkspacePath, limits: &WalkLimits) -> WalkResult {
        let Ok(start) = WalkStart::new(self, under) else { return WalkResult::default() };
        let until = WorkDeadline::new(limits.deadline);
        let timed_out = AtomicBool::new(false);
        // One more than asked for, to know whether there are more.
        let found = Mutex::new(FirstFindings::new(limits.max_files.saturating_add(1)));
        let locked = || found.lock();
        let (mut walk, gaps) = walker(self, &start.directory);
        walk.threads(walk_threads()).build_parallel().run(|| {
            Box::new(|entry| {
                if timed_out.load(Ordering::Relaxed) || until.is_over() {
                    timed_out.store(true, Ordering::Relaxed);
                    return WalkState::Quit;
                }
                // An entry that cannot be listed (permissions, or deleted since) has no files for
                // any caller.
                let Ok(entry) = entry else { return WalkState::Continue };
                if locked().is_beyond(entry.path()) {
                    return WalkState::Skip;
                }
                let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
                let path = is_file.then(|| start.path_of(entry.path())).flatten();
                let visible = path.filter(|path| !self.hides_entry(path.as_path(), entry.path()));
                if let Some(path) = visible {
                    locked().add(entry.path(), 1, path);
                }
                WalkState::Continue
            })
        });
        let found = found.into_inner();
        let mut files: Vec<WorkspacePath> = found.into_items().collect();
        let truncated = timed_out.into_inner() || files.len() > limits.max_files || gaps.is_cut();
        files.truncate(limits.max_files);
        WalkResult { files, truncated }
    }
}

/// The number of threads of a walk that reads files: more of them would wait for the disk and each
/// other. A parallel walk waits without end for threads that the system refused.
pub(super) fn walk_threads() -> usize {
    spare_threads(std::thread::available_parallelism().map_or(1, usize::from).min(12)).max(1)
}

/// Returns the number of threads, up to `wanted`, that the system can start now.
pub(crate) fn spare_threads(wanted: usize) -> usize {
    let gate = Mutex::new(());
    std::thread::scope(|scope| {
        let closed = gate.lock();
        let wait = || drop(gate.lock());
        let is_given = |_: &usize| std::thread::Builder::new().spawn_scoped(scope, wait).is_ok();
        let given = (0..wanted).take_while(is_given).count();
        drop(closed);
        given
    })
}

/// The start of a walk: the caller's name for it, and its real path.
pub(crate) struct WalkStart {
    under: WorkspacePath,
    /// Absolute, without links, inside the workspace; a directory or a file.
    pub(super) directory: PathBuf,
}

impl WalkStart {
    /// Resolves the start of a walk.
    ///
    /// # Errors
    /// [`ReadError`] if `under` is missing or leads out.
    pub(super) fn new(workspace: &Workspace, under: &WorkspacePath) -> Result<Self, ReadError> {
        workspace.check_inside(under)?;
        let absolute = workspace.absolute(under);
        let directory =
            canonicalize(&absolute).map_err(|source| ReadError::Io { path: under.display(), source })?;
        if !directory.starts_with(workspace.root()) {
            return Err(ReadError::Outside { path: under.display() });
        }
        Ok(Self { under: under.clone(), directory })
    }

    /// Like [`path_of`](Self::path_of), for many entries of which most are discarded.
    pub(super) fn relative<'e>(&self, entry: &'e Path) -> Option<Cow<'e, Path>> {
        let rest = entry.strip_prefix(&self.directory).ok()?;
        Some(match (self.under.is_root(), rest.as_os_str().is_empty()) {
            (true, _) => Cow::Borrowed(rest),
            (false, true) => Cow::Owned(self.under.as_path().to_owned()),
            (false, false) => Cow::Owned(self.under.as_path().join(rest)),
        })
    }

    /// Returns the path of `entry`, which the walk found, in the caller's spelling.
    pub(super) fn path_of(&self, entry: &Path) -> Option<WorkspacePath> {
        self.relative(entry).map(|path| WorkspacePath::new(path.into_owned()))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use crate::platform::OsStrExt;
    use crate::platform::files::{CWD, Mode, mkfifoat, symlink};
    use std::fs;
    use std::time::Duration;

    use super::*;

    fn workspace() -> (tempfile::TempDir, Workspace) {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("w")).unwrap();
        let workspace = Workspace::open(&dir.path().join("w")).unwrap();
        (dir, workspace)
    }

    fn put(workspace: &Workspace, path: &str, text: &str) {
        let file = workspace.root().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn limits(max_files: usize) -> WalkLimits {
        WalkLimits { max_files, deadline: Instant::now() + Duration::from_secs(60) }
    }

    fn names(walk: &WalkResult) -> Vec<String> {
        walk.files.iter().map(WorkspacePath::display).collect()
    }

    #[test]
    fn walk_lists_files_by_gitignore_rules() {
        let (_keep, workspace) = workspace();
        for path in [
            "a.rs",
            "src/b.rs",
            "src/deep/c.rs",
            "src/x.log",
            ".hidden/d.rs",
            "node_modules/p/i.js",
            "venv/keep.py",
            "target/out.rs",
            "crate/Cargo.toml",
            "crate/target/o.rs",
            "build/e.rs",
            "src/kept.log",
        ] {
            put(&workspace, path, "x");
        }
        put(&workspace, ".gitignore", "*.log\n/build/\n!kept.log\n");
        let all = workspace.files(&WorkspacePath::root(), &limits(1000));
        assert_eq!(
            names(&all),
            [
                "a.rs",
                "crate/Cargo.toml",
                "src/b.rs",
                "src/deep/c.rs",
                "src/kept.log",
                "target/out.rs",
                "venv/keep.py",
            ]
        );
        assert!(!all.truncated);
        let mut sorted = all.files.clone();
        sorted.sort();
        assert_eq!(sorted, all.files);
        let below =
            |path: &str| names(&workspace.files(&workspace.path(Path::new(path)).unwrap(), &limits(1000)));
        assert_eq!(below("src"), ["src/b.rs", "src/deep/c.rs", "src/kept.log"]);
        assert_eq!(below("a.rs"), ["a.rs"]);
        assert_eq!(below("build"), ["build/e.rs"], "asked for by name");
        assert_eq!(below("node_modules"), ["node_modules/p/i.js"]);
        assert!(below("nothing").is_empty());
    }

    #[test]
    fn ignore_files_above_root_count_only_inside_a_git_repository() {
        let (keep, workspace) = workspace();
        fs::write(keep.path().join(".gitignore"), "*\n").unwrap();
        put(&workspace, "a.rs", "");
        put(&workspace, "d/e/b.rs", "");
        put(&workspace, "d/e/c.log", "");
        put(&workspace, ".gitignore", "*.log\n");
        assert_eq!(names(&workspace.files(&WorkspacePath::root(), &limits(9))), ["a.rs", "d/e/b.rs"]);
        let below = workspace.path(Path::new("d/e")).unwrap();
        assert_eq!(names(&workspace.files(&below, &limits(9))), ["d/e/b.rs"]);
        // In a repository, whose top is above the root, they do count.
        fs::create_dir(keep.path().join(".git")).unwrap();
        fs::write(keep.path().join(".gitignore"), "b.rs\n").unwrap();
        let workspace = Workspace::open(workspace.root()).unwrap();
        assert_eq!(names(&workspace.files(&WorkspacePath::root(), &limits(9))), ["a.rs"]);
        assert!(names(&workspace.files(&below, &limits(9))).is_empty());
    }

    #[test]
    fn walk_follows_no_symlinks_outside_or_in_cycles() {
        let (keep, workspace) = workspace();
        fs::create_dir(keep.path().join("outside")).unwrap();
        fs::write(keep.path().join("outside/secret.rs"), "").unwrap();
        put(&workspace, "d/a.rs", "");
        let root = workspace.root();
        symlink("../outside", root.join("out")).unwrap();
        symlink("../outside/secret.rs", root.join("out.rs")).unwrap();
        symlink("..", root.join("d/up")).unwrap();
        symlink("d", root.join("in")).unwrap();
        mkfifoat(CWD, root.join("fifo"), Mode::RWXU).unwrap();
        fs::write(root.join(std::ffi::OsStr::from_bytes(b"n\xff\n.rs")), "").unwrap();
        let walk = workspace.files(&WorkspacePath::root(), &limits(1000));
        assert_eq!(names(&walk), ["d/a.rs", "n\\xff\\n.rs"]);
        let path = |path: &str| workspace.path(Path::new(path)).unwrap();
        assert_eq!(names(&workspace.files(&path("in"), &limits(9))), ["in/a.rs"]);
        assert!(workspace.files(&path("out"), &limits(9)).files.is_empty());
    }

    #[test]
    fn walk_over_limit_is_truncated_deterministically() {
        let (keep, workspace) = workspace();
        let one = keep.path().join("one");
        fs::write(&one, "").unwrap();
        for directory in 0..100 {
            fs::create_dir(workspace.root().join(format!("d{directory:02}"))).unwrap();
            for file in 0..100 {
                // Names of one file: quicker to make than files.
                fs::hard_link(&one, workspace.root().join(format!("d{directory:02}/f{file:02}"))).unwrap();
            }
        }
        let all = workspace.files(&WorkspacePath::root(), &limits(10_000));
        assert_eq!((all.files.len(), all.truncated), (10_000, false));
        let some = workspace.files(&WorkspacePath::root(), &limits(777));
        assert!(some.truncated);
        assert_eq!(some.files, all.files[..777]);
        let none =
            workspace.files(&WorkspacePath::root(), &WalkLimits { max_files: 9, deadline: Instant::now() });
        assert!(none.truncated && none.files.is_empty());
    }
}
