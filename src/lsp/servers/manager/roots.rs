//! The project root that a server is started for.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::SystemTime;

use dashmap::DashMap;

use super::python::wants_python;
use super::setup::ManagerSetup;
use super::{SlotKey, python};
use crate::config::catalogue::marker::ConfigMarker;
use crate::config::spec::ServerSpec;
use crate::text::{build_glob_set, read_glob};
use crate::workspace::{FileStamp, Workspace, WorkspacePath};

/// The maximum number of projects whose dependencies by path are read.
const MAX_DEPENDENCIES: usize = 100;

/// The root of each queried folder, by server and folder. A search for every marker in every folder
/// above is too slow for a warm answer; a check that none of these folders changed is not.
#[derive(Debug, Default)]
pub(super) struct RootCache(DashMap<SlotKey, CachedRoot>);

#[derive(Debug)]
struct CachedRoot {
    root: Option<WorkspacePath>,
    /// The stamps of the folder and those above it, from before the search for the root. A new file
    /// in one of them changes its stamp.
    folders: Vec<Option<FileStamp>>,
    /// The files in them that are examined.
    files: Vec<(WorkspacePath, FileStamp)>,
}

impl RootCache {
    /// Like [`root_of`], from the cache if it is still valid.
    pub(super) fn root_for(
        &self,
        setup: &ManagerSetup,
        key: &str,
        server: &ServerSpec,
        path: &WorkspacePath,
    ) -> Option<WorkspacePath> {
        self.root_with(&setup.workspace, key, server, path, |root| python::environment_of(setup, root))
    }

    fn root_with(
        &self,
        workspace: &Workspace,
        key: &str,
        server: &ServerSpec,
        path: &WorkspacePath,
        environment: impl Fn(&WorkspacePath) -> Option<PathBuf>,
    ) -> Option<WorkspacePath> {
        let folder = path.parent().unwrap_or_else(WorkspacePath::root);
        let above = || folders_above(path);
        let stamp = |file: &WorkspacePath| workspace.stamp(file).ok();
        let folders: Vec<Option<FileStamp>> = above().map(|folder| workspace.folder_stamp(&folder)).collect();
        let key = SlotKey { server: key.to_owned(), root: folder.clone(), holder: None };
        let is_same = |known: &CachedRoot| {
            known.folders == folders
                && known.files.iter().all(|(file, seen)| stamp(file).as_ref() == Some(seen))
        };
        if let Some(known) = self.0.get(&key).filter(|known| is_same(known)) {
            return known.root.clone();
        }
        let now = SystemTime::now();
        let signs = server.root_workspaces.iter().chain(&server.weak_root_markers.within);
        let signs = signs.chain(server.configured_by.iter().filter(|_| server.root_required));
        let names: BTreeSet<&str> = signs.filter_map(ConfigMarker::section_file).collect();
        let looked_into = above()
            .flat_map(|folder| names.iter().filter_map(|name| folder.join(name).ok()).collect::<Vec<_>>());
        let files: Vec<_> = looked_into.filter_map(|file| stamp(&file).map(|seen| (file, seen))).collect();
        let root = root_of(workspace, server, path, environment);
        // A folder that changed a moment ago may change again without a new stamp.
        let mut stamps = folders.iter().flatten().chain(files.iter().map(|(_, seen)| seen));
        if stamps.all(|stamp| stamp.is_settled(now)) {
            self.0.insert(key, CachedRoot { root: root.clone(), folders, files });
        }
        root
    }
}

/// Finds the root for `path`.
///
/// This is the nearest (or topmost, depending on the catalogue) folder above it, inside the
/// workspace, that has a sign of a project of projects, unless the marked folder within it has
/// another Python environment (`environment` of a folder). Otherwise it is the nearest one with one
/// of the server's markers (the topmost one, depending on the catalogue). A package within it that
/// pins another version of the server's judge comes before it. Without any it is the workspace
/// itself, or `None` if a marker is required.
fn root_of(
    workspace: &Workspace,
    server: &ServerSpec,
    path: &WorkspacePath,
    environment: impl Fn(&WorkspacePath) -> Option<PathBuf>,
) -> Option<WorkspacePath> {
    let above = || folders_above(path);
    let is_workspace =
        |folder: &WorkspacePath| server.root_workspaces.iter().any(|sign| sign.is_in(workspace, folder));
    let mut marked = above().filter(|folder| has_marker(workspace, server, folder));
    let mut workspaces = above().filter(is_workspace);
    let found = if server.root_workspaces_topmost { workspaces.last() } else { workspaces.next() };
    let found = match found {
        Some(folder) if is_excluded(workspace, server, &folder, path) => marked.next(),
        Some(folder) => {
            let has_other_environment = |inner: &WorkspacePath| {
                wants_python(server) && *inner != folder && environment(inner) != environment(&folder)
            };
            marked.next().filter(has_other_environment).or(Some(folder))
        }
        None if server.root_topmost => marked.last(),
        None => marked.next(),
    };
    let own = server.own_roots.iter().rfind(|folder| path.starts_with(folder));
    let own = own.filter(|own| found.as_ref().is_none_or(|found| own.starts_with(found))).cloned();
    own.or(found).or_else(|| (!server.root_required).then(WorkspacePath::root))
}

