//! The filter that hides files of the workspace from a caller.
//!
//! Rules are about paths, and a path has many names. So each access is checked twice: by the given
//! path, before anything is opened, and by the kernel's name of the opened object. A file with
//! several names (hard links) is hidden under each if it is under one of them.

use std::collections::HashSet;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::walk::rules::{FileFilter, WalkVisibility, walker_seeing};
use super::{ReadError, Workspace, WorkspacePath};
use crate::platform::files::{AsFd, FileType, fstat, lstat};
use crate::platform::inode::InodeIdentity;
use crate::platform::opened_path;

/// The time limit for finding the other names of files.
const HARD_LINK_SEARCH_TIMEOUT: Duration = Duration::from_secs(5);

/// A predicate that is true for hidden paths of the workspace.
pub(crate) type HiddenPathPredicate = dyn Fn(&WorkspacePath) -> bool + Send + Sync;

/// Files by device and inode.
type Inodes = HashSet<InodeIdentity>;

/// Hides files from a caller that may not see them.
#[derive(Clone)]
pub(super) struct HiddenPathFilter {
    predicate: Arc<HiddenPathPredicate>,
    /// Devices and inodes of the hidden files that have other names as well; searched for when the
    /// first file with several names is opened. `None` if not all could be inspected.
    linked: Arc<OnceLock<Option<Inodes>>>,
}

impl fmt::Debug for HiddenPathFilter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("HiddenPathFilter")
    }
}

impl Workspace {
    /// Returns the same workspace without the files that `hides` selects: they cannot be read
    /// through it, and walks, lists and searches skip them.
    pub(crate) fn with_path_filter(&self, hides: Arc<HiddenPathPredicate>) -> Self {
        let mut veiled = self.clone();
        veiled.path_filter = Some(HiddenPathFilter { predicate: hides, linked: Arc::default() });
        veiled
    }

    /// Returns true if `path` is hidden: by its given name, by its target, or because the file is
    /// hidden under another of its names.
    pub(crate) fn is_path_hidden(&self, path: &WorkspacePath) -> bool {
        let Some(path_filter) = &self.path_filter else { return false };
        if path_filter.matches(path) {
            return true;
        }
        match self.jail().locate(path.as_path()) {
            Ok(there) => self.check_opened(path.as_path(), there).is_err(),
            Err(_) => self.resolve_links(path).is_some_and(|real| path_filter.matches(&real)),
        }
    }

    /// Returns true if the entry that a walk found at `absolute`, which has no links in it, is
    /// hidden; `path` is its name in the walk.
    pub(super) fn hides_entry(&self, path: &Path, absolute: &Path) -> bool {
        self.path_filter.as_ref().is_some_and(|path_filter| {
            let hides = |path: &Path| path_filter.matches(&WorkspacePath::new(path.to_owned()));
            hides(path) || absolute.strip_prefix(self.root()).is_ok_and(hides)
        })
    }

    /// Refuses a hidden path before it is opened.
    pub(super) fn check_name(&self, path: &Path) -> Result<(), ReadError> {
        let Some(path_filter) = &self.path_filter else { return Ok(()) };
        let path = WorkspacePath::new(path.to_owned());
        if path_filter.matches(&path) { Err(hidden_error(&path)) } else { Ok(()) }
    }

    /// Refuses a hidden object that was opened at `path`.
    pub(super) fn check_opened(&self, path: &Path, opened: impl AsFd) -> Result<(), ReadError> {
        let Some(path_filter) = &self.path_filter else { return Ok(()) };
        let path = || WorkspacePath::new(path.to_owned());
        // An object without a name cannot be shown to be harmless.
        let real = opened_path::path_of(&opened).map_err(|_| hidden_error(&path()))?;
        if real
            .strip_prefix(self.root())
            .is_ok_and(|real| path_filter.matches(&WorkspacePath::new(real.to_owned())))
        {
            return Err(hidden_error(&path()));
        }
        let Ok(stat) = fstat(&opened) else { return Err(hidden_error(&path())) };
        let is_file = FileType::from_raw_mode(stat.st_mode).is_file();
        // The name of a deleted file is unknown: it may have been hidden.
        if stat.st_nlink == 0 {
            return Err(hidden_error(&path()));
        }
        if !is_file || stat.st_nlink < 2 {
            return Ok(());
        }
        match path_filter.linked.get_or_init(|| self.hidden_links(path_filter)) {
            Some(linked) if !linked.contains(&InodeIdentity::from_stat(&stat)) => Ok(()),
            _ => Err(hidden_error(&path())),
        }
    }

