//! The files that a project's settings let the command line of a server check.

use std::path::Path;

use globset::GlobSet;

use crate::config::catalogue::marker::ConfigMarker;
use crate::config::spec::ServerSpec;
use crate::text::{build_glob_set, read_glob};
use crate::workspace::{Workspace, WorkspacePath};

/// The files of a project that a server checks. Globs are relative to the project and cover
/// everything below a match.
#[derive(Debug)]
pub(crate) struct CheckScope {
    /// The included files; all if `None`.
    includes: Option<GlobSet>,
    excludes: Option<GlobSet>,
}

impl CheckScope {
    /// Returns true if settings of a project can exclude files from the server's check.
    pub(crate) fn is_limited_by(spec: &ServerSpec) -> bool {
        !spec.diagnostics.includes.is_empty() || !spec.diagnostics.excludes.is_empty()
    }

    /// Reads the settings of `project`.
    pub(crate) fn read(workspace: &Workspace, spec: &ServerSpec, project: &WorkspacePath) -> Self {
        let globs = |markers: &[ConfigMarker]| glob_set(&configured_list(markers, workspace, project));
        Self { includes: globs(&spec.diagnostics.includes), excludes: globs(&spec.diagnostics.excludes) }
    }

    /// Returns true if a file is checked. Both the file and the folder given by name, if any, are
    /// relative to the project.
    pub(crate) fn has(&self, file: &Path, named: Option<&Path>) -> bool {
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
