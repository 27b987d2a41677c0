//! The search path for programs, without the folders that a repository could choose.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use crate::workspace::Workspace;

/// The variable that names the folders of programs.
const PATH: &str = "PATH";

/// The folders that are searched for programs.
///
/// A repository must not choose the program that is run. Therefore a folder of the user's PATH
/// counts only if it is absolute and neither lies in the workspace nor is reached through it, and a
/// program only if it does not lead there. The folders of our own installations always count.
#[derive(Debug, Clone)]
pub(crate) struct ProgramPath {
    workspace: Workspace,
    own: Vec<PathBuf>,
    users: Vec<PathBuf>,
}

impl ProgramPath {
    /// The user's PATH, for programs that are started on `workspace`.
    pub(crate) fn of_user(workspace: &Workspace) -> Self {
        Self::new(workspace, &std::env::var_os(PATH).unwrap_or_default())
    }

    /// The search path `path`, written as PATH is.
    pub(crate) fn new(workspace: &Workspace, path: &OsStr) -> Self {
        let users = outside_folders(workspace, path).collect();
        Self { workspace: workspace.clone(), own: Vec::new(), users }
    }

    /// Adds folders of our own installations in front of all others.
    #[must_use]
    pub(crate) fn after(self, own: impl IntoIterator<Item = PathBuf>) -> Self {
        let own = own.into_iter().filter(|folder| folder.is_absolute()).chain(self.own).collect();
        Self { own, ..self }
    }

    /// Adds folders behind all others. Folders that a repository could choose are left out.
    #[must_use]
    pub(crate) fn followed_by(mut self, folders: impl IntoIterator<Item = PathBuf>) -> Self {
        let outside = folders.into_iter().filter(|folder| self.workspace.is_resolved_outside(folder));
        let outside: Vec<PathBuf> = outside.collect();
        self.users.extend(outside);
        self
    }

    /// The first program of this name.
    pub(crate) fn find(&self, program: &str) -> Option<PathBuf> {
        let own = programs(program, &self.own).next();
        own.or_else(|| programs(program, &self.users).find(|found| self.workspace.is_resolved_outside(found)))
    }

    /// All folders, in the order of the search.
    pub(crate) fn folders(&self) -> impl Iterator<Item = &PathBuf> {
        self.own.iter().chain(&self.users)
    }

    /// The variable PATH for a program that is started on the workspace.
    pub(crate) fn variable(&self) -> (OsString, OsString) {
        // Folders that came out of a PATH contain no separator, and those of installations none
        // either.
        (PATH.into(), std::env::join_paths(self.folders()).unwrap_or_default())
    }
}

fn programs(program: &str, folders: &[PathBuf]) -> impl Iterator<Item = PathBuf> {
    // An empty PATH would mean the current folder.
    let path = std::env::join_paths(folders).ok().filter(|path| !path.is_empty());
    let found = path.and_then(|path| which::which_in_global(program, Some(path)).ok());
    found.into_iter().flatten()
}

/// The folders of `path` that a repository cannot choose.
fn outside_folders<'a>(workspace: &'a Workspace, path: &'a OsStr) -> impl Iterator<Item = PathBuf> + 'a {
    std::env::split_paths(path).filter(|folder| workspace.is_resolved_outside(folder))
}

/// Returns the folders of a user's search path (`PATH`, `PYTHONPATH`, …) for a program that is
/// started on the workspace. Folders of the project are included only if it is trusted. `None` if
/// the variable is not set.
pub(crate) fn user_folders(workspace: &Workspace, trusted: bool, variable: &str) -> Option<Vec<PathBuf>> {
    let path = std::env::var_os(variable)?;
    Some(match trusted {
        // A relative folder depends on the folder in which the program is started, which is in the
        // project.
        true => std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect(),
        false => outside_folders(workspace, &path).collect(),
    })
}

/// The caller's unchanged PATH, for a command that the caller runs in the sandbox.
pub(crate) fn caller_path() -> Option<OsString> {
    std::env::var_os(PATH)
}

