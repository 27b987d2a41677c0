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

use crate::platform::canonicalize;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use self::requirement::VersionRequirement;
use crate::config::spec::{InstallSpec, JudgeRule, ServerSpec};
use crate::config::{Catalogue, ConfigMarker};
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
    /// The file, relative to the workspace, or the reason for the version without one.
    origin: String,
}

/// The result of a search for a pinned version.
#[derive(Debug, Clone, Default)]
pub(crate) struct PinLookup {
    /// The version; `None` if the project pins none.
    pub(crate) pinned: Option<PinnedVersion>,
    /// The versions that the project pins of the judge's companions.
    pub(crate) companions: Vec<PinnedVersion>,
    /// The files, existing or not, whose change may lead to another version.
    pub(crate) inspected_paths: BTreeSet<PathBuf>,
}

impl PinLookup {
    /// The name of the installation of `server` with the version, unless that is a range.
    pub(super) fn versioned_key(&self, server: &str) -> Option<String> {
        Some(versioned_key(server, self.pinned.as_ref()?.exact()?))
    }
}

/// The versions of a package in a lock file; those of npm and pnpm with the folder that they are
/// installed for, relative to the lock file.
type LockedVersions = Vec<(Option<PathBuf>, String)>;

/// Reads manifests and lock files, and records their paths.
struct ManifestReader<'a> {
    workspace: &'a Workspace,
    inspected_paths: BTreeSet<PathBuf>,
    /// The versions of a package in each lock file that was read.
    locks: BTreeMap<(WorkspacePath, String), Rc<LockedVersions>>,
}

impl<'a> ManifestReader<'a> {
    fn new(workspace: &'a Workspace) -> Self {
        Self { workspace, inspected_paths: BTreeSet::new(), locks: BTreeMap::new() }
    }

    /// Returns the version of the judge of `server` that the project at `root` pins: installed in
    /// the root or a folder above it, else locked there, else required there, else the newest
    /// release. A server that the project configures requires a version of its own.
    fn pinned(&mut self, root: &WorkspacePath, server: &ServerSpec) -> Option<PinnedVersion> {
        let rule = server.judge.as_ref()?;
        let folders: Vec<WorkspacePath> = root.ancestors().collect();
        let pinned = folders.iter().find_map(|folder| self.required(folder, rule));
        let pinned = pinned.or_else(|| npm::pinned(self, &folders, rule.npm.as_deref()?));
        let of_pip = rule.pip.as_deref().filter(|_| rule.program.is_none());
        let pinned = pinned.or_else(|| pypi::pinned(self, &folders, of_pip?));
        let is_configured = || {
            let mut signs = server.configured_by.iter();
            signs.any(|sign| folders.iter().any(|folder| sign.is_in(self.workspace, folder)))
        };
        match pinned {
            Some(pinned) => Some(pinned.newest_of(&rule.releases)),
            None if rule.releases.is_empty() || is_configured() => None,
            None => Some(PinnedVersion::newest(rule)),
        }
    }

    /// Returns the version that settings in `folder` require.
    fn required(&mut self, folder: &WorkspacePath, rule: &JudgeRule) -> Option<PinnedVersion> {
        rule.required_by.iter().find_map(|marker| {
            let text = self.text(folder, marker.file(), MAX_MANIFEST_BYTES)?.ok()?;
            let said: String = serde_json::from_str(&marker.value_in(&text)?).ok()?;
            let requirement = match marker.file().ends_with(".json") {
                true => VersionRequirement::of_npm(&said),
                false => VersionRequirement::of_setting(&said, rule.at_least),
            };
            Some(PinnedVersion::new(rule.package(), requirement, &folder.join(marker.file()).ok()?))
        })
    }

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

/// Returns the version of the judge of `server` that the project at `root` pins.
pub(crate) fn pinned_version(workspace: &Workspace, root: &WorkspacePath, server: &ServerSpec) -> PinLookup {
    let mut reader = ManifestReader::new(workspace);
    let pinned = reader.pinned(root, server);
    let folders: Vec<WorkspacePath> = root.ancestors().collect();
    let names = server.judge.iter().flat_map(|rule| rule.companions.keys());
    let companions = names.filter_map(|name| npm::pinned(&mut reader, &folders, name)).collect();
    PinLookup { pinned, companions, inspected_paths: reader.inspected_paths }
}

/// The versions that a project pins at one root, each looked up once, because several servers run
/// the same package.
#[derive(Debug, Default)]
pub(crate) struct PinLookups {
    of_root: RefCell<BTreeMap<PinKey, Rc<PinLookup>>>,
    own_roots: RefCell<BTreeMap<PinKey, Rc<OwnRoots>>>,
}

/// A judge without the versions that a server works with, which do not affect the pin, and the
/// signs of projects that want the server.
type PinKey = (JudgeRule, Vec<ConfigMarker>);

/// Packages that have another version of a judge than the folders above them, outer ones first, and
/// the files that decide it.
pub(super) type OwnRoots = (Vec<WorkspacePath>, BTreeSet<PathBuf>);

impl PinLookups {
    /// The version of the judge of `server`, as [`pinned_version`] finds it; `None` for a server
    /// without a judge.
    pub(super) fn find(
        &self,
        workspace: &Workspace,
        root: &WorkspacePath,
        server: &ServerSpec,
    ) -> Option<Rc<PinLookup>> {
        let mut known = self.of_root.borrow_mut();
        let found = known.entry(pin_key(server)?);
        Some(found.or_insert_with(|| pinned_version(workspace, root, server).into()).clone())
    }

