//! What is in one folder.

use rustix::fs::{Dir, FileType};

use super::read::from_errno;
use super::{ReadError, Workspace, WorkspacePath};

/// The names in a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    /// Each name, and whether it is that of a directory (a link to one is none), sorted. Names that are not UTF-8 are left
    /// out.
    pub names: Vec<(String, bool)>,
    /// There are more than were asked for.
    pub cut: bool,
}

impl Workspace {
    /// The names in the folder at `path`, at most `most` of them, hidden ones too.
    ///
    /// # Errors
    /// [`ReadError`] where it is missing, leads out, or is no folder (that is "not found" as well).
    pub fn names_in(&self, path: &WorkspacePath, most: usize) -> Result<Names, ReadError> {
        let failed = |errno| from_errno(path.display(), errno);
        let folder = self.jail().open(path.as_path()).map_err(failed)?;
        let entries = Dir::read_from(&folder).map_err(failed)?;
        let mut found = Names::default();
        for entry in entries {
            let entry = entry.map_err(failed)?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            if matches!(name, "." | "..") {
                continue;
            }
            if found.names.len() == most {
                found.cut = true;
                break;
            }
            found.names.push((name.to_owned(), entry.file_type() == FileType::Directory));
        }
        found.names.sort();
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use super::*;

    #[test]
    fn names_of_a_folder_inside_alone() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap().join("w");
        fs::create_dir_all(root.join("d/sub")).unwrap();
        fs::create_dir_all(root.with_file_name("outside/secret")).unwrap();
        fs::write(root.join("d/b"), "").unwrap();
        fs::write(root.join("d/.a"), "").unwrap();
        symlink("sub", root.join("d/link")).unwrap();
        symlink(root.with_file_name("outside"), root.join("out")).unwrap();
        let workspace = Workspace::open(&root).unwrap();
        let names = |path: &str, most| workspace.names_in(&workspace.path(Path::new(path)).unwrap(), most);
        let of = |names: &[(&str, bool)]| {
            names.iter().map(|(name, dir)| ((*name).to_owned(), *dir)).collect::<Vec<_>>()
        };
        let all = names("d", 10).unwrap();
        assert_eq!(all.names, of(&[(".a", false), ("b", false), ("link", false), ("sub", true)]));
        assert!(!all.cut && names("d", 2).unwrap().cut);
        assert!(matches!(names("out", 10), Err(ReadError::Outside { .. })));
        assert!(matches!(names("missing", 10), Err(ReadError::NotFound { .. })));
        assert!(matches!(names("d/b", 10), Err(ReadError::NotFound { .. })));
    }
}
