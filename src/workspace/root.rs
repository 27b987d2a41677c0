//! The workspace: its root directory, and conversions of paths beneath it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use super::path::{MAX_PATH_BYTES, check_given, escape_unprintable, normalise, truncate_printable};
use super::path_filter::HiddenPathFilter;
use super::{PathError, WorkspacePath};
use crate::platform::canonicalize;
use crate::platform::files::{Errno, lstat};
use crate::platform::inode::InodeIdentity;
use crate::platform::jail::Jail;
use crate::platform::paths::{fold_spelling, is_on_another_machine, join, long_names};

/// The maximum number of messages that are logged once each.
const MAX_LOG_ONCE_MESSAGES: usize = 100;

/// The names that mark a directory as the root of a project.
const ROOT_MARKERS: [&str; 2] = [".git", ".lsp-tools"];

/// A directory as the scope of all file access. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Workspace {
    inner: Arc<WorkspaceInner>,
    /// The filter of hidden paths.
    pub(super) path_filter: Option<HiddenPathFilter>,
    /// Texts that this handle reads in the place of files.
    pub(super) unsaved: Arc<BTreeMap<WorkspacePath, Arc<str>>>,
}

#[derive(Debug)]
struct WorkspaceInner {
    root: PathBuf,
    /// The root as it was given (absolute), if that is not the canonical spelling.
    spelled: Option<PathBuf>,
    jail: Jail,
    in_git: bool,
    /// The messages that were logged already, each of which is logged once.
    logged_once: Mutex<BTreeSet<String>>,
}

/// The reasons why a directory cannot be a workspace.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// The path does not exist.
    #[error("there is no directory `{given}`; give an existing one as the workspace")]
    NotFound {
        /// The given path, made printable.
        given: String,
    },
    /// The path is not a directory.
    #[error("`{given}` is not a directory; give the directory it lies in as the workspace")]
    NotADirectory {
        /// The given path, made printable.
        given: String,
    },
    /// The system refused.
    #[error("`{given}` cannot be opened as the workspace: {source}")]
    Io {
        /// The given path, made printable.
        given: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
}

impl Workspace {
    /// Returns the same workspace with `texts` in place of the content on disk.
    /// [`read_text`](Self::read_text) and [`search`](Self::search) use them for files that exist.
    /// All other operations use the disk.
    pub(crate) fn with_unsaved_texts(&self, texts: BTreeMap<WorkspacePath, Arc<str>>) -> Self {
        let mut overlaid = self.clone();
        overlaid.unsaved = Arc::new(texts);
        overlaid
    }

    /// Opens the workspace whose root is `dir` (absolute, or relative to the current directory).
    ///
    /// # Errors
    /// [`WorkspaceError`] if `dir` is missing, not a directory, or may not be opened.
    pub fn open(dir: &Path) -> Result<Self, WorkspaceError> {
        let failed = |source| WorkspaceError::from_io(dir, source);
        let spelled = std::path::absolute(dir).map_err(failed)?;
        let root = canonicalize(dir).map_err(failed)?;
        let spelled = normalise(&spelled).filter(|spelled| *spelled != root);
        Self::from_root(root, spelled).map_err(failed)
    }

    /// Finds the workspace that `start` (a directory or a file) belongs to: the nearest directory,
    /// itself or above, that contains `.git` (a directory, or the file of a worktree or submodule)
    /// or `.lsp-tools`; `start` itself without one.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open).
    pub(crate) fn discover(start: &Path) -> Result<Self, WorkspaceError> {
        let failed = |source| WorkspaceError::from_io(start, source);
        let absolute = std::path::absolute(start).map_err(failed)?;
        let mut from = canonicalize(start).map_err(failed)?;
        if from.is_file() {
            from.pop();
        }
        let marked = |dir: &&Path| ROOT_MARKERS.iter().any(|marker| dir.join(marker).exists());
        let root = from.ancestors().find(marked).unwrap_or(&from).to_owned();
        let spelled = normalise(&absolute)
            .and_then(|absolute| spelling_of(&root, &absolute).map(Path::to_owned))
            .filter(|spelled| *spelled != root);
        Self::from_root(root, spelled).map_err(failed)
    }