    /// The packages among `folders` that have a version of their own; `None` for a server without a
    /// judge.
    pub(super) fn own_roots(
        &self,
        workspace: &Workspace,
        folders: &[PathBuf],
        server: &ServerSpec,
    ) -> Option<Rc<OwnRoots>> {
        let mut known = self.own_roots.borrow_mut();
        let found = known.entry(pin_key(server)?);
        Some(found.or_insert_with(|| own_roots(workspace, folders, server).into()).clone())
    }
}

fn pin_key(server: &ServerSpec) -> Option<PinKey> {
    let package = JudgeRule { from_major: None, before_major: None, ..server.judge.clone()? };
    Some((package, server.configured_by.clone()))
}

fn own_roots(workspace: &Workspace, folders: &[PathBuf], server: &ServerSpec) -> OwnRoots {
    let Some((rule, package)) = server.judge.as_ref().and_then(|rule| rule.npm.as_ref().map(|it| (rule, it)))
    else {
        return OwnRoots::default();
    };
    // Without known releases, only an installed version counts as a package's own.
    let manifests = [npm::MANIFEST.to_owned(), npm::installed_manifest(package)];
    let signs = &manifests[usize::from(rule.releases.is_empty())..];
    let mut reader = ManifestReader::new(workspace);
    let root = WorkspacePath::root();
    let mut known = vec![(reader.pinned(&root, server), root)];
    for folder in folders.iter().filter_map(|folder| workspace.workspace_path(folder)) {
        let mut signs = signs.iter().map(|sign| workspace.absolute(&folder).join(sign));
        if folder.is_root() || !signs.any(|sign| sign.exists()) {
            continue;
        }
        let pinned = reader.pinned(&folder, server);
        let version = |pinned: &Option<PinnedVersion>| pinned.as_ref().map(|it| it.requirement.to_string());
        let above = known.iter().rfind(|(_, above)| folder.starts_with(above));
        if above.is_none_or(|(above, _)| version(above) != version(&pinned)) {
            known.push((pinned, folder));
        }
    }
    (known.into_iter().skip(1).map(|(_, folder)| folder).collect(), reader.inspected_paths)
}

/// The judge that a session runs.
#[derive(Debug)]
pub(crate) struct SessionJudge {
    /// Package and version ("typescript 5.9.3"), if the version is known.
    pub(crate) name: Option<String>,
    /// The reason why its answers are partial, if the project pins another version.
    pub(crate) difference: Option<String>,
    /// True if it does not report settings of the project that its command line refuses.
    pub(crate) is_silent: bool,
}

impl SessionJudge {
    /// The judge of `rule` in `version`, run by a server of the catalogue for a project with this
    /// pin.
    pub(super) fn new(
        rule: &JudgeRule,
        version: Option<String>,
        catalogue: &Catalogue,
        (server, pinned): (&str, Option<&PinnedVersion>),
    ) -> Self {
        let difference = pinned.and_then(|pinned| pinned.difference(catalogue, server, version.as_deref()));
        let reports = |first: &String| {
            let later = VersionRequirement::of_setting(first, true);
            version.as_ref().is_some_and(|version| later.admits(version))
        };
        let is_silent = rule.silent_before.as_ref().is_some_and(|first| !reports(first));
        Self { name: version.map(|version| rule.name_with(&version)), difference, is_silent }
    }
}

/// Returns the version of the package of `rule` that `program` runs, read from the packages around
/// it, or from the file `VERSION` of its installation; `None` if it was not installed so.
pub(crate) fn judging_version(rule: &JudgeRule, program: &Path) -> Option<String> {
    let real = canonicalize(program).ok()?;
    let of_npm = || npm::installed_around(&real, rule.npm.as_deref()?);
    let of_file = || {
        let file = real.parent()?.parent()?.join("VERSION");
        let text =
            rule.program.is_some().then(|| Workspace::read_outside(&file, MAX_MANIFEST_BYTES))?.ok()?;
        Some(text.lines().next()?.trim_start_matches(rule.package()).to_owned())
    };
    of_npm().or_else(|| pypi::installed_around(&real, rule.pip.as_deref()?)).or_else(of_file)
}

/// Returns the reason why answers of `server`, whose program is `program`, are partial if the
/// project pins another version of one of its `companions`.
pub(crate) fn companion_difference(
    catalogue: &Catalogue,
    (server, rule): (&str, &JudgeRule),
    program: &Path,
    companions: &[PinnedVersion],
) -> Option<String> {
    let real = canonicalize(program).ok();
    companions.iter().find_map(|pinned| {
        let loaded = rule.companions.get(&pinned.package);
        let version =
            real.as_ref().zip(loaded).and_then(|(real, loaded)| npm::installed_around(real, loaded));
        pinned.difference(catalogue, server, version.as_deref())
    })
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
        Self { package: package.to_owned(), requirement, origin: file.display().to_string() }
    }

