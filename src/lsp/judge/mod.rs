//! The version of a compiler, checker or linter that a project pins, and the version that a server
//! runs.
//!
//! Contents: [`pinned_version`] (from installed packages, lock files and ranges; [`npm`] and
//! [`pypi`] read those of each ecosystem), [`VersionRequirement`] (the admitted versions) and
//! [`judging_version`] (the package that a program belongs to). May use: `config`, `workspace`,
//! [`python`](super::python). Reads files; runs nothing.
//!
//! Data flow: the input is the `judge` table of a server and a folder; the result is a
//! [`PinLookup`] with the files that determined it, so that a server can be restarted when one of
//! them changes.

mod npm;
mod pypi;
mod requirement;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use self::requirement::VersionRequirement;
use super::package_folders::package_folders;
use crate::config::Catalogue;
use crate::config::spec::{InstallSpec, JudgeRule, ServerSpec};
use crate::workspace::{ReadError, Workspace, WorkspacePath};

/// The largest manifest that is read, in bytes.
const MAX_MANIFEST_BYTES: u64 = 1 << 20;
/// The largest lock file that is read, in bytes.
const MAX_LOCK_BYTES: u64 = 32 << 20;

/// A version that a project pins, and the file that pins it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PinnedVersion {
    /// The package.
    package: String,
    /// The versions that the file states.
    requirement: VersionRequirement,
    /// The file, relative to the workspace.
    file: String,
}

/// The result of a search for a pinned version.
#[derive(Debug, Clone, Default)]
pub(crate) struct PinLookup {
    /// The version; `None` if the project pins none.
    pub(crate) pinned: Option<PinnedVersion>,
    /// The files, existing or not, whose change may lead to another version.
    pub(crate) inspected_paths: BTreeSet<PathBuf>,
}

impl PinLookup {
    /// The name of the installation of `server` with the version, if that is one and no range.
    pub(super) fn versioned_key(&self, server: &str) -> Option<String> {
        Some(versioned_key(server, self.pinned.as_ref()?.exact()?))
    }
}

/// Reads manifests and lock files, and records their paths.
struct ManifestReader<'a> {
    workspace: &'a Workspace,
    inspected_paths: BTreeSet<PathBuf>,
}

impl ManifestReader<'_> {
    /// Reads `name` in `folder`; `None` if it does not exist. Errors: the reason why it cannot be
    /// read.
    fn text(&mut self, folder: &WorkspacePath, name: &str, limit: u64) -> Option<Result<String, String>> {
        let path = folder.join(name).ok()?;
        let absolute = self.workspace.absolute(&path);
        self.inspected_paths.insert(absolute.clone());
        // Most of the files do not exist.
        absolute.symlink_metadata().ok()?;
        match self.workspace.read_text_up_to(&path, limit) {
            Ok(file) => Some(Ok(file.text)),
            Err(ReadError::NotFound { .. }) => None,
            Err(error) => Some(Err(error.to_string())),
        }
    }
}

/// Returns the version of the package of `rule` that the project at `root` pins: installed in the
/// root or a folder above it, else locked there, else required there.
pub(crate) fn pinned_version(workspace: &Workspace, root: &WorkspacePath, rule: &JudgeRule) -> PinLookup {
    let mut reader = ManifestReader { workspace, inspected_paths: BTreeSet::new() };
    let folders: Vec<WorkspacePath> =
        std::iter::successors(Some(root.clone()), WorkspacePath::parent).collect();
    let of_npm = rule.npm.as_deref().and_then(|package| npm::pinned(&mut reader, &folders, package));
    let pinned = of_npm.or_else(|| {
        let package = rule.pip.as_deref()?;
        pypi::pinned(&mut reader, &folders, package, &rule.required_by)
    });
    PinLookup { pinned, inspected_paths: reader.inspected_paths }
}

/// The versions that a project pins at one root, each looked up once, because several servers run
/// the same package.
#[derive(Debug, Default)]
pub(crate) struct PinLookups(RefCell<BTreeMap<JudgeRule, Rc<PinLookup>>>);

impl PinLookups {
    /// The version of the package of `rule`, as [`pinned_version`] finds it.
    pub(super) fn find(
        &self,
        workspace: &Workspace,
        root: &WorkspacePath,
        rule: &JudgeRule,
    ) -> Rc<PinLookup> {
        // The versions that a server works with do not affect the pin.
        let package = JudgeRule { from_major: None, before_major: None, ..rule.clone() };
        let mut known = self.0.borrow_mut();
        let found =
            known.entry(package).or_insert_with_key(|rule| pinned_version(workspace, root, rule).into());
        found.clone()
    }
}

/// The version that the project at `root` pins for `server`; `None` for a server without a judge.
pub(crate) fn pinned_for(
    workspace: &Workspace,
    root: &WorkspacePath,
    server: &ServerSpec,
) -> Option<PinnedVersion> {
    pinned_version(workspace, root, server.judge.as_ref()?).pinned
}

/// The pinned versions of a project, root first, then of the packages in it that have a version of
/// their own.
pub(crate) type ProjectPins = Vec<(WorkspacePath, Option<PinnedVersion>)>;

