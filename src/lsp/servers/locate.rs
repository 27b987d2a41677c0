//! The location of a server's program: configured path, the project's environment, PATH, the
//! private prefix.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::interpreters;
use super::judge::{OwnRoots, PinLookup, PinLookups};
use crate::config::FilePin;
use crate::config::spec::{ServerSpec, ToolchainProxy};
use crate::platform::canonicalize;
use crate::platform::inode::InodeIdentity;
use crate::platform::paths::{ENVIRONMENT_PROGRAMS, join, program_at, through_sibling};
use crate::process::{ProgramPath, Spawner, is_program};
use crate::workspace::{Workspace, WorkspacePath};

/// The place where a program was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramOrigin {
    /// The catalogue or the settings name it by path.
    Configured,
    /// A virtual environment or `node_modules` of the project.
    Project,
    /// The user's PATH.
    Path,
    /// The folder of `lsp-tools install`.
    Prefix,
}

impl fmt::Debug for ProgramSearchPlaces<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgramSearchPlaces")
            .field("root", self.root)
            .field("data", &self.data)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for ProgramOrigin {
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
pub struct LocatedProgram {
    /// By absolute path.
    pub program: PathBuf,
    /// The place where it was found.
    pub origin: ProgramOrigin,
    /// Folders that go before PATH for it: the rest of its installation.
    pub path_folders: Vec<PathBuf>,
    /// Folders that go behind PATH for it: they hold programs that it needs and that PATH lacks.
    pub fallback_folders: Vec<PathBuf>,
    /// The pin of the program, if it lies inside the project.
    pub pin: Option<FilePin>,
}

/// The error for a server's program that was not found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{program}` is not {}", searched.join(" nor "))]
pub(crate) struct NotFound {
    /// The name of the program.
    pub(crate) program: String,
    /// The searched places, in words.
    pub(crate) searched: Vec<String>,
}

/// The places to search.
pub(crate) struct ProgramSearchPlaces<'a> {
    /// The workspace.
    pub(crate) workspace: &'a Workspace,
    /// The session's root.
    pub(crate) root: &'a WorkspacePath,
    /// The user's data folder, which holds the private prefix.
    pub(crate) data: &'a Path,
    /// Returns the pin of a program of the project; `None` if it may not run.
    pub(crate) pin: &'a dyn Fn(&Path) -> Option<FilePin>,
    /// The user's PATH.
    path: ProgramPath,
    pins: PinLookups,
}

impl<'a> ProgramSearchPlaces<'a> {
    /// Creates the places with `path`, the user's PATH. Each of its folders was compared with the
    /// workspace, so one value should serve for all programs.
    pub(crate) fn new(
        workspace: &'a Workspace,
        root: &'a WorkspacePath,
        data: &'a Path,
        pin: &'a dyn Fn(&Path) -> Option<FilePin>,
        path: ProgramPath,
    ) -> Self {
        Self { workspace, root, data, pin, path, pins: PinLookups::default() }
    }

    /// The places for another root of the workspace.
    pub(super) fn at(&self, root: &'a WorkspacePath) -> Self {
        Self::new(self.workspace, root, self.data, self.pin, self.path.clone())
    }
}

impl ProgramSearchPlaces<'_> {
    /// The version that the project pins for `server`; `None` for a server without a judge.
    pub(super) fn pin_lookup(&self, server: &ServerSpec) -> Option<Rc<PinLookup>> {
        self.pins.find(self.workspace, self.root, server)
    }

    /// The packages among `folders` that have a version of the judge of `server` of their own.
    pub(super) fn own_roots(&self, server: &ServerSpec, folders: &[PathBuf]) -> Option<Rc<OwnRoots>> {
        self.pins.own_roots(self.workspace, folders, server)
    }
}

impl LocatedProgram {
    /// Adds folders of the login shell's PATH that hold programs which the server needs.
    pub(crate) async fn complete_from_login_shell(
        &mut self,
        spawner: &Spawner,
        (workspace, trusted): (&Workspace, bool),
        server: &ServerSpec,
    ) {
        let folders = self.path_folders.iter().chain(&self.fallback_folders);
        let (place, subject) = ((workspace, trusted), (server, self.program.as_path()));
        let found = interpreters::login_shell_folders(spawner, place, subject, folders).await;
        self.fallback_folders.extend(found);
    }
}

/// The name, in the folder of a server's installations, that leads to the one in use.
pub(crate) const CURRENT: &str = "current";

/// Returns the path that leads to the folder of an installed server's parts:
/// `<data>/servers/<key>/current`.
pub(crate) fn prefix(data: &Path, server: &str) -> PathBuf {
    data.join("servers").join(server).join(CURRENT)
}

