//! Where a server's program is: configured path, the project's own environment, PATH, the private prefix.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::config::spec::Server;
use crate::workspace::{Workspace, WorkspacePath};

/// Where a program was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The catalogue or the settings name it by path.
    Configured,
    /// A virtual environment or `node_modules` of the project.
    Project,
    /// The user's PATH.
    Path,
    /// Where `lsp-tools install` puts servers.
    Prefix,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Configured => "configured path",
            Self::Project => "project environment",
            Self::Path => "PATH",
            Self::Prefix => "private prefix",
        })
    }
}

/// A server's program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// By absolute path.
    pub program: PathBuf,
    /// Where it was found.
    pub origin: Origin,
    /// Folders that go before PATH for it: the rest of its installation.
    pub path_folders: Vec<PathBuf>,
}

/// A server's program was not found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{program}` is neither {}", searched.join(" nor "))]
pub struct NotFound {
    /// What was looked for.
    pub program: String,
    /// Where, in words.
    pub searched: Vec<String>,
}

/// Where to look.
#[derive(Debug)]
pub struct Places<'a> {
    /// The workspace.
    pub workspace: &'a Workspace,
    /// The session's root.
    pub root: &'a WorkspacePath,
    /// The user's data folder, which holds the private prefix.
    pub data: &'a Path,
    /// Whether programs of the project may be run.
    pub trusted: bool,
    /// The user's PATH.
    pub path: Option<OsString>,
}

/// Where the parts of an installed server are: `<data>/servers/<key>/current/…`.
pub fn prefix(data: &Path, server: &str) -> PathBuf {
    data.join("servers").join(server).join("current")
}

/// The folders of a private prefix that hold programs.
pub fn prefix_folders(data: &Path, server: &str) -> Vec<PathBuf> {
    program_folders(&prefix(data, server))
}

/// The folders below `prefix` that hold programs; those that are there.
pub fn program_folders(prefix: &Path) -> Vec<PathBuf> {
    let folders = ["venv/bin", "npm/node_modules/.bin", "cargo/bin", "go/bin", "gem/bin", "dotnet"];
    folders.iter().map(|folder| prefix.join(folder)).filter(|folder| folder.is_dir()).collect()
}

/// Looks for the program of `server`.
pub fn locate(key: &str, server: &Server, places: &Places<'_>) -> Result<Located, NotFound> {
    let program = server.command.first().cloned().unwrap_or_default();
    let mut searched = Vec::new();
    if program.contains('/') {
        let path = PathBuf::from(&program);
        if is_program(&path) {
            return Ok(Located { program: path, origin: Origin::Configured, path_folders: Vec::new() });
        }
        return Err(NotFound { program, searched: vec!["a program at that path".into()] });
    }
    let ours = prefix_folders(places.data, key);
    if places.trusted {
        for folder in project_folders(places) {
            if is_program(&folder.join(&program)) {
                let program = folder.join(&program);
                return Ok(Located { program, origin: Origin::Project, path_folders: ours });
            }
        }
        searched.push("in the project's environment".to_owned());
    }
    if let Ok(found) =
        which::which_in_global(&program, Some(user_path(places))).map(|mut found| found.next()).map_err(drop)
        && let Some(program) = found
    {
        return Ok(Located { program, origin: Origin::Path, path_folders: ours });
    }
    searched.push("on PATH".to_owned());
    for folder in &ours {
        if is_program(&folder.join(&program)) {
            return Ok(Located {
                program: folder.join(&program),
                origin: Origin::Prefix,
                path_folders: ours.clone(),
            });
        }
    }
    searched.push("installed by `lsp-tools install`".to_owned());
    Err(NotFound { program, searched })
}

/// PATH without relative entries, and without entries inside the workspace unless it is trusted: a repository must not
/// choose what is run.
fn user_path(places: &Places<'_>) -> OsString {
    let path = places.path.clone().unwrap_or_default();
    let inside = |folder: &Path| places.workspace.inside(folder).is_some();
    let kept = std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute() && (places.trusted || !inside(folder)));
    std::env::join_paths(kept).unwrap_or_default()
}

/// Where projects keep programs of their own, from the session's root up to the workspace's.
fn project_folders(places: &Places<'_>) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    let mut folder = Some(places.root.clone());
    while let Some(current) = folder {
        let absolute = places.workspace.absolute(&current);
        folders.extend([".venv/bin", "venv/bin", "node_modules/.bin"].map(|inner| absolute.join(inner)));
        folder = current.parent();
    }
    folders
}

/// Whether `path` is a file that may be executed.
pub fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// A project's virtual environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PythonEnvironment {
    /// Its folder.
    pub folder: PathBuf,
    /// Its interpreter.
    pub interpreter: PathBuf,
}

/// The virtual environment for `root`: one inside the workspace from the root upwards, where the project is trusted (its
/// interpreter is run by servers); else the one that is active in the user's shell.
pub fn python_environment(
    workspace: &Workspace,
    root: &WorkspacePath,
    trusted: bool,
    active: Option<PathBuf>,
) -> Option<PythonEnvironment> {
    let mut candidates = Vec::new();
    let mut folder = Some(root.clone()).filter(|_| trusted);
    while let Some(current) = folder {
        let absolute = workspace.absolute(&current);
        candidates.extend([".venv", "venv", "env"].map(|name| absolute.join(name)));
        folder = current.parent();
    }
    candidates.extend(active.filter(|active| trusted || workspace.inside(active).is_none()));
    candidates.into_iter().find_map(|folder| {
        let interpreter = folder.join("bin/python");
        let real = folder.join("pyvenv.cfg").is_file() || folder.join("conda-meta").is_dir();
        (real && is_program(&interpreter)).then_some(PythonEnvironment { folder, interpreter })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn program(path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn server() -> Server {
        toml::from_str("name = 'S'\nlanguages = ['x']\ncommand = ['the-server']").unwrap()
    }

    #[test]
    fn the_project_comes_first_when_trusted_and_not_at_all_otherwise() {
        let temp = tempfile::tempdir().unwrap();
        let (project, data, bin) = (temp.path().join("p"), temp.path().join("d"), temp.path().join("b"));
        program(&project.join("sub/.venv/bin/the-server"));
        program(&project.join("evil/the-server"));
        program(&bin.join("the-server"));
        program(&data.join("servers/key/current/venv/bin/the-server"));
        let workspace = Workspace::open(&project).unwrap();
        let root = workspace.path(Path::new("sub")).unwrap();
        let paths = |list: &[&Path]| std::env::join_paths(list).ok();
        let at = |trusted, path| {
            let places = Places { workspace: &workspace, root: &root, data: &data, trusted, path };
            locate("key", &server(), &places)
        };
        let evil_first = paths(&[Path::new("."), &project.join("evil"), &bin]);
        assert_eq!(at(true, evil_first.clone()).unwrap().origin, Origin::Project);
        let found = at(false, evil_first).unwrap();
        assert_eq!((found.origin, found.program), (Origin::Path, bin.join("the-server")));
        let installed = at(false, None).unwrap();
        assert_eq!(installed.origin, Origin::Prefix);
        assert_eq!(installed.path_folders, [data.join("servers/key/current/venv/bin")]);
        std::fs::remove_dir_all(&data).unwrap();
        let error = at(false, None).unwrap_err().to_string();
        assert_eq!(error, "`the-server` is neither on PATH nor installed by `lsp-tools install`");
    }
}
