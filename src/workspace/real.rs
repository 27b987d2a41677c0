//! Where a path leads when every link on its way is followed.

use std::path::{Path, PathBuf};

use super::path::WorkspacePath;
use super::root::Workspace;

impl Workspace {
    /// The path that `path` leads to through links, as far as it exists; what does not exist yet is kept as it is. `None`
    /// where it leads out of the workspace, or nowhere.
    ///
    /// For rules about paths, which must not be dodged through another name. It opens nothing: whether a file may be opened
    /// is decided when it is.
    pub fn real(&self, path: &WorkspacePath) -> Option<WorkspacePath> {
        self.inside(&real(&self.absolute(path), self.root())?)
    }
}

fn real(path: &Path, root: &Path) -> Option<PathBuf> {
    match path.canonicalize() {
        Ok(real) => Some(real),
        // A link whose target is missing is there, and writing through it would make the target.
        Err(_) if path.is_symlink() => {
            let target = path.parent()?.join(path.read_link().ok()?);
            target
                .parent()?
                .canonicalize()
                .ok()
                .zip(target.file_name())
                .map(|(folder, name)| folder.join(name))
        }
        Err(_) if path == root => None,
        Err(_) => Some(real(path.parent()?, root)?.join(path.file_name()?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_followed_and_what_is_missing_is_kept() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("w");
        std::fs::create_dir_all(root.join("real/deep")).unwrap();
        std::fs::write(root.join(".env"), "").unwrap();
        symlink(root.join(".env"), root.join("innocent")).unwrap();
        symlink("real", root.join("link")).unwrap();
        symlink("real/new", root.join("dangling")).unwrap();
        symlink("/etc", root.join("out")).unwrap();
        let workspace = Workspace::open(&root).unwrap();
        let real = |path: &str| {
            let path = workspace.path(Path::new(path)).unwrap();
            workspace.real(&path).map(|path| path.display())
        };
        for (given, wanted) in [
            ("innocent", Some(".env")),
            ("link/deep", Some("real/deep")),
            ("link/new/file", Some("real/new/file")),
            ("dangling", Some("real/new")),
            ("out/passwd", None),
            ("not/there", Some("not/there")),
            (".", Some(".")),
        ] {
            assert_eq!(real(given).as_deref(), wanted, "{given}");
        }
    }
}
