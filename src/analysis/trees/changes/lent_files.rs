//! Files of the project outside its commits that are made available to another tree: packages,
//! generated files, submodules.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::platform::canonicalize;
use crate::platform::files::symlink;

/// Folders of installed packages, which are linked. Other ignored files are copied, because they
/// may refer to files of the project and must then reach those of their own tree.
const PACKAGE_FOLDERS: [&str; 2] = ["node_modules", "vendor"];
/// The most entries of a folder of packages.
const MAX_LENT_PACKAGES: usize = 20_000;
/// The maximum number of copied files.
const MAX_COPIED_FILES: usize = 20_000;
/// The maximum number of copied bytes in total.
const MAX_COPIED_BYTES: u64 = 256 << 20;
/// The deepest copied folder.
const MAX_COPIED_DEPTH: usize = 32;
/// Markers of folders that are skipped: caches and builds (<https://bford.info/cachedir/>), and
/// Python environments, which servers receive in another way.
const PASSED_OVER: [&str; 2] = ["CACHEDIR.TAG", "pyvenv.cfg"];

/// Makes files in `top` that are in no commit available to the tree in `into`: the paths that git
/// ignores, and `submodules`. Returns notes on the missing ones.
pub(super) fn lend(top: &Path, into: &Path, ignored: &[PathBuf], submodules: &[PathBuf]) -> Vec<String> {
    let mut copied = CopyBudget { files: MAX_COPIED_FILES, bytes: MAX_COPIED_BYTES };
    let mut gaps = Vec::new();
    for path in ignored {
        let (from, to) = (top.join(path), into.join(path));
        if !may_make(into, &to) || to.symlink_metadata().is_ok() {
            continue;
        }
        let Ok(kind) = fs::symlink_metadata(&from) else { continue };
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let done = match () {
            () if kind.is_dir() && PACKAGE_FOLDERS.contains(&name) => {
                lend_packages(&from, &to, true);
                Ok(())
            }
            () if kind.is_dir() => copied.copy_folder(&from, &to, MAX_COPIED_DEPTH),
            () if kind.is_file() => copied.copy_file(&from, &to, kind.len()),
            () => Ok(()),
        };
        if done.is_err() {
            gaps.push(format!("the other tree lacks the ignored `{}`, or a part of it", path.display()));
        }
    }
    for path in submodules {
        let (from, to) = (top.join(path), into.join(path));
        let is_empty = fs::read_dir(&from).map_or(true, |mut entries| entries.next().is_none());
        // The commit of the submodule is not checked; if it differs, the answer has a note.
        let lent = may_make(into, &to) && !is_empty && {
            let _made_by_git = fs::remove_dir(&to);
            symlink(&from, &to).is_ok()
        };
        if !lent {
            gaps.push(format!("the submodule `{}` is missing", path.display()));
        }
    }
    gaps
}

/// Returns true if the folder of `path` is in the tree in `into` and not reached through a link.
fn may_make(into: &Path, path: &Path) -> bool {
    let parent = path.parent().filter(|parent| parent.is_dir());
    parent.and_then(|parent| canonicalize(parent).ok()).is_some_and(|real| real.starts_with(into))
}

/// A folder of links to the entries of `from`. A relative link between two packages is copied as it
/// is, so that it leads within the other tree.
fn lend_packages(from: &Path, to: &Path, scopes: bool) {
    let (Ok(()), Ok(entries)) = (fs::create_dir(to), fs::read_dir(from)) else { return };
    for entry in entries.flatten().take(MAX_LENT_PACKAGES) {
        let (path, link) = (entry.path(), to.join(entry.file_name()));
        let is_scope = entry.file_name().as_encoded_bytes().starts_with(b"@");
        let _missed = match entry.file_type() {
            Ok(kind) if kind.is_symlink() => match fs::read_link(&path) {
                Ok(target) if target.is_relative() => symlink(target, &link),
                _ => Ok(()),
            },
            Ok(kind) if kind.is_dir() && is_scope && scopes => {
                lend_packages(&path, &link, false);
                Ok(())
            }
            Ok(_) => symlink(&path, &link),
            Err(error) => Err(error),
        };
    }
}