/// The folders of a private prefix that hold programs.
pub fn prefix_folders(data: &Path, server: &str) -> Vec<PathBuf> {
    program_folders(&current_installation(data, server))
}

/// The folder of an installed server's parts, existing or not.
pub(crate) fn current_installation(data: &Path, server: &str) -> PathBuf {
    through_sibling(prefix(data, server))
}

/// Returns the existing folders below `prefix` that hold programs.
pub(crate) fn program_folders(prefix: &Path) -> Vec<PathBuf> {
    // Most servers are not installed, and all are searched for.
    if !prefix.is_dir() {
        return Vec::new();
    }
    let environment = format!("venv/{ENVIRONMENT_PROGRAMS}");
    let folders = [
        "rustup/bin",
        environment.as_str(),
        "npm/node_modules/.bin",
        "cargo/bin",
        "go/bin",
        "gem/bin",
        "dotnet",
        "deb/usr/bin",
    ];
    folders.iter().map(|folder| join(prefix, Path::new(folder))).filter(|folder| folder.is_dir()).collect()
}

/// Finds the program of `server`, and the programs that it needs.
pub(crate) fn locate(
    key: &str,
    server: &ServerSpec,
    places: &ProgramSearchPlaces<'_>,
) -> Result<LocatedProgram, NotFound> {
    let pin = places.pin_lookup(server);
    let versioned = pin.and_then(|pin| pin.versioned_key(key));
    let versioned = versioned.filter(|key| prefix(places.data, key).is_dir());
    let mut located = locate_program(versioned.as_deref(), key, server, places)?;
    if !located.path_folders.is_empty() {
        let prefix = prefix(places.data, versioned.as_deref().unwrap_or(key));
        let path = places.path.clone().after(located.path_folders.iter().cloned());
        located.fallback_folders = interpreters::recorded_folders(places.workspace, &prefix, &path);
    }
    Ok(located)
}

/// Finds the program; `versioned` is the installation of the version that the project pins, if
/// there is one.
fn locate_program(
    versioned: Option<&str>,
    key: &str,
    server: &ServerSpec,
    places: &ProgramSearchPlaces<'_>,
) -> Result<LocatedProgram, NotFound> {
    let program = server.command.first().cloned().unwrap_or_default();
    let mut searched = Vec::new();
    let ours = prefix_folders(places.data, versioned.unwrap_or(key));
    let in_ours = || ours.iter().find_map(|folder| program_at(folder.join(&program)));
    let is_judge = |program: &PathBuf| server.judge.as_ref().is_none_or(|rule| rule.admits_program(program));
    let of_prefix = |program: PathBuf| LocatedProgram {
        program,
        origin: ProgramOrigin::Prefix,
        path_folders: ours.clone(),
        fallback_folders: Vec::new(),
        pin: None,
    };
    if program.contains('/') {
        return locate_configured(program, ours, places);
    }
    let own = project_folders(places).into_iter().filter_map(|folder| program_at(folder.join(&program)));
    let own = own.into_iter().find(is_judge);
    match own {
        Some(program) => match (places.pin)(&program) {
            Some(pin) => {
                let (origin, path_folders) = (ProgramOrigin::Project, ours);
                let (pin, fallback_folders) = (Some(pin), Vec::new());
                return Ok(LocatedProgram { program, origin, path_folders, fallback_folders, pin });
            }
            None => searched
                .push("trusted in the project's environment, where it is (lsp-tools trust)".to_owned()),
        },
        None => searched.push("in the project's environment".to_owned()),
    }
    if let Some(program) = in_ours().filter(|_| versioned.is_some()) {
        return Ok(of_prefix(program));
    }
    let installed = in_ours().is_some();
    match places.path.find(&program).filter(is_judge) {
        // A proxy runs the program of the project's toolchain, which may not have it.
        Some(found) if is_proxy(server, &found) && (installed || !has_proxy_target(server, &found)) => {
            searched.push(format!("behind its proxy {} on PATH", found.display()));
        }
        Some(program) => {
            return Ok(LocatedProgram {
                program,
                origin: ProgramOrigin::Path,
                path_folders: ours,
                fallback_folders: Vec::new(),
                pin: None,
            });
        }
        None => searched.push("on PATH".to_owned()),
    }
    if let Some(program) = in_ours() {
        return Ok(of_prefix(program));
    }
    searched.push("installed by `lsp-tools install`".to_owned());
    Err(NotFound { program, searched })
}

/// Returns true if a program on PATH is a link to a proxy.
fn is_proxy(server: &ServerSpec, program: &Path) -> bool {
    let Some(proxy) = &server.proxy else { return false };
    let real = canonicalize(program).unwrap_or_else(|_| program.to_owned());
    // A link to the proxy, or, after an installation with hard links, the same file beside it.
    let is_link = real.file_name() == Some(OsStr::new(&proxy.program));
    is_link || same_file(program, &program.with_file_name(&proxy.program))
}