/// The versions that the project at `root` and the packages in it pin for `server`, and the files
/// that decide them.
pub(crate) fn project_pins(
    workspace: &Workspace,
    root: &WorkspacePath,
    server: &ServerSpec,
) -> (ProjectPins, BTreeSet<PathBuf>) {
    let Some(rule) = &server.judge else { return <_>::default() };
    let found = pinned_version(workspace, root, rule);
    let (mut pins, mut inspected) = (vec![(root.clone(), found.pinned)], found.inspected_paths);
    // If one session serves the whole root, a package may have a version of its own.
    let installed = rule.npm.iter().filter(|_| !server.root_workspaces.is_empty());
    for package in installed {
        let folders = package_folders(&workspace.absolute(root)).into_iter().skip(1);
        for folder in folders.filter(|folder| folder.join(npm::MANIFEST).exists()) {
            let own = folder.join("node_modules").join(package);
            let is_own = own.exists();
            inspected.insert(own);
            if let Some(folder) = workspace.workspace_path(&folder).filter(|_| is_own) {
                let found = pinned_version(workspace, &folder, rule);
                inspected.extend(found.inspected_paths);
                pins.push((folder, found.pinned));
            }
        }
    }
    (pins, inspected)
}

/// The judge that a session runs, and the folders of the project that pin another version of it.
#[derive(Debug)]
pub(crate) struct SessionJudge {
    /// Package and version ("typescript 5.9.3"), if the version is known.
    pub(super) name: Option<String>,
    /// For each folder with a pin of its own, the reason why answers about it are partial.
    differences: Vec<(WorkspacePath, Option<String>)>,
}

impl SessionJudge {
    /// The judge of `rule` in `version`, run by a server of the catalogue for a project with these
    /// pins.
    pub(super) fn new(
        rule: &JudgeRule,
        version: Option<String>,
        catalogue: &Catalogue,
        (server, pins): (&str, &[(WorkspacePath, Option<PinnedVersion>)]),
    ) -> Self {
        let difference = |pin: &PinnedVersion| pin.difference(catalogue, server, version.as_deref());
        let differences =
            pins.iter().map(|(folder, pin)| (folder.clone(), pin.as_ref().and_then(difference))).collect();
        Self { name: version.map(|version| rule.name_with(&version)), differences }
    }

    /// The reason why answers about `path` are partial: the version pinned nearest above it is
    /// another one.
    pub(super) fn difference_for(&self, path: &WorkspacePath) -> Option<&str> {
        let above =
            self.differences.iter().filter(|(folder, _)| path.as_path().starts_with(folder.as_path()));
        above.max_by_key(|(folder, _)| folder.as_path().as_os_str().len())?.1.as_deref()
    }
}

/// Returns the version of the package of `rule` that `program` runs, read from the packages around
/// it; `None` if it was not installed as such a package.
pub(crate) fn judging_version(rule: &JudgeRule, program: &Path) -> Option<String> {
    let real = program.canonicalize().ok()?;
    let of_npm = || npm::installed_around(&real, rule.npm.as_deref()?);
    of_npm().or_else(|| pypi::installed_around(&real, rule.pip.as_deref()?))
}

/// The compiler, checker or linter that `program` of `server` runs, with its version ("typescript
/// 5.9.3").
pub(crate) fn judge_of(server: &ServerSpec, program: &Path) -> Option<String> {
    let rule = server.judge.as_ref()?;
    Some(rule.name_with(&judging_version(rule, program)?))
}

impl JudgeRule {
    /// The package with a version of it.
    fn name_with(&self, version: &str) -> String {
        format!("{} {version}", self.package())
    }

    /// Returns true if the server works with `version`.
    pub(crate) fn works_with(&self, version: &str) -> bool {
        let major = version.split('.').next().and_then(|major| major.parse::<u64>().ok());
        major.is_none_or(|major| {
            self.from_major.is_none_or(|from| from <= major)
                && self.before_major.is_none_or(|before| major < before)
        })
    }

    /// Returns true if `program` is of a version with which the server works, or of an unknown one.
    pub(crate) fn admits_program(&self, program: &Path) -> bool {
        judging_version(self, program).is_none_or(|version| self.works_with(&version))
    }
}

impl PinnedVersion {
    fn new(package: &str, requirement: VersionRequirement, file: &WorkspacePath) -> Self {
        Self { package: package.to_owned(), requirement, file: file.display().to_string() }
    }

    /// The version, if it is one and no range.
    pub(crate) fn exact(&self) -> Option<&str> {
        match &self.requirement {
            VersionRequirement::Exact(version) => Some(version),
            _ => None,
        }
    }

    /// Returns true if a server with `rule` works with a version that the project admits.
    pub(crate) fn is_served_by(&self, rule: &JudgeRule) -> bool {
        match self.exact() {
            Some(version) => rule.works_with(version),
            None => self.requirement.allows_majors(rule.from_major, rule.before_major),
        }
    }