    /// The newest release, for a project that states no version.
    fn newest(rule: &JudgeRule) -> Self {
        let requirement = VersionRequirement::of_npm("*").newest_of(&rule.releases);
        let origin = "the newest release, since the project pins none".to_owned();
        Self { package: rule.package().to_owned(), requirement, origin }
    }

    /// The newest of `releases` in its range, if it has one.
    fn newest_of(self, releases: &[String]) -> Self {
        let requirement = self.requirement.newest_of(releases);
        let is_range = matches!(requirement, VersionRequirement::Newest(..));
        let origin = if is_range { format!("the newest release for {}", self.origin) } else { self.origin };
        Self { requirement, origin, ..self }
    }

    /// The version, unless it is a range.
    pub(crate) fn exact(&self) -> Option<&str> {
        self.requirement.exact()
    }

    /// The version, or the oldest of a range.
    pub(crate) fn oldest(&self) -> Option<String> {
        self.requirement.oldest()
    }

    /// Returns the version, if a server with `rule` loads it from the project's installed packages.
    pub(super) fn loaded_by(&self, rule: &JudgeRule) -> Option<String> {
        let is_installed = self.origin.ends_with(&npm::installed_manifest(&self.package));
        self.exact().filter(|_| rule.loads_installed && is_installed).map(str::to_owned)
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
        let (package, origin, wanted) = (&self.package, &self.origin, &self.requirement);
        if let VersionRequirement::Unreadable(reason) = wanted {
            return Some(format!("the project's version of {package} is unknown: {reason} ({origin})"));
        }
        if judging.is_some_and(|version| wanted.admits(version)) {
            return None;
        }
        let remedy = self.missing_installation(catalogue, server, judging);
        let remedy = remedy.map(|key| format!("; run: lsp-tools install {key}")).unwrap_or_default();
        let judging = judging.unwrap_or("of unknown version");
        Some(format!("{package} {judging} answered, but the project uses {wanted} ({origin}){remedy}"))
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
        // The usual installation may have that version.
        let packages = [format!("{}@{version}", self.package), format!("{}=={version}", self.package)];
        let usual = catalogue.servers.get(key).map(|spec| spec.install.npm.iter().chain(&spec.install.pip));
        let is_usual = usual.is_some_and(|mut usual| usual.any(|package| packages.contains(package)));
        Some(if is_usual { key.to_owned() } else { versioned_key(key, version) })
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
