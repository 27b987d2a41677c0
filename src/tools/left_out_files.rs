//! Files of a folder that a project's settings exclude from a server's check, as its command line
//! does.
//!
//! A file that is given by name is checked in any case: servers check all files that an editor
//! opens. The same holds for a folder within a project: `include` does not count there, nor an
//! `exclude` that contains the folder. The command lines do the same.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use globset::GlobSet;

use super::context::{Context, LanguageFile};
use crate::config::marker::ConfigMarker;
use crate::config::spec::ServerSpec;
use crate::text::{build_glob_set, read_glob};
use crate::workspace::{Workspace, WorkspacePath};

/// The files that are left out, by server.
#[derive(Debug, Clone, Default)]
pub(crate) struct LeftOutFiles(BTreeMap<String, BTreeSet<WorkspacePath>>);

impl LeftOutFiles {
    /// Returns true if `server` is not to check `path`.
    pub(crate) fn has(&self, server: &str, path: &WorkspacePath) -> bool {
        self.0.get(server).is_some_and(|files| files.contains(path))
    }

    /// One sentence for each server.
    pub(crate) fn notes(&self) -> impl Iterator<Item = String> {
        self.0.iter().filter_map(|(server, files)| {
            let first = files.first()?.display();
            Some(match files.len() {
                1 => format!("the settings of {server} in the project leave out {first}; name it to check it"),
                several => format!(
                    "the settings of {server} in the project leave out {several} of the files ({first}, …); name one to check it"
                ),
            })
        })
    }
}

/// The check scopes of the projects of some files.
pub(crate) struct CheckScopes<'a> {
    context: &'a Context,
    /// The folders given by name.
    folders: Vec<WorkspacePath>,
    /// The scopes, by server and project.
    known: BTreeMap<(String, WorkspacePath), CheckScope>,
    /// The files excluded so far.
    pub left_out: LeftOutFiles,
}

impl<'a> CheckScopes<'a> {
    /// The scopes for files in the given `folders`.
    pub(crate) fn new(context: &'a Context, folders: Vec<WorkspacePath>) -> Self {
        Self { context, folders, known: BTreeMap::new(), left_out: LeftOutFiles::default() }
    }

    /// Returns true if the settings exclude `file` from the check of every server that would
    /// check it. Each server's exclusion is recorded.
    pub(crate) fn leaves_out(&mut self, file: &LanguageFile) -> bool {
        let servers = self.context.servers_for(file, |features| features.diagnostics);
        let mut is_checked = servers.is_empty();
        for (server, spec) in servers {
            if self.is_in_scope(server, spec, &file.path) {
                is_checked = true;
            } else {
                self.left_out.0.entry(server.to_owned()).or_default().insert(file.path.clone());
            }
        }
        !is_checked
    }

    /// Returns true if the settings of the project let `server` check `path`.
    fn is_in_scope(&mut self, server: &str, spec: &ServerSpec, path: &WorkspacePath) -> bool {
        let rule = &spec.diagnostics;
        if rule.includes.is_empty() && rule.excludes.is_empty() {
            return true;
        }
        let project = self.context.manager.root(server, path);
        let within =
            |path: &WorkspacePath| path.as_path().strip_prefix(project.as_path()).ok().map(ToOwned::to_owned);
        let is_named =
            |folder: &&WorkspacePath| **folder != project && path.as_path().starts_with(folder.as_path());
        let named = self.folders.iter().filter(is_named).find_map(within);
        let key = (server.to_owned(), project.clone());
        let read = || CheckScope::read(&self.context.workspace, spec, &project);
        let scope = self.known.entry(key).or_insert_with(read);
        within(path).is_none_or(|within| scope.has(&within, named.as_deref()))
    }
}

/// The files of a project that a server checks. Globs are relative to the project and cover
/// everything below a match.
struct CheckScope {
    /// The included files; all if `None`.
    includes: Option<GlobSet>,
    excludes: Option<GlobSet>,
}

impl CheckScope {
    fn read(workspace: &Workspace, spec: &ServerSpec, project: &WorkspacePath) -> Self {
        let globs = |markers: &[ConfigMarker]| glob_set(&configured_list(markers, workspace, project));
        Self { includes: globs(&spec.diagnostics.includes), excludes: globs(&spec.diagnostics.excludes) }
    }