/// Finds the program `name` on `path`, the PATH of a program that we started.
pub(crate) fn find_on_path_of_child(name: &str, path: &OsStr) -> Option<PathBuf> {
    let folders: Vec<PathBuf> = std::env::split_paths(path).filter(|folder| folder.is_absolute()).collect();
    programs(name, &folders).next()
}

#[cfg(all(test, unix))]
mod tests {
    use crate::platform::canonicalize;
    use crate::platform::files::{PermissionsExt, symlink};
    use std::path::Path;

    use super::*;

    fn add_program(folder: &Path) -> PathBuf {
        std::fs::create_dir_all(folder).unwrap();
        let program = folder.join("the-server");
        std::fs::write(&program, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        program
    }

    struct Folders {
        _temp: tempfile::TempDir,
        base: PathBuf,
        workspace: Workspace,
    }

    fn folders() -> Folders {
        let temp = tempfile::tempdir().unwrap();
        let base = canonicalize(temp.path()).unwrap();
        std::fs::create_dir_all(base.join("a/b/c/project")).unwrap();
        let workspace = Workspace::open(&base.join("a/b/c/project")).unwrap();
        Folders { _temp: temp, base, workspace }
    }

    #[test]
    fn program_path_has_no_folder_that_the_workspace_chooses() {
        let Folders { _temp, base, workspace } = folders();
        let root = workspace.root();
        let usual = base.join("usual");
        let program = add_program(&usual);
        add_program(&root.join("bin"));
        // In the workspace, by a link into it, and by a link that leads through it and out again.
        symlink(root.join("bin"), base.join("into")).unwrap();
        symlink(&usual, root.join("out")).unwrap();
        symlink(root.join("out"), base.join("through")).unwrap();
        let chosen = [
            PathBuf::new(),
            "bin".into(),
            ".".into(),
            root.join("bin"),
            root.join("sub/../bin"),
            usual.join("../a/b/c/project/bin"),
            root.join("out"),
            base.join("into"),
            base.join("through"),
            base.join("into/not-there"),
            "/proc/self/cwd/bin".into(),
            "/proc/self/root/usr/bin".into(),
            "/proc/thread-self/cwd/bin".into(),
            format!("/proc/{}/cwd/bin", std::process::id()).into(),
            "/dev/fd/0/bin".into(),
        ];
        for folder in chosen {
            let path = std::env::join_paths([&folder, &usual]).unwrap();
            let path = ProgramPath::new(&workspace, &path);
            assert_eq!(path.folders().collect::<Vec<_>>(), [&usual], "{}", folder.display());
            assert_eq!(path.find("the-server"), Some(program.clone()), "{}", folder.display());
            assert_eq!(path.variable().1, usual.as_os_str(), "{}", folder.display());
        }
    }

    #[test]
    fn program_that_leads_into_the_workspace_is_not_found() {
        let Folders { _temp, base, workspace } = folders();
        let own = add_program(&workspace.root().join("bin"));
        std::fs::create_dir_all(base.join("links")).unwrap();
        symlink(&own, base.join("links/the-server")).unwrap();
        let path = ProgramPath::new(&workspace, base.join("links").as_os_str());
        assert_eq!(path.find("the-server"), None);
        // An installation of ours may lie in the workspace, if that is the user's home.
        assert_eq!(path.after([workspace.root().join("bin")]).find("the-server"), Some(own));
    }

    #[test]
    fn project_folders_are_on_the_path_of_servers_of_trusted_projects_only() {
        let Folders { _temp, workspace, .. } = folders();
        let own = workspace.root().join("node_modules/.bin");
        let path =
            std::env::join_paths([Path::new(""), Path::new("bin"), &own, Path::new("/usr/bin")]).unwrap();
        let outside: Vec<PathBuf> = outside_folders(&workspace, &path).collect();
        assert_eq!(outside, [PathBuf::from("/usr/bin")]);
    }
}