    fn from_root(root: PathBuf, spelled: Option<PathBuf>) -> Result<Self, std::io::Error> {
        let in_git = root.ancestors().any(|dir| dir.join(".git").exists());
        let jail = Jail::new(root.clone())?;
        Ok(Self {
            inner: Arc::new(WorkspaceInner { root, spelled, jail, in_git, logged_once: Mutex::default() }),
            path_filter: None,
            unsaved: Arc::default(),
        })
    }

    /// The root, canonical.
    pub fn root(&self) -> &Path {
        &self.inner.root
    }

    /// Makes absolute paths of the workspace in `text`, the output of another program, relative, as
    /// in answers. Paths in URIs stay.
    pub(crate) fn with_relative_paths(&self, text: &str) -> String {
        let root = format!("{}{MAIN_SEPARATOR}", self.inner.root.display());
        let (folded, root) = (fold_spelling(text), fold_spelling(&root));
        let (mut out, mut done) = (String::with_capacity(text.len()), 0);
        for (at, _) in folded.match_indices(root.as_ref()) {
            let before = folded[..at].chars().next_back();
            if before.is_none_or(|before| !before.is_alphanumeric() && !"/_-.".contains(before)) {
                out.push_str(&text[done..at]);
                done = at + root.len();
            }
        }
        out + &text[done..]
    }

    pub(super) fn jail(&self) -> &Jail {
        &self.inner.jail
    }

    /// Calls `tell`, unless it was called for `what` before.
    pub(super) fn log_once(&self, what: &str, tell: impl FnOnce()) {
        let mut logged = self.inner.logged_once.lock();
        if logged.len() < MAX_LOG_ONCE_MESSAGES && logged.insert(what.to_owned()) {
            tell();
        }
    }

    /// Returns true if the root lies in a git repository, at its top or below.
    pub(super) fn in_git(&self) -> bool {
        self.inner.in_git
    }

    /// Converts `given` to a path of the workspace: relative to the root, or absolute, also through
    /// another spelling of the root (a symlink to it or to a directory above it). Lexical beneath
    /// the root; no file has to exist.
    ///
    /// # Errors
    /// [`PathError`] if it lies outside, contains a NUL character, or is longer or deeper than
    /// paths can be.
    pub fn path(&self, given: &Path) -> Result<WorkspacePath, PathError> {
        let path = if given.is_relative() {
            WorkspacePath::from_relative(given)?
        } else {
            check_given(given)?;
            let inside = normalise(given).and_then(|absolute| self.relative_of(&absolute));
            WorkspacePath::new_checked(
                inside.ok_or_else(|| PathError::Outside { given: truncate_printable(given) })?,
                given,
            )?
        };
        let path = long_names(&self.inner.root, path.as_path()).map_or(path, WorkspacePath::new);
        let bytes = self.inner.root.as_os_str().len() + 1 + path.as_path().as_os_str().len();
        if bytes > MAX_PATH_BYTES {
            return Err(PathError::TooLong { given: truncate_printable(given), bytes });
        }
        Ok(path)
    }

    /// Converts `given`, relative to the directory `base`, such as a shell's current one. `base` is
    /// absolute and may lie outside, as long as the result lies inside.
    ///
    /// # Errors
    /// The errors of [`path`](Self::path); the error names `given`, not `base`.
    pub(crate) fn path_from(&self, base: &Path, given: &Path) -> Result<WorkspacePath, PathError> {
        check_given(given)?;
        self.path(&base.join(given)).map_err(|error| {
            let given = truncate_printable(given);
            match error {
                PathError::Outside { .. } => PathError::Outside { given },
                PathError::Nul { .. } => PathError::Nul { given },
                PathError::Reserved { .. } => PathError::Reserved { given },
                PathError::Uri { .. } => PathError::Uri { given },
                PathError::TooLong { bytes, .. } => PathError::TooLong { given, bytes },
                PathError::LongName { bytes, .. } => PathError::LongName { given, bytes },
                PathError::TooDeep { levels, .. } => PathError::TooDeep { given, levels },
            }
        })
    }