    fn hidden_links(&self, path_filter: &HiddenPathFilter) -> Option<Inodes> {
        let end = Instant::now() + HARD_LINK_SEARCH_TIMEOUT;
        let mut linked = HashSet::new();
        let sight = WalkVisibility { hidden: true, ignored: true };
        let (walk, gaps) = walker_seeing(self, self.root(), sight, FileFilter::default());
        for entry in walk.build().flatten() {
            if Instant::now() > end {
                return None;
            }
            let Ok(relative) = entry.path().strip_prefix(self.root()) else { continue };
            if !path_filter.matches(&WorkspacePath::new(relative.to_owned())) {
                continue;
            }
            // A file that no longer exists has no content to reveal.
            let Ok(stat) = lstat(entry.path()) else { continue };
            if FileType::from_raw_mode(stat.st_mode).is_file() && stat.st_nlink > 1 {
                linked.insert(InodeIdentity::from_stat(&stat));
            }
        }
        (!gaps.is_cut()).then_some(linked)
    }
}

impl HiddenPathFilter {
    fn matches(&self, path: &WorkspacePath) -> bool {
        (self.predicate)(path)
    }
}

fn hidden_error(path: &WorkspacePath) -> ReadError {
    ReadError::Hidden { path: path.display() }
}

#[cfg(test)]
mod tests {
    use crate::platform::files::symlink;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::workspace::{GlobOrder, GlobQuery, ListQuery, SearchQuery, WalkLimits, WorkDeadline};

    fn names(paths: &[WorkspacePath]) -> Vec<String> {
        paths.iter().map(WorkspacePath::display).collect()
    }

    #[test]
    #[cfg_attr(windows, ignore = "Wine makes no links")]
    fn veiled_file_is_hidden_under_symlinks_and_hard_links() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path();
        std::fs::create_dir_all(root.join("secret")).unwrap();
        for file in ["key.txt", "secret/a.txt", "open.txt"] {
            std::fs::write(root.join(file), "word").unwrap();
        }
        symlink("key.txt", root.join("link.txt")).unwrap();
        symlink("secret", root.join("door")).unwrap();
        std::fs::hard_link(root.join("secret/a.txt"), root.join("twin.bin")).unwrap();
        std::fs::hard_link(root.join("open.txt"), root.join("copy.txt")).unwrap();
        let whole = Workspace::open(root).unwrap();
        let hides = |path: &WorkspacePath| {
            path.as_path() == Path::new("key.txt") || path.as_path().starts_with("secret")
        };
        let veiled = whole.with_path_filter(Arc::new(hides));
        for (name, seen) in [
            ("open.txt", true),
            ("key.txt", false),
            ("link.txt", false),
            ("secret/a.txt", false),
            ("door/a.txt", false),
            ("twin.bin", false),
            ("copy.txt", true),
        ] {
            let path = veiled.path(Path::new(name)).unwrap();
            assert!(whole.read_text(&path).is_ok(), "{name}");
            assert_eq!(veiled.read_text(&path).is_ok(), seen, "{name}");
            assert_eq!(veiled.read_head(&path, 9).is_ok(), seen, "{name}");
            assert_eq!(!veiled.is_path_hidden(&path), seen, "{name}");
        }
        let deadline = Instant::now() + Duration::from_secs(60);
        for (under, seen) in [(".", vec!["copy.txt", "open.txt"]), ("door", vec![]), ("secret", vec![])] {
            let under = veiled.path(Path::new(under)).unwrap();
            let walked = veiled.files(&under, &WalkLimits { max_files: 99, deadline });
            // The existence of a file with a certain name is not a secret.
            let walked: Vec<String> =
                names(&walked.files).into_iter().filter(|name| name != "twin.bin").collect();
            assert_eq!(walked, seen);
            let query = SearchQuery {
                pattern: "word".into(),
                literal: true,
                whole_word: false,
                case_insensitive: false,
                under: under.clone(),
                extensions: None,
                max_hits: 99,
                deadline,
            };
            let hits: Vec<_> = veiled.search(&query).unwrap().hits.into_iter().map(|hit| hit.path).collect();
            assert_eq!(names(&hits), seen);
            let query = GlobQuery {
                pattern: "**/*".into(),
                under: under.clone(),
                hidden: true,
                no_ignore: true,
                order: GlobOrder::Path,
                max: 99,
                deadline: WorkDeadline::new(deadline),
            };
            let found = veiled.glob(&query).unwrap();
            let found_names: Vec<String> =
                names(&found.paths).into_iter().filter(|name| name != "twin.bin").collect();
            assert_eq!(found_names, seen);
            assert!(found.hidden > 0);
            for recursive in [false, true] {
                let query = ListQuery {
                    under: under.clone(),
                    recursive,
                    max: 99,
                    deadline: WorkDeadline::new(deadline),
                };
                let listing = veiled.list(&query).unwrap();
                let listed: Vec<_> = listing.entries.into_iter().map(|entry| entry.path).collect();
                assert!(listing.hidden > 0);
                let listed = names(&listed);
                assert!(
                    !listed.iter().any(|name| name.ends_with("a.txt") || name == "key.txt"),
                    "{listed:?}"
                );
            }
        }
    }
}
