//! Resolution of every link in a path.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use super::path::WorkspacePath;
use super::root::Workspace;
use crate::platform::inode::InodeIdentity;
use crate::platform::paths::top_of;

/// The maximum number of links in one path, as in the kernel.
const MAX_REAL_PATH_SYMLINKS: usize = 40;

impl Workspace {
    /// Returns the path that `path` leads to through links, as far as it exists; a missing rest is
    /// kept. `None` if it leads out of the workspace, or in a circle.
    ///
    /// This is for rules about paths, which must not be evaded through another name. It opens
    /// nothing: an opening is checked when it happens.
    pub(crate) fn resolve_links(&self, path: &WorkspacePath) -> Option<WorkspacePath> {
        if self.jail().is_unlinked(path.as_path()) {
            return Some(path.clone());
        }
        self.workspace_path(&follow_links(self.root(), path.as_path(), |_| true)?)
    }

    /// Returns true if no name on the way of the absolute `path`, links included, lies in the
    /// workspace. A path in `/proc` does not count as outside: its links lead to other places in
    /// another process. A folder of the workspace that is mounted elsewhere counts as one of the
    /// workspace.
    pub(crate) fn is_resolved_outside(&self, path: &Path) -> bool {
        let root = InodeIdentity::at(self.root());
        let is_outside = |here: &Path| {
            !here.starts_with(self.root()) && !here.starts_with("/proc") && InodeIdentity::at(here) != root
        };
        path.is_absolute() && follow_links(top_of(path), path, is_outside).is_some()
    }
}

/// Follows `relative` from the folder `root`, which has no links in its name; `None` if `admit`
/// refuses a step. Each name is examined once, and each link's names once more, in a loop, since
/// the path may have any length.
fn follow_links(root: &Path, relative: &Path, admit: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    let mut here = root.to_owned();
    // The next name comes last; `..` can only come from a link.
    let mut ahead: Vec<OsString> = Vec::new();
    push(&mut ahead, relative);
    let mut links = 0;
    while let Some(name) = ahead.pop() {
        if name == ".." {
            here.pop();
            continue;
        }
        here.push(&name);
        if !admit(&here) {
            return None;
        }
        // A path that is not a link, or does not exist, is kept; a dangling link resolves to its
        // missing target.
        let Ok(target) = std::fs::read_link(&here) else { continue };
        links += 1;
        if links > MAX_REAL_PATH_SYMLINKS {
            return None;
        }
        here.pop();
        if target.is_absolute() {
            here = top_of(&target).to_owned();
        }
        push(&mut ahead, &target);
    }
    Some(here)
}

/// Puts `path` in front of the names `ahead`.
fn push(ahead: &mut Vec<OsString>, path: &Path) {
    let names = path.components().filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
    ahead.extend(names.map(|part| part.as_os_str().to_owned()).collect::<Vec<_>>().into_iter().rev());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::files::symlink;

    #[test]
    #[cfg_attr(windows, ignore = "Wine makes no links")]
    fn real_path_follows_symlinks_and_keeps_missing_components() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("w");
        std::fs::create_dir_all(root.join("real/deep")).unwrap();
        std::fs::write(root.join(".env"), "").unwrap();
        symlink(root.join(".env"), root.join("innocent")).unwrap();
        symlink("real", root.join("link")).unwrap();
        symlink("real/new", root.join("dangling")).unwrap();
        symlink("/etc", root.join("out")).unwrap();
        symlink("dangling", root.join("twice")).unwrap();
        symlink("../w/link/deep", root.join("out-and-in")).unwrap();
        symlink("circle", root.join("circle")).unwrap();
        let workspace = Workspace::open(&root).unwrap();
        let real = |path: &str| {
            let path = workspace.path(Path::new(path)).unwrap();
            workspace.resolve_links(&path).map(|path| path.display())
        };
        for (given, wanted) in [
            ("innocent", Some(".env")),
            ("link/deep", Some("real/deep")),
            ("link/new/file", Some("real/new/file")),
            ("dangling", Some("real/new")),
            ("dangling/more", Some("real/new/more")),
            ("twice", Some("real/new")),
            ("out-and-in/x", Some("real/deep/x")),
            ("circle", None),
            ("out/passwd", None),
            ("out", None),
            (".env/below-a-file", Some(".env/below-a-file")),
            ("not/there", Some("not/there")),
            (".", Some(".")),
        ] {
            assert_eq!(real(given).as_deref(), wanted, "{given}");
        }
    }
}