/// Returns true if there is a program behind a proxy's link, in any toolchain.
fn has_proxy_target(server: &ServerSpec, link: &Path) -> bool {
    let (Some(proxy), Some(name)) = (&server.proxy, link.file_name()) else { return false };
    proxy_folders(proxy).into_iter().any(|folder| program_at(folder.join(name)).is_some())
}

fn same_file(one: &Path, other: &Path) -> bool {
    InodeIdentity::at(one).is_some_and(|one| Some(one) == InodeIdentity::at(other))
}

/// Returns the folders that may hold the programs behind a proxy.
fn proxy_folders(proxy: &ToolchainProxy) -> Vec<PathBuf> {
    let named = std::env::var_os(&proxy.variable).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let own = || etcetera::home_dir().ok().map(|home| home.join(&proxy.folder));
    let mut folders: Vec<PathBuf> = named.or_else(own).into_iter().collect();
    for part in proxy.behind.split('/') {
        folders = match part {
            "*" => folders.iter().flat_map(|folder| inner_folders(folder)).collect(),
            name => folders.into_iter().map(|folder| folder.join(name)).collect(),
        };
    }
    folders
}

/// Returns the folders directly in `folder`; empty if it cannot be read.
pub(crate) fn inner_folders(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}

/// Finds a program that settings name by its path, relative to the workspace's root.
fn locate_configured(
    program: String,
    ours: Vec<PathBuf>,
    places: &ProgramSearchPlaces<'_>,
) -> Result<LocatedProgram, NotFound> {
    let path = places.workspace.root().join(&program);
    let not = |searched: &str| Err(NotFound { program, searched: vec![searched.into()] });
    if !is_program(&path) {
        return not("a program at that path");
    }
    let inside = places.workspace.workspace_path(&path).is_some();
    let pin = if inside { (places.pin)(&path) } else { None };
    if inside && pin.is_none() {
        return not("trusted as a program of the project (lsp-tools trust)");
    }
    let (origin, fallback_folders) = (ProgramOrigin::Configured, Vec::new());
    Ok(LocatedProgram { program: path, origin, path_folders: ours, fallback_folders, pin })
}

/// Returns the folders that are searched for programs of servers, without those of the private
/// prefix.
pub(crate) fn search_folders(places: &ProgramSearchPlaces<'_>) -> Vec<PathBuf> {
    project_folders(places).into_iter().chain(places.path.folders().cloned()).collect()
}

/// Returns the program of `server` that the project brings, in its own environment or at the path
/// in settings, whether it may run or not.
pub(crate) fn project_program(
    workspace: &Workspace,
    root: &WorkspacePath,
    server: &ServerSpec,
) -> Option<PathBuf> {
    let program = server.command.first()?;
    if program.contains('/') {
        let path = workspace.root().join(program);
        return Some(path).filter(|path| is_program(path) && workspace.workspace_path(path).is_some());
    }
    let is_judge = |program: &Path| server.judge.as_ref().is_none_or(|rule| rule.admits_program(program));
    let folders = folders_of(workspace, root);
    folders.into_iter().filter_map(|folder| program_at(folder.join(program))).find(|path| is_judge(path))
}

fn project_folders(places: &ProgramSearchPlaces<'_>) -> Vec<PathBuf> {
    folders_of(places.workspace, places.root)
}