    /// Returns the absolute path of `path`, below the canonical root; it need not exist.
    pub fn absolute(&self, path: &WorkspacePath) -> PathBuf {
        if path.is_root() { self.inner.root.clone() } else { join(&self.inner.root, path.as_path()) }
    }

    /// Returns the path in the workspace for a language server's path `absolute`; `None` if it lies
    /// outside.
    pub fn workspace_path(&self, absolute: &Path) -> Option<WorkspacePath> {
        if absolute.is_relative() {
            return None;
        }
        self.path(absolute).ok()
    }

    /// Returns true if there is an object of any kind at `path`. An object behind a link that leads
    /// out does not count.
    pub(crate) fn exists(&self, path: &WorkspacePath) -> bool {
        self.inner.jail.locate(path.as_path()).is_ok()
    }

    /// Returns true if the name `path` is free in the folder that is now at the root's path. This
    /// is a single system call, for names that are mostly free; [`exists`](Self::exists) checks the
    /// others.
    pub(crate) fn is_vacant(&self, path: &WorkspacePath) -> bool {
        matches!(lstat(self.absolute(path)), Err(Errno::NOENT | Errno::NOTDIR))
    }

    /// `absolute`, normalised, as a path relative to the root.
    fn relative_of(&self, absolute: &Path) -> Option<PathBuf> {
        let spellings = [Some(&self.inner.root), self.inner.spelled.as_ref()];
        if let Some(inside) =
            spellings.into_iter().flatten().find_map(|root| absolute.strip_prefix(root).ok())
        {
            return Some(inside.to_owned());
        }
        if is_on_another_machine(absolute, &self.inner.root) {
            return None;
        }
        if let Some(root) = spelling_of(&self.inner.root, absolute) {
            return absolute.strip_prefix(root).ok().map(Path::to_owned);
        }
        // A link from elsewhere into the middle of the workspace.
        let existing = absolute.ancestors().find(|dir| dir.exists())?;
        let canonical = canonicalize(existing).ok()?;
        let inside = canonical.strip_prefix(&self.inner.root).ok()?;
        Some(inside.join(absolute.strip_prefix(existing).ok()?))
    }
}

/// The ancestor of `absolute`, or itself, that is another spelling of `root`.
fn spelling_of<'a>(root: &Path, absolute: &'a Path) -> Option<&'a Path> {
    let of_root = InodeIdentity::at(root)?;
    // The same folder may be mounted elsewhere as well, which is no other spelling. Resolving every
    // ancestor takes quadratic time.
    let is_root = |dir: &Path| canonicalize(dir).is_ok_and(|canonical| canonical == root);
    absolute.ancestors().find(|dir| InodeIdentity::at(dir) == Some(of_root) && is_root(dir))
}

