//! The folders of a workspace in which its packages may lie.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

/// The greatest depth of a package below the workspace: `packages/@scope/name`.
const MAX_PACKAGE_DEPTH: usize = 3;
/// The maximum number of folders that are read.
const MAX_PACKAGE_FOLDERS: usize = 200;
/// Folders of fetched and built files, beside the hidden ones.
const UNLIKELY_PACKAGES: [&str; 6] = ["node_modules", "target", "dist", "build", "vendor", "venv"];

/// Returns the workspace and the folders near its top that contain packages of a project of
/// projects.
pub(super) fn package_folders(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut next = VecDeque::from([(root.to_owned(), 0)]);
    while let Some((folder, depth)) = next.pop_front() {
        if found.len() == MAX_PACKAGE_FOLDERS {
            break;
        }
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
        let is_likely = |entry: &fs::DirEntry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            !name.starts_with('.') && !UNLIKELY_PACKAGES.contains(&&*name)
        };
        if depth < MAX_PACKAGE_DEPTH {
            let mut inner: Vec<PathBuf> = entries
                .filter(|entry| is_likely(entry) && is_folder(entry))
                .map(|entry| entry.path())
                .take(MAX_PACKAGE_FOLDERS)
                .collect();
            inner.sort();
            next.extend(inner.into_iter().map(|folder| (folder, depth + 1)));
        }
        found.push(folder);
    }
    found
}