fn is_excluded(
    workspace: &Workspace,
    server: &ServerSpec,
    folder: &WorkspacePath,
    path: &WorkspacePath,
) -> bool {
    let Some(list) = &server.root_excludes else { return false };
    let mut excluded = list.list_in(workspace, folder).into_iter();
    excluded.any(|name| folder.join(&name).is_ok_and(|name| path.as_path().starts_with(name.as_path())))
}

/// Returns the folder of the project that `path` is in, if its root does not list it among its own.
pub(super) fn unlisted_project(
    workspace: &Workspace,
    server: &ServerSpec,
    path: &WorkspacePath,
    root: &WorkspacePath,
) -> Option<WorkspacePath> {
    let list = server.root_members.as_ref()?;
    let project = project_of(workspace, server, path);
    if project == *root {
        return None;
    }
    let members = list.list_in(workspace, root);
    let within = project.as_path().strip_prefix(root.as_path()).ok()?;
    let globs = members.iter().filter_map(|glob| read_glob(glob.trim_end_matches('/'), |_| ()).ok());
    let is_member = globs.filter_map(|glob| build_glob_set([glob]).ok()).any(|glob| glob.is_match(within));
    (!is_member && !is_dependency(workspace, server, root, &project)).then_some(project)
}

/// Returns true if the project in `root`, or one that it depends on by path, depends on `project`.
fn is_dependency(
    workspace: &Workspace,
    server: &ServerSpec,
    root: &WorkspacePath,
    project: &WorkspacePath,
) -> bool {
    let Some(tables) = &server.root_dependencies else { return false };
    let (mut next, mut visited) = (vec![root.clone()], BTreeSet::new());
    while let Some(folder) = next.pop() {
        if folder == *project {
            return true;
        }
        if visited.len() < MAX_DEPENDENCIES && visited.insert(folder.clone()) {
            let paths = tables.texts_in_tables(workspace, &folder);
            let folders = paths.iter().map(|path| workspace.absolute(&folder).join(path));
            next.extend(folders.filter_map(|folder| workspace.path(&folder).ok()));
        }
    }
    false
}

/// Returns the folder of the project that `path` is in, which may be one of several within a root:
/// the nearest that has one of the server's markers.
pub(super) fn project_of(workspace: &Workspace, server: &ServerSpec, path: &WorkspacePath) -> WorkspacePath {
    folders_above(path)
        .find(|folder| has_marker(workspace, server, folder))
        .unwrap_or_else(WorkspacePath::root)
}

/// The folder of `path` and those above it, up to the workspace's root; of the root, itself.
fn folders_above(path: &WorkspacePath) -> impl Iterator<Item = WorkspacePath> {
    path.parent().unwrap_or_else(WorkspacePath::root).ancestors()
}

fn has_marker(workspace: &Workspace, server: &ServerSpec, folder: &WorkspacePath) -> bool {
    let absolute = workspace.absolute(folder);
    let is_there = |marker: &&String| match marker.strip_prefix('*') {
        // `*.csproj`: any file with that ending.
        Some(ending) => std::fs::read_dir(&absolute).is_ok_and(|entries| {
            entries.flatten().any(|entry| entry.file_name().to_string_lossy().ends_with(ending))
        }),
        None => absolute.join(marker).symlink_metadata().is_ok(),
    };
    let rule = &server.weak_root_markers;
    let mut found = server.root_markers.iter().filter(is_there).peekable();
    let is_part = || {
        let mut above = folder.ancestors().skip(1);
        above.any(|folder| rule.within.iter().any(|sign| sign.is_in(workspace, &folder)))
    };
    let is_named =
        found.peek().is_some() && (found.any(|marker| !rule.markers.contains(marker)) || !is_part());
    is_named || server.is_marked_by_settings(workspace, folder)
}

#[cfg(test)]
mod tests {
    use crate::platform::files::symlink;
    use std::fs;
    use std::path::Path;
    use std::time::Duration;

    use super::*;
    use crate::config::Catalogue;