impl WorkspaceError {
    fn from_io(given: &Path, source: std::io::Error) -> Self {
        let given = escape_unprintable(given.as_os_str());
        match source.kind() {
            std::io::ErrorKind::NotFound => Self::NotFound { given },
            std::io::ErrorKind::NotADirectory => Self::NotADirectory { given },
            _ => Self::Io { given, source },
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::platform::files::symlink;
    use std::fs;

    use super::*;

    fn shown(path: Result<WorkspacePath, PathError>) -> Option<String> {
        path.ok().map(|path| path.display())
    }

    #[test]
    fn paths_of_the_workspace_in_a_text_become_relative() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(dir.path()).unwrap();
        let root = workspace.root().display();
        for (text, expected) in [
            (format!("{root}/src/a.ts"), "src/a.ts".to_owned()),
            (format!("module \"{root}/src/a\" and ({root}/b)"), "module \"src/a\" and (b)".to_owned()),
            (format!("file://{root}/src/a.ts"), format!("file://{root}/src/a.ts")),
            (format!("/home{root}/a{root}/b"), format!("/home{root}/a{root}/b")),
            (format!("{root}er/a"), format!("{root}er/a")),
        ] {
            assert_eq!(workspace.with_relative_paths(&text), expected);
        }
        let other_spelling = format!("{root}/src/a.ts").replace('\\', "/").to_lowercase();
        if cfg!(windows) {
            assert_eq!(workspace.with_relative_paths(&other_spelling), "src/a.ts");
        }
    }

    #[test]
    fn discover_finds_the_nearest_marked_root_directory() {
        let dir = tempfile::tempdir().unwrap();
        let base = canonicalize(dir.path()).unwrap();
        fs::create_dir_all(base.join("w/.git")).unwrap();
        fs::create_dir_all(base.join("w/sub/.lsp-tools")).unwrap();
        fs::create_dir_all(base.join("w/tree/deep")).unwrap();
        fs::write(base.join("w/tree/.git"), "gitdir: elsewhere").unwrap();
        fs::write(base.join("w/tree/deep/a.rs"), "").unwrap();
        let root = |start: &str| Workspace::discover(&base.join(start)).unwrap().root().to_owned();
        assert_eq!(root("w"), base.join("w"));
        assert_eq!(root("w/sub"), base.join("w/sub"));
        assert_eq!(root("w/tree/deep/a.rs"), base.join("w/tree"));
        assert!(matches!(Workspace::discover(&base.join("no")), Err(WorkspaceError::NotFound { .. })));
        let file = Workspace::open(&base.join("w/tree/.git"));
        assert!(matches!(file, Err(WorkspaceError::NotADirectory { .. })), "{file:?}");
    }

    #[test]
    #[cfg_attr(windows, ignore = "Wine makes no links")]
    fn absolute_path_under_root_alias_is_accepted_and_sibling_refused() {
        let dir = tempfile::tempdir().unwrap();
        let base = canonicalize(dir.path()).unwrap();
        fs::create_dir_all(base.join("w/src")).unwrap();
        fs::create_dir_all(base.join("w-evil")).unwrap();
        symlink(base.join("w"), base.join("alias")).unwrap();
        symlink(base.join("w/src"), base.join("into")).unwrap();
        for opened in ["w", "alias"] {
            let workspace = Workspace::open(&base.join(opened)).unwrap();
            assert_eq!(workspace.root(), base.join("w"));
            for (given, expected) in [
                ("w/src/a.rs", Some("src/a.rs")),
                ("alias/src/new/a.rs", Some("src/new/a.rs")),
                ("into/a.rs", Some("src/a.rs")),
                ("w/../w/x", Some("x")),
                ("w", Some(".")),
                ("w-evil/a", None),
                ("w-evil", None),
                ("w/../w-evil/a", None),
                ("", None),
            ] {
                let absolute = base.join(given);
                assert_eq!(shown(workspace.path(&absolute)).as_deref(), expected, "{opened}: {given}");
                assert_eq!(
                    workspace.workspace_path(&absolute).map(|path| path.display()).as_deref(),
                    expected
                );
            }
            assert_eq!(workspace.workspace_path(Path::new("src/a.rs")), None);
        }
    }

    #[test]
    fn path_from_shell_is_relative_to_cwd_and_inside_workspace() {
        let dir = tempfile::tempdir().unwrap();
        let base = canonicalize(dir.path()).unwrap();
        fs::create_dir_all(base.join("w/src")).unwrap();
        let workspace = Workspace::open(&base.join("w")).unwrap();
        let from = |cwd: &str, given: &str| shown(workspace.path_from(&base.join(cwd), Path::new(given)));
        assert_eq!(from("w/src", "a.rs").as_deref(), Some("src/a.rs"));
        assert_eq!(from("w/src", "../a.rs").as_deref(), Some("a.rs"));
        assert_eq!(from("elsewhere", "../w/a.rs").as_deref(), Some("a.rs"));
        assert_eq!(from("elsewhere", "a.rs"), None);
        let error = workspace.path_from(&base.join("elsewhere"), Path::new("a.rs")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`a.rs` lies outside the workspace; give a path below the workspace's root"
        );
    }
}