    /// Returns true if a file is checked. Both the file and the folder given by name, if any, are
    /// relative to the project.
    fn has(&self, file: &Path, named: Option<&Path>) -> bool {
        let is_in = |globs: &GlobSet, path: &Path| path.ancestors().any(|part| globs.is_match(part));
        let is_included = named.is_some() || self.includes.as_ref().is_none_or(|globs| is_in(globs, file));
        let is_excluded = self
            .excludes
            .as_ref()
            .is_some_and(|globs| is_in(globs, file) && !named.is_some_and(|folder| is_in(globs, folder)));
        is_included && !is_excluded
    }
}

/// The list in the first existing configuration file; later ones are ignored.
fn configured_list(markers: &[ConfigMarker], workspace: &Workspace, project: &WorkspacePath) -> Vec<String> {
    let is_there = |marker: &&ConfigMarker| {
        project.join(marker.file()).is_ok_and(|file| workspace.absolute(&file).exists())
    };
    let Some(first) = markers.iter().find(is_there) else { return Vec::new() };
    let own = markers.iter().filter(|marker| marker.file() == first.file());
    own.map(|marker| marker.list_in(workspace, project)).find(|list| !list.is_empty()).unwrap_or_default()
}

/// A matcher for `globs`. `None` if there are none, or if one covers the whole project or is
/// invalid, so that an unknown glob excludes nothing.
fn glob_set(globs: &[String]) -> Option<GlobSet> {
    let names = globs.iter().map(|glob| glob.trim_start_matches("./").trim_end_matches('/'));
    let mut read = Vec::new();
    for name in names {
        if matches!(name, "" | "." | "**") {
            return None;
        }
        read.push(
            read_glob(name, |builder| {
                builder.literal_separator(true);
            })
            .ok()?,
        );
    }
    if read.is_empty() { None } else { build_glob_set(read).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Catalogue;

    /// The files that pyright checks if the project has `settings` in a file of this name.
    fn checked(name: &str, settings: &str) -> Vec<&'static str> {
        checked_in(None, name, settings)
    }

    /// The files that pyright checks if a folder in the project was given by name.
    fn checked_in(named: Option<&str>, name: &str, settings: &str) -> Vec<&'static str> {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("pyproject.toml"), "[tool.pyright]\ninclude = [\"docs\"]\n")
            .expect("a file");
        std::fs::write(folder.path().join(name), settings).expect("a file");
        let workspace = Workspace::open(folder.path()).expect("a workspace");
        let catalogue = Catalogue::built_in();
        let scope = CheckScope::read(&workspace, &catalogue.servers["pyright"], &WorkspacePath::root());
        let files = ["setup.py", "src/shop/cart.py", "src/shop/old/cart.py", "docs/conf.py"];
        files.into_iter().filter(|file| scope.has(Path::new(file), named.map(Path::new))).collect()
    }

    #[test]
    fn files_outside_include_or_in_exclude_are_not_checked() {
        let shop = ["src/shop/cart.py", "src/shop/old/cart.py"];
        assert_eq!(checked("pyproject.toml", "[tool.pyright]\ninclude = [\"src/shop\"]\n"), shop);
        assert_eq!(checked("pyproject.toml", "[tool.pyright]\ninclude = [\"./src/\"]\n"), shop);
        assert_eq!(
            checked("pyproject.toml", "[tool.pyright]\ninclude = [\"*/shop\"]\nexclude = [\"**/old\"]\n"),
            shop[..1]
        );
        assert_eq!(
            checked("pyrightconfig.json", "{\"include\": [\"src\"]} // ours\n"),
            shop,
            "and pyproject.toml says nothing"
        );
        let all = ["setup.py", "src/shop/cart.py", "src/shop/old/cart.py", "docs/conf.py"];
        for everything in
            ["", "[tool.pyright]\ninclude = [\".\"]\n", "[tool.pyright]\ninclude = 3\n", "not TOML"]
        {
            assert_eq!(checked("pyproject.toml", everything), all, "{everything}");
        }
        assert_eq!(
            checked("pyrightconfig.json", "{\"strict\": []}"),
            all,
            "pyproject.toml counts only without it"
        );
    }

    #[test]
    fn named_folder_is_checked_whatever_settings_include() {
        let docs =
            |settings: &str| checked_in(Some("docs"), "pyproject.toml", settings).contains(&"docs/conf.py");
        assert!(docs("[tool.pyright]\ninclude = [\"src\"]\n"));
        assert!(docs("[tool.pyright]\nexclude = [\"docs\"]\n"), "it lies in what is left out, and was named");
        let old = "[tool.pyright]\nexclude = [\"**/old\"]\n";
        assert!(!checked_in(Some("src"), "pyproject.toml", old).contains(&"src/shop/old/cart.py"));
    }
}