    /// Returns the reason why answers of `server` in version `judging` are partial; `None` if the
    /// project admits that version.
    fn difference(&self, catalogue: &Catalogue, server: &str, judging: Option<&str>) -> Option<String> {
        let (package, file, wanted) = (&self.package, &self.file, &self.requirement);
        if let VersionRequirement::Unreadable(reason) = wanted {
            return Some(format!("the project's version of {package} is unknown: {reason}"));
        }
        if judging.is_some_and(|version| wanted.admits(version)) {
            return None;
        }
        let remedy = self.missing_installation(catalogue, server, judging);
        let remedy = remedy.map(|key| format!("; run: lsp-tools install {key}")).unwrap_or_default();
        let judging = judging.unwrap_or("of unknown version");
        Some(format!("{package} {judging} answered, but the project uses {wanted} ({file}){remedy}"))
    }

    /// Returns the installation with the pinned version that `server`, which runs `judging`, lacks:
    /// its own, else that of another server of its languages. `None` if it runs that version, or
    /// none is available.
    pub(super) fn missing_installation(
        &self,
        catalogue: &Catalogue,
        server: &str,
        judging: Option<&str>,
    ) -> Option<String> {
        let version =
            self.exact().filter(|_| !judging.is_some_and(|version| self.requirement.admits(version)))?;
        let others = alternatives_of(catalogue, server);
        let mut keys = std::iter::once(server).chain(others);
        let key = keys.find(|key| is_installable_at(catalogue, key, &self.package, version))?;
        Some(versioned_key(key, version))
    }
}

/// The servers that may take the place of `server`, best first.
fn alternatives_of<'a>(catalogue: &'a Catalogue, server: &str) -> impl Iterator<Item = &'a str> {
    let languages = catalogue.servers.get(server).map(|spec| spec.languages.iter()).into_iter().flatten();
    let languages = languages.filter_map(|language| catalogue.languages.get(language));
    languages.flat_map(|language| language.alternatives.iter().map(String::as_str))
}

/// Returns true if `lsp-tools install` can install `server` with `version` of `package`.
fn is_installable_at(catalogue: &Catalogue, server: &str, package: &str, version: &str) -> bool {
    let Some(spec) = catalogue.servers.get(server).filter(|spec| !spec.disabled) else { return false };
    let Some(rule) = spec.judge.as_ref().filter(|rule| rule.package() == package) else { return false };
    requirement::is_version(version)
        && rule.works_with(version)
        && spec.install.at_version(rule, version).is_some()
}

/// The installation that `name@version` means, where `name` is a server, a language or the package
/// that a server runs.
pub(crate) fn installation_of(catalogue: &Catalogue, name: &str, version: &str) -> Option<String> {
    let named = catalogue.servers_to_install(name).into_iter();
    let running = catalogue
        .servers
        .iter()
        .filter(|(_, spec)| spec.judge.as_ref().is_some_and(|rule| rule.package() == name));
    let first: Vec<&str> = named.chain(running.map(|(key, _)| key.as_str())).collect();
    let others = first.iter().flat_map(|key| alternatives_of(catalogue, key));
    let package = |key: &str| Some(catalogue.servers.get(key)?.judge.as_ref()?.package().to_owned());
    let key = first.iter().copied().chain(others).find(|key| {
        package(key).is_some_and(|package| is_installable_at(catalogue, key, &package, version))
    })?;
    Some(versioned_key(key, version))
}

/// The name of an installation of `server` with one version of its judge: "ruff@0.9.3".
pub(crate) fn versioned_key(server: &str, version: &str) -> String {
    format!("{server}@{version}")
}

/// The server and the version of an installation's name.
pub(crate) fn split_versioned_key(key: &str) -> (&str, Option<&str>) {
    let parts = key.rsplit_once('@').filter(|(server, _)| !server.is_empty());
    parts.map_or((key, None), |(server, version)| (server, Some(version)))
}

/// The server of an installation's name, with the recipe of that version.
pub(crate) fn server_at_version(catalogue: &Catalogue, key: &str) -> Option<Box<ServerSpec>> {
    let (server, version) = split_versioned_key(key);
    let spec = catalogue.servers.get(server)?;
    let Some(version) = version.filter(|version| requirement::is_version(version)) else {
        return version.is_none().then(|| Box::new(spec.clone()));
    };
    let install = spec.install.at_version(spec.judge.as_ref()?, version)?;
    Some(Box::new(ServerSpec { install, ..spec.clone() }))
}

impl InstallSpec {
    /// Returns the recipe with `version` of the package of `rule`; `None` if the recipe does not
    /// name the package.
    pub(crate) fn at_version(&self, rule: &JudgeRule, version: &str) -> Option<Self> {
        let mut install = self.clone();
        let mut replaced = false;
        for (packages, name, sign) in
            [(&mut install.npm, &rule.npm, "@"), (&mut install.pip, &rule.pip, "==")]
        {
            let Some(prefix) = name.as_ref().map(|name| format!("{name}{sign}")) else { continue };
            for package in packages.iter_mut().filter(|package| package.starts_with(&prefix)) {
                *package = format!("{prefix}{version}");
                replaced = true;
            }
        }
        install.or.clear();
        replaced.then_some(install)
    }
}

#[cfg(test)]
mod tests;