/// Returns the folders of a project's own programs, from the session's root up to the workspace's.
fn folders_of(workspace: &Workspace, root: &WorkspacePath) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    let mut folder = Some(root.clone());
    while let Some(current) = folder {
        let absolute = workspace.absolute(&current);
        folders.extend([".venv", "venv"].map(|inner| absolute.join(inner).join(ENVIRONMENT_PROGRAMS)));
        folders.push(absolute.join("node_modules/.bin"));
        folder = current.parent();
    }
    folders
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::platform::files::{PermissionsExt, symlink};
    use std::ffi::OsString;

    fn program(path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn some_pin(path: &Path) -> FilePin {
        FilePin { path: path.to_owned(), sha256: String::new() }
    }

    fn server() -> ServerSpec {
        toml::from_str("name = 'S'\nlanguages = ['x']\ncommand = ['the-server']").unwrap()
    }

    #[test]
    fn locate_prefers_project_program_only_when_trusted() {
        let temp = tempfile::tempdir().unwrap();
        let (project, data, bin) = (temp.path().join("p"), temp.path().join("d"), temp.path().join("b"));
        program(&project.join("sub/.venv/bin/the-server"));
        program(&project.join("evil/the-server"));
        program(&bin.join("the-server"));
        program(&data.join("servers/key/current/venv/bin/the-server"));
        let workspace = Workspace::open(&project).unwrap();
        let root = workspace.path(Path::new("sub")).unwrap();
        let paths = |list: &[&Path]| std::env::join_paths(list).ok();
        let at = |trusted: bool, path: Option<OsString>| {
            let pin = |path: &Path| trusted.then(|| some_pin(path));
            let path = ProgramPath::new(&workspace, path.as_deref().unwrap_or_default());
            let places = ProgramSearchPlaces::new(&workspace, &root, &data, &pin, path);
            locate("key", &server(), &places)
        };
        let evil_first = paths(&[Path::new("."), &project.join("evil"), &bin]);
        assert_eq!(at(true, evil_first.clone()).unwrap().origin, ProgramOrigin::Project);
        let found = at(false, evil_first).unwrap();
        assert_eq!((found.origin, found.program), (ProgramOrigin::Path, bin.join("the-server")));
        let installed = at(false, None).unwrap();
        assert_eq!(installed.origin, ProgramOrigin::Prefix);
        assert_eq!(installed.path_folders, [data.join("servers/key/current/venv/bin")]);
        std::fs::remove_dir_all(&data).unwrap();
        let error = at(false, None).unwrap_err().to_string();
        assert_eq!(
            error,
            "`the-server` is not trusted in the project's environment, where it is (lsp-tools trust) nor on PATH nor \
             installed by `lsp-tools install`"
        );
    }

    #[test]
    fn configured_program_inside_project_is_refused_when_untrusted() {
        let temp = tempfile::tempdir().unwrap();
        let project = temp.path().join("p");
        program(&project.join("tools/the-server"));
        program(&temp.path().join("elsewhere"));
        let workspace = Workspace::open(&project).unwrap();
        let root = workspace.path(Path::new("tools")).unwrap();
        let at = |command: &str, trusted: bool| {
            let server = ServerSpec { command: vec![command.to_owned()], ..server() };
            let pin = |path: &Path| trusted.then(|| some_pin(path));
            let path = ProgramPath::new(&workspace, OsStr::new(""));
            let places = ProgramSearchPlaces::new(&workspace, &root, temp.path(), &pin, path);
            let known = project_program(&workspace, &root, &server);
            (
                locate("key", &server, &places).map(|found| found.program).map_err(|error| error.to_string()),
                known,
            )
        };
        let inside = workspace.root().join("tools/the-server");
        assert_eq!(at("tools/the-server", true), (Ok(inside.clone()), Some(inside.clone())));
        let untrusted = "`tools/the-server` is not trusted as a program of the project (lsp-tools trust)";
        assert_eq!(at("tools/the-server", false), (Err(untrusted.to_owned()), Some(inside)));
        let elsewhere = temp.path().join("elsewhere");
        assert_eq!(at(elsewhere.to_str().unwrap(), false), (Ok(elsewhere), None));
        let missing = "`tools/none` is not a program at that path";
        assert_eq!(at("tools/none", true), (Err(missing.to_owned()), None));
    }

    #[test]
    fn toolchain_proxy_without_server_behind_it_is_skipped() {
        let temp = tempfile::tempdir().unwrap();
        let (bin, data) = (temp.path().join("bin"), temp.path().join("d"));
        std::fs::create_dir(temp.path().join("p")).unwrap();
        program(&bin.join("the-proxy"));
        symlink("the-proxy", bin.join("the-server")).unwrap();
        // The tests' own home has no such folder, so a variable that is always set names the
        // proxy's.
        let words =
            "program = 'the-proxy', variable = 'CARGO_MANIFEST_DIR', folder = 'none', behind = '*/bin'";
        let proxied: ServerSpec = toml::from_str(&format!(
            "name = 'S'\nlanguages = ['x']\ncommand = ['the-server']\nproxy = {{ {words} }}"
        ))
        .unwrap();
        let workspace = Workspace::open(&temp.path().join("p")).unwrap();
        let root = WorkspacePath::root();
        let at = |server: &ServerSpec| {
            let path = ProgramPath::new(&workspace, bin.as_os_str());
            let places = ProgramSearchPlaces::new(&workspace, &root, &data, &|_| None, path);
            locate("key", server, &places).map(|found| found.origin).map_err(|error| error.to_string())
        };
        assert_eq!(at(&server()), Ok(ProgramOrigin::Path), "a link like any other");
        let missing = at(&proxied).unwrap_err();
        assert!(
            missing.contains("nor behind its proxy") && missing.contains("/bin/the-server on PATH"),
            "{missing}"
        );
        assert!(is_proxy(&proxied, &bin.join("the-server")) && !is_proxy(&proxied, Path::new("/bin/sh")));
        program(&data.join("servers/key/current/rustup/bin/the-server"));
        assert_eq!(at(&proxied), Ok(ProgramOrigin::Prefix));
    }
}