/// The remaining budget for copies.
struct CopyBudget {
    files: usize,
    bytes: u64,
}

impl CopyBudget {
    fn copy_folder(&mut self, from: &Path, to: &Path, depth: usize) -> io::Result<()> {
        if PASSED_OVER.iter().any(|sign| from.join(sign).symlink_metadata().is_ok()) {
            return Ok(());
        }
        let left = depth.checked_sub(1).ok_or(io::ErrorKind::FileTooLarge)?;
        fs::create_dir(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            let (path, copy) = (entry.path(), to.join(entry.file_name()));
            let kind = entry.metadata()?;
            match () {
                // A repository of its own, or one of a tool, is not part of the project.
                () if entry.file_name() == ".git" => {}
                () if kind.is_dir() && entry.file_name() == PACKAGE_FOLDERS[0] => {
                    lend_packages(&path, &copy, true)
                }
                () if kind.is_dir() => self.copy_folder(&path, &copy, left)?,
                () if kind.is_file() => self.copy_file(&path, &copy, kind.len())?,
                // Links, pipes and other special files are skipped.
                () => {}
            }
        }
        Ok(())
    }

    fn copy_file(&mut self, from: &Path, to: &Path, bytes: u64) -> io::Result<()> {
        let files = self.files.checked_sub(1).ok_or(io::ErrorKind::FileTooLarge)?;
        let left = self.bytes.checked_sub(bytes).ok_or(io::ErrorKind::FileTooLarge)?;
        (self.files, self.bytes) = (files, left);
        fs::copy(from, to).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(windows, ignore = "Wine makes no links")]
    fn ignored_folders_are_copied_packages_linked_and_caches_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let (top, into) = (dir.path().join("top"), dir.path().join("into"));
        for folder in ["top/gen", "top/node_modules/pkg", "top/target", "top/.venv", "into"] {
            fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        for file in ["gen/a.ts", "target/CACHEDIR.TAG", ".venv/pyvenv.cfg", ".env"] {
            fs::write(top.join(file), file).unwrap();
        }
        let ignored = ["gen", "node_modules", "target", ".venv", ".env"].map(PathBuf::from);
        let into = canonicalize(into).unwrap();
        assert_eq!(lend(&top, &into, &ignored, &[]), Vec::<String>::new());
        assert!(
            into.join("gen/a.ts").is_file() && !into.join("gen").is_symlink() && into.join(".env").is_file()
        );
        assert!(into.join("node_modules/pkg").is_symlink());
        assert!(!into.join("target").exists() && !into.join(".venv").exists());
    }

    #[test]
    fn what_is_lent_never_goes_through_a_link_of_the_tree() {
        let dir = tempfile::tempdir().unwrap();
        let (top, into, elsewhere) =
            (dir.path().join("top"), dir.path().join("into"), dir.path().join("else"));
        for folder in [&top.join("a/gen"), &into, &elsewhere] {
            fs::create_dir_all(folder).unwrap();
        }
        symlink(&elsewhere, into.join("a")).unwrap();
        let into = canonicalize(into).unwrap();
        lend(&top, &into, &[PathBuf::from("a/gen")], &[PathBuf::from("a/sub")]);
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    }

    #[test]
    #[cfg_attr(windows, ignore = "Wine makes no links")]
    fn submodule_that_is_not_there_is_a_gap() {
        let dir = tempfile::tempdir().unwrap();
        let (top, into) = (dir.path().join("top"), dir.path().join("into"));
        for folder in ["top/one", "top/two", "into/one", "into/two"] {
            fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        fs::write(top.join("one/a.py"), "").unwrap();
        let into = canonicalize(into).unwrap();
        let gaps = lend(&top, &into, &[], &["one", "two"].map(PathBuf::from));
        assert_eq!(gaps, ["the submodule `two` is missing"]);
        assert!(into.join("one/a.py").is_file());
    }
}
