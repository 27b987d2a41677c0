//! Removal of an empty file that a language server created before its edit was accepted, with the
//! folders that it created for it.

use crate::platform::files::{AtFlags, Errno, FileType, statat, unlinkat};

use super::atomic::remove_empty;
use super::locate::{FinalLinkMode, WorkspaceTree};
use crate::workspace::{Workspace, WorkspacePath};

impl Workspace {
    /// Returns `path` and the folders above it that do not exist, the deepest first.
    pub(crate) fn missing_entries(&self, path: &WorkspacePath) -> Vec<WorkspacePath> {
        let upwards = path.ancestors();
        upwards.take_while(|path| !self.exists(path)).collect()
    }

    /// Removes the empty regular files and empty folders among `paths`.
    ///
    /// # Errors
    /// The error of the operating system; a missing path is not an error.
    pub(crate) fn remove_empty_entries(&self, paths: &[WorkspacePath]) -> std::io::Result<()> {
        paths.iter().try_for_each(|path| match self.remove_empty_entry(path) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(errno.into()),
        })
    }

    fn remove_empty_entry(&self, path: &WorkspacePath) -> Result<(), Errno> {
        let tree = WorkspaceTree::open(self);
        let place = tree.resolve(path.as_path(), FinalLinkMode::Keep)?;
        let (folder, name) = tree.folder_of(&place)?;
        let stat = statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => remove_empty(&folder, name).map(drop),
            FileType::RegularFile if stat.st_size == 0 => unlinkat(&folder, name, AtFlags::empty()),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::files::symlink;

    #[test]
    #[cfg_attr(windows, ignore = "Wine makes no links")]
    fn only_empty_files_and_folders_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        let path = |name: &str| workspace.path(name.as_ref()).unwrap();
        let missing = workspace.missing_entries(&path("new/deep/empty"));
        assert_eq!(missing, [path("new/deep/empty"), path("new/deep"), path("new")]);
        std::fs::create_dir_all(folder.path().join("new/deep")).unwrap();
        std::fs::write(folder.path().join("new/deep/empty"), "").unwrap();
        std::fs::write(folder.path().join("full"), "x").unwrap();
        symlink("full", folder.path().join("link")).unwrap();
        let rest = ["full", "link", "absent"].map(path);
        workspace.remove_empty_entries(&missing).unwrap();
        workspace.remove_empty_entries(&rest).unwrap();
        let there = |name: &str| folder.path().join(name).symlink_metadata().is_ok();
        assert_eq!(["full", "link", "new"].map(there), [true, true, false]);
    }
}