    fn put(workspace: &Workspace, path: &str, text: &str) {
        let file = workspace.root().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    #[test]
    #[cfg_attr(windows, ignore = "Wine makes no links")]
    fn root_cache_sees_created_and_removed_root_markers() {
        let temp = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(temp.path()).unwrap();
        let folder = workspace.root().join("sub/inner");
        fs::create_dir_all(&folder).unwrap();
        let path = workspace.path(Path::new("sub/inner/a.py")).unwrap();
        let server = &Catalogue::built_in().servers["pylsp"];
        let roots = RootCache::default();
        let root = || roots.root_with(&workspace, "pylsp", server, &path, |_| None).unwrap().display();
        let remembered = || {
            // Waits longer than the time for which the stamp of a folder that just changed proves
            // nothing.
            std::thread::sleep(Duration::from_millis(60));
            let known = root();
            assert_eq!(roots.0.len(), 1);
            known
        };
        assert_eq!(remembered(), ".");
        fs::create_dir(workspace.root().join("sub/.git")).unwrap();
        assert_eq!(remembered(), "sub");
        fs::write(folder.join("setup.py"), "").unwrap();
        assert_eq!(remembered(), "sub/inner");
        fs::remove_file(folder.join("setup.py")).unwrap();
        assert_eq!(remembered(), "sub");
        symlink("nowhere", folder.join(".git")).unwrap();
        assert_eq!(root(), "sub/inner");
    }

    #[test]
    fn required_marker_in_workspace_root_counts_for_root_itself() {
        let temp = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(temp.path()).unwrap();
        put(&workspace, "biome.json", "{}");
        let server = &Catalogue::built_in().servers["biome"];
        let roots = RootCache::default();
        let root = |path| roots.root_with(&workspace, "biome", server, &path, |_| None);
        // Waits until the stamp of the folder that just changed proves something.
        std::thread::sleep(Duration::from_millis(60));
        assert_eq!(root(WorkspacePath::root()), Some(WorkspacePath::root()));
        assert_eq!(root(workspace.path(Path::new("a.js")).unwrap()), Some(WorkspacePath::root()));
    }

    #[test]
    fn python_project_without_configuration_belongs_to_configured_one_above_it() {
        let temp = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(temp.path()).unwrap();
        let put = |path: &str, text: &str| put(&workspace, path, text);
        let environment = |root: &WorkspacePath| {
            crate::lsp::servers::python::search(&workspace, root, &Default::default()).environment
        };
        let root = |server: &str, path: &str| {
            let path = workspace.path(Path::new(path)).unwrap();
            let environment = |root: &WorkspacePath| environment(root).map(|found| found.folder);
            root_of(&workspace, &Catalogue::built_in().servers[server], &path, environment).unwrap().display()
        };
        put("pyproject.toml", "[project]\nname = \"all\"\n");
        put("one/pyproject.toml", "[project]\nname = \"one\"\n");
        put("two/pyproject.toml", "[project]\nname = \"two\"\n[tool.pyright]\nstrict = []\n");
        assert_eq!(root("pyright", "one/src/a.py"), "one");
        put("pyproject.toml", "[project]\nname = \"all\"\n[tool.pyright]\nstrict = []\n");
        for server in ["pyright", "basedpyright"] {
            assert_eq!(root(server, "one/src/a.py"), ".", "{server}");
            assert_eq!(root(server, "two/src/a.py"), "two", "{server}");
            assert_eq!(root(server, "a.py"), ".", "{server}");
        }
        assert_eq!(root("ty", "one/src/a.py"), "one", "it is not configured by that");
        put("one/.venv/pyvenv.cfg", "home = /usr/bin\n");
        put("one/.venv/bin/python", "");
        assert_eq!(root("pyright", "one/src/a.py"), "one", "it has an environment of its own");
    }

    #[test]
    fn requirements_within_a_package_mark_no_project_of_their_own() {
        const SERVERS: [&str; 7] =
            ["pyright", "basedpyright", "ty", "pyrefly", "pylsp", "zuban", "jedi-language-server"];
        let temp = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(temp.path()).unwrap();
        let roots = RootCache::default();
        let root = |server: &str, path: &str| {
            let path = workspace.path(Path::new(path)).unwrap();
            let spec = &Catalogue::built_in().servers[server];
            roots.root_with(&workspace, server, spec, &path, |_| None).unwrap().display()
        };
        put(&workspace, "tests/requirements.txt", "pytest\n");
        put(&workspace, "service/app/requirements.txt", "flask\n");
        put(&workspace, "service/app/setup.py", "");
        put(&workspace, "pyproject.toml", "[tool.ruff]\n");
        for server in SERVERS {
            assert_eq!(root(server, "tests/test_a.py"), "tests", "{server}: that is no package");
        }
        put(&workspace, "pyproject.toml", "[project]\nname = \"a\"\n");
        for server in SERVERS {
            assert_eq!(root(server, "tests/test_a.py"), ".", "{server}");
            assert_eq!(root(server, "service/app/a.py"), "service/app", "{server}: a package of its own");
        }
    }

    #[test]
    fn cargo_workspace_is_one_root_and_standalone_package_another() {
        let temp = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(temp.path()).unwrap();
        let put = |path: &str, text: &str| put(&workspace, path, text);
        let root = |server: &str, path: &str| {
            let server = &Catalogue::built_in().servers[server];
            root_of(&workspace, server, &workspace.path(Path::new(path)).unwrap(), |_| None)
                .map(|root| root.display())
        };
        put("rust/Cargo.toml", "[workspace]\nmembers = [\"one\"]\n");
        put("rust/one/Cargo.toml", "[package]\nname = \"one\"\n");
        put("rust/fuzz/Cargo.toml", "[package]\nname = \"fuzz\"\n[workspace]\n");
        assert_eq!(root("rust-analyzer", "rust/one/src/lib.rs").as_deref(), Some("rust"));
        assert_eq!(root("rust-analyzer", "rust/fuzz/src/main.rs").as_deref(), Some("rust/fuzz"));
        put("rust/Cargo.toml", "[workspace]\nmembers = [\"one\", \"in/*\"]\nexclude = [\"stray\"]\n");
        put("rust/stray/Cargo.toml", "[package]\nname = \"stray\"\n");
        assert_eq!(root("rust-analyzer", "rust/stray/src/lib.rs").as_deref(), Some("rust/stray"));
        let outside = |path: &str| {
            let server = &Catalogue::built_in().servers["rust-analyzer"];
            let path = workspace.path(Path::new(path)).unwrap();
            let root = root_of(&workspace, server, &path, |_| None).unwrap();
            unlisted_project(&workspace, server, &path, &root).map(|project| project.display())
        };
        put("rust/in/two/Cargo.toml", "[package]\nname = \"two\"\n");
        put("rust/lost/Cargo.toml", "[package]\nname = \"lost\"\n");
        for path in ["rust/one/src/lib.rs", "rust/in/two/src/lib.rs", "rust/stray/src/lib.rs"] {
            assert_eq!(outside(path), None, "{path}");
        }
        assert_eq!(outside("rust/lost/src/lib.rs").as_deref(), Some("rust/lost"));
        put(
            "plain/Cargo.toml",
            "[package]\nname = \"a\"\n[target.'cfg(unix)'.dependencies]\nb = { path = \"b\" }\n",
        );
        put("plain/b/Cargo.toml", "[package]\nname = \"b\"\n[dev-dependencies.c]\npath = \"../in/c\"\n");
        put("plain/in/c/Cargo.toml", "[package]\nname = \"c\"\n[dependencies]\na = { path = \"../..\" }\n");
        put("plain/d/Cargo.toml", "[package]\nname = \"d\"\n");
        assert_eq!(outside("plain/b/src/lib.rs"), None, "a dependency by path");
        assert_eq!(outside("plain/in/c/src/lib.rs"), None, "one of that");
        assert_eq!(outside("plain/d/src/lib.rs").as_deref(), Some("plain/d"));
        put("web/package.json", "{\"workspaces\": [\"*\"]}");
        put("web/ui/tsconfig.json", "{}");
        put("web/ui/package.json", "{}");
        put("lone/package.json", "{}");
        let typescript = "typescript-language-server";
        assert_eq!(root(typescript, "web/ui/src/a.ts").as_deref(), Some("web"));
        assert_eq!(root(typescript, "lone/a.js").as_deref(), Some("lone"));
        put("go/go.work", "go 1.24\n");
        put("go/lib/go.mod", "module lib\n");
        assert_eq!(root("gopls", "go/lib/lib.go").as_deref(), Some("go"));
        // The present content of a marker file counts.
        let roots = RootCache::default();
        let server = &Catalogue::built_in().servers[typescript];
        let path = workspace.path(Path::new("web/api/a.js")).unwrap();
        put("web/api/package.json", "{}");
        assert_eq!(
            roots.root_with(&workspace, typescript, server, &path, |_| None).unwrap().display(),
            "web"
        );
        put("web/package.json", "{}");
        assert_eq!(
            roots.root_with(&workspace, typescript, server, &path, |_| None).unwrap().display(),
            "web/api"
        );
    }
}
