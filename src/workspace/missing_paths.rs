//! Missing paths, watched through the folders that must change before one of them can exist.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::FileStamp;

/// Paths that were missing, inside or outside of a workspace. The check that they still are takes
/// one system call for each folder, not one for each path.
#[derive(Debug)]
pub(crate) struct MissingPaths {
    /// The nearest folder above some of the paths, with these paths.
    below: BTreeMap<PathBuf, MissingBelow>,
    /// Paths whose absence no folder's stamp confirms: the folder changed a moment ago, or a
    /// dangling link is in the path.
    alone: Vec<PathBuf>,
}

#[derive(Debug)]
struct MissingBelow {
    /// The stamp of the folder before the paths were checked.
    seen: FileStamp,
    paths: Vec<PathBuf>,
}

impl MissingPaths {
    /// Takes paths at which nothing was found; they are checked again by the first
    /// [`are_missing`](Self::are_missing).
    pub(crate) fn new(paths: Vec<PathBuf>) -> Self {
        Self { below: BTreeMap::new(), alone: paths }
    }

    /// Returns true if none of the paths exists now.
    pub(crate) fn are_missing(&mut self) -> bool {
        let now = SystemTime::now();
        let mut again = std::mem::take(&mut self.alone);
        self.below.retain(|folder, missing| {
            let is_same = FileStamp::from_path(folder) == Some(missing.seen);
            if !is_same {
                again.append(&mut missing.paths);
            }
            is_same
        });
        let are_missing = again.iter().all(|path| is_missing(path));
        for path in again {
            self.add(path, now);
        }
        are_missing
    }

    /// Assigns `path` to the folder above it, if its stamp shows a new entry.
    fn add(&mut self, path: PathBuf, now: SystemTime) {
        let folder = existing_above(&path).map(Path::to_owned);
        let stamp = folder.as_deref().and_then(FileStamp::from_path).filter(|stamp| stamp.is_settled(now));
        match (folder, stamp) {
            // Checked once more after the stamp: an earlier creation does not change the stamp.
            (Some(folder), Some(seen)) if existing_above(&path) == Some(&folder) => {
                let missing = self.below.entry(folder).or_insert(MissingBelow { seen, paths: Vec::new() });
                missing.paths.push(path);
            }
            _ => self.alone.push(path),
        }
    }
}

fn is_missing(path: &Path) -> bool {
    FileStamp::from_path(path).is_none()
}

/// Returns the nearest existing folder above `path`; `None` if `path` exists, or a link in it is
/// dangling.
fn existing_above(path: &Path) -> Option<&Path> {
    let is_entry = |path: &&Path| path.symlink_metadata().is_ok();
    let nearest = path.ancestors().find(is_entry)?;
    (nearest != path && !is_missing(nearest)).then_some(nearest)
}

#[cfg(test)]
mod tests {
    use crate::platform::files::symlink;
    use std::fs;
    use std::thread;
    use std::time::Duration;

    use super::*;

    /// Waits longer than the time for which the stamp of a folder that just changed proves nothing.
    fn settle() {
        thread::sleep(Duration::from_millis(60));
    }

    #[test]
    fn missing_path_is_seen_when_it_comes() {
        let temp = tempfile::tempdir().unwrap();
        let at = |name: &str| temp.path().join(name);
        for (wanted, steps) in [
            ("a.json", vec!["a.json"]),
            ("build/out/a.json", vec!["build/", "build/out/", "build/out/a.json"]),
        ] {
            settle();
            let mut missing = MissingPaths::new(vec![at(wanted), at("never")]);
            assert!(missing.are_missing());
            fs::write(at(&format!("beside-{}", steps.len())), "").unwrap();
            for step in steps {
                assert!(missing.are_missing(), "before {step}");
                settle();
                assert!(missing.are_missing(), "before {step}");
                match step.strip_suffix('/') {
                    Some(folder) => fs::create_dir(at(folder)).unwrap(),
                    None => fs::write(at(step), "").unwrap(),
                }
            }
            assert!(!missing.are_missing(), "{wanted}");
            assert!(!missing.are_missing(), "{wanted}, asked twice");
        }
    }

    #[test]
    #[cfg_attr(windows, ignore = "Wine makes no links")]
    fn missing_path_behind_link_is_seen_when_it_comes() {
        let temp = tempfile::tempdir().unwrap();
        let at = |name: &str| temp.path().join(name);
        fs::create_dir_all(at("project")).unwrap();
        symlink(at("elsewhere"), at("project/link")).unwrap();
        settle();
        let mut missing = MissingPaths::new(vec![at("project/link"), at("project/link/a.json")]);
        assert!(missing.are_missing() && missing.are_missing());
        fs::create_dir(at("elsewhere")).unwrap();
        assert!(!missing.are_missing());
        let mut missing = MissingPaths::new(vec![at("project/link/a.json")]);
        settle();
        assert!(missing.are_missing() && missing.are_missing());
        fs::write(at("elsewhere/a.json"), "").unwrap();
        assert!(!missing.are_missing());
    }
}
