//! The search for a program in folders.

use std::path::{Path, PathBuf};

/// The first `program` in `folders`. Relative ones do not count, since they depend on where we were started, which may be
/// in a repository.
pub(crate) fn find_program(program: &str, folders: impl IntoIterator<Item = PathBuf>) -> Option<PathBuf> {
    let path = std::env::join_paths(folders.into_iter().filter(|folder| folder.is_absolute())).ok()?;
    // An empty PATH means the current folder.
    if path.is_empty() {
        return None;
    }
    which::which_in_global(program, Some(path)).ok()?.next()
}

/// Whether `path` is a file that may be executed.
pub(crate) fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn find_program_ignores_relative_and_empty_path_entries() {
        let here = std::env::current_dir().unwrap();
        let temp = tempfile::tempdir_in(&here).unwrap();
        let program = temp.path().join("the-server");
        std::fs::write(&program, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let relative = temp.path().strip_prefix(&here).unwrap().to_owned();
        let name = relative.join("the-server");
        for folders in [vec![], vec![PathBuf::new()], vec![PathBuf::from(".")], vec![relative]] {
            assert_eq!(find_program(name.to_str().unwrap(), folders.clone()), None, "{folders:?}");
            assert_eq!(find_program("the-server", folders.clone()), None, "{folders:?}");
        }
        assert_eq!(find_program("the-server", [temp.path().to_owned()]), Some(program));
    }
}
