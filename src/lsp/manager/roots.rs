//! The project root that a server is started for.

use std::time::SystemTime;

use dashmap::DashMap;

use super::SlotKey;
use crate::config::marker::ConfigMarker;
use crate::config::spec::ServerSpec;
use crate::text::{build_glob_set, read_glob};
use crate::workspace::{FileStamp, Workspace, WorkspacePath};

/// The root of each folder that was asked about, by server and folder. Looking for every marker in every folder above
/// costs more than a warm answer may; seeing that none of these folders got or lost an entry does not.
#[derive(Debug, Default)]
pub(super) struct RootCache(DashMap<SlotKey, CachedRoot>);

#[derive(Debug)]
struct CachedRoot {
    root: Option<WorkspacePath>,
    /// The folder, those above it, and the files in them that are looked into, as they were before the root was looked for.
    seen: Vec<Option<FileStamp>>,
}

impl RootCache {
    /// As [`root_of`], from memory where that still holds.
    pub(super) fn root_for(
        &self,
        workspace: &Workspace,
        key: &str,
        server: &ServerSpec,
        path: &WorkspacePath,
    ) -> Option<WorkspacePath> {
        let folder = path.parent().unwrap_or_else(WorkspacePath::root);
        let above = std::iter::successors(Some(folder.clone()), WorkspacePath::parent);
        let looked_into = || server.root_workspaces.iter().filter_map(ConfigMarker::section_file);
        let seen: Vec<Option<FileStamp>> = above
            .flat_map(|folder| {
                let files = looked_into().map(|file| workspace.stamp(&folder.join(file).ok()?).ok());
                std::iter::once(workspace.folder_stamp(&folder)).chain(files).collect::<Vec<_>>()
            })
            .collect();
        let key = SlotKey { server: key.to_owned(), root: folder, holder: None };
        if let Some(known) = self.0.get(&key).filter(|known| known.seen == seen) {
            return known.root.clone();
        }
        let now = SystemTime::now();
        let root = root_of(workspace, server, path);
        // What changed a moment ago may change again and look the same.
        if seen.iter().flatten().all(|stamp| stamp.is_settled(now)) {
            self.0.insert(key, CachedRoot { root: root.clone(), seen });
        }
        root
    }
}

/// The root for `path`: the nearest (or topmost, as the catalogue says) folder above it, inside the workspace, that has a sign of
/// a project of projects; else the nearest one that has one of the server's markers (the topmost one where the catalogue says so); the workspace itself where
/// none has, or `None` where a marker is required.
pub(super) fn root_of(
    workspace: &Workspace,
    server: &ServerSpec,
    path: &WorkspacePath,
) -> Option<WorkspacePath> {
    let above = || std::iter::successors(path.parent(), WorkspacePath::parent);
    let is_workspace =
        |folder: &WorkspacePath| server.root_workspaces.iter().any(|sign| sign.is_in(workspace, folder));
    let mut marked = above().filter(|folder| has_marker(workspace, server, folder));
    let mut workspaces = above().filter(is_workspace);
    let found = if server.root_workspaces_topmost { workspaces.last() } else { workspaces.next() };
    let found = match found {
        Some(folder) if is_excluded(workspace, server, &folder, path) => marked.next(),
        Some(folder) => Some(folder),
        None if server.root_topmost => marked.last(),
        None => marked.next(),
    };
    found.or_else(|| (!server.root_required).then(WorkspacePath::root))
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

/// The folder of the project that `path` is in, where it is none of those that its root names as its own.
pub(super) fn unlisted_project(
    workspace: &Workspace,
    server: &ServerSpec,
    path: &WorkspacePath,
) -> Option<WorkspacePath> {
    let list = server.root_members.as_ref()?;
    let (root, project) = (root_of(workspace, server, path)?, project_of(workspace, server, path));
    if project == root {
        return None;
    }
    let members = list.list_in(workspace, &root);
    let within = project.as_path().strip_prefix(root.as_path()).ok()?;
    let globs = members.iter().filter_map(|glob| read_glob(glob.trim_end_matches('/'), |_| ()).ok());
    let is_member = globs.filter_map(|glob| build_glob_set([glob]).ok()).any(|glob| glob.is_match(within));
    (!is_member).then_some(project)
}

/// The folder of the project that `path` is in, which may be one of several within a root: the nearest that has one of the
/// server's markers.
pub(super) fn project_of(workspace: &Workspace, server: &ServerSpec, path: &WorkspacePath) -> WorkspacePath {
    let mut above = std::iter::successors(path.parent(), WorkspacePath::parent);
    above.find(|folder| has_marker(workspace, server, folder)).unwrap_or_else(WorkspacePath::root)
}

fn has_marker(workspace: &Workspace, server: &ServerSpec, folder: &WorkspacePath) -> bool {
    let absolute = workspace.absolute(folder);
    server.root_markers.iter().any(|marker| match marker.strip_prefix('*') {
        // `*.csproj`: any file with that ending.
        Some(ending) => std::fs::read_dir(&absolute).is_ok_and(|entries| {
            entries.flatten().any(|entry| entry.file_name().to_string_lossy().ends_with(ending))
        }),
        None => absolute.join(marker).symlink_metadata().is_ok(),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::time::Duration;

    use super::*;
    use crate::config::Catalogue;

    #[test]
    fn root_cache_sees_created_and_removed_root_markers() {
        let temp = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(temp.path()).unwrap();
        let folder = workspace.root().join("sub/inner");
        fs::create_dir_all(&folder).unwrap();
        let path = workspace.path(Path::new("sub/inner/a.py")).unwrap();
        let server = &Catalogue::built_in().servers["pylsp"];
        let roots = RootCache::default();
        let root = || roots.root_for(&workspace, "pylsp", server, &path).unwrap().display();
        let remembered = || {
            // Longer than the time in which a folder that just changed is looked at again.
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
        std::os::unix::fs::symlink("nowhere", folder.join(".git")).unwrap();
        assert_eq!(root(), "sub/inner");
    }

    #[test]
    fn cargo_workspace_is_one_root_and_standalone_package_another() {
        let temp = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(temp.path()).unwrap();
        let put = |path: &str, text: &str| {
            let file = workspace.root().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        let root = |server: &str, path: &str| {
            let server = &Catalogue::built_in().servers[server];
            root_of(&workspace, server, &workspace.path(Path::new(path)).unwrap()).map(|root| root.display())
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
            unlisted_project(&workspace, server, &workspace.path(Path::new(path)).unwrap())
                .map(|project| project.display())
        };
        put("rust/in/two/Cargo.toml", "[package]\nname = \"two\"\n");
        put("rust/lost/Cargo.toml", "[package]\nname = \"lost\"\n");
        for path in ["rust/one/src/lib.rs", "rust/in/two/src/lib.rs", "rust/stray/src/lib.rs"] {
            assert_eq!(outside(path), None, "{path}");
        }
        assert_eq!(outside("rust/lost/src/lib.rs").as_deref(), Some("rust/lost"));
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
        // A file that is looked into counts as it is now.
        let roots = RootCache::default();
        let server = &Catalogue::built_in().servers[typescript];
        let path = workspace.path(Path::new("web/api/a.js")).unwrap();
        put("web/api/package.json", "{}");
        assert_eq!(roots.root_for(&workspace, typescript, server, &path).unwrap().display(), "web");
        put("web/package.json", "{}");
        assert_eq!(roots.root_for(&workspace, typescript, server, &path).unwrap().display(), "web/api");
    }
}
