//! Versions of packages of PyPI: required by settings, installed in the project's environment,
//! locked, or listed as requirements.

use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use super::requirement::{VersionRequirement, is_version};
use super::{MAX_LOCK_BYTES, MAX_MANIFEST_BYTES, ManifestReader, PinnedVersion};
use crate::lsp::servers::python;
use crate::lsp::servers::python::{Libraries, UserWord};
use crate::workspace::WorkspacePath;

/// Lock files of uv, Poetry and PDM, which have the same form.
const LOCKS: [&str; 3] = ["uv.lock", "poetry.lock", "pdm.lock"];
/// The file that describes a project.
const PROJECT: &str = "pyproject.toml";
/// Files that list requirements, one in each line.
const REQUIREMENTS: [&str; 6] = [
    "requirements-dev.txt",
    "dev-requirements.txt",
    "requirements/dev.txt",
    "requirements_dev.txt",
    "requirements-test.txt",
    "requirements.txt",
];

/// The parts of a lock file that state versions.
#[derive(Debug, Deserialize)]
struct PythonLock {
    #[serde(default)]
    package: Vec<LockedDistribution>,
}

#[derive(Debug, Deserialize)]
struct LockedDistribution {
    name: String,
    version: Option<String>,
}

/// Returns the version of `package` in the project's environment, else that of a lock file in one
/// of `folders`, else the pin of a list of requirements.
pub(super) fn pinned(
    reader: &mut ManifestReader<'_>,
    folders: &[WorkspacePath],
    package: &str,
) -> Option<PinnedVersion> {
    in_environment(reader, folders.first()?, package)
        .or_else(|| folders.iter().find_map(|folder| locked(reader, folder, package)))
        .or_else(|| folders.iter().find_map(|folder| listed(reader, folder, package)))
}

/// Returns the version of `package` in the environment of the program `real`, whose links were
/// followed.
pub(super) fn installed_around(real: &Path, package: &str) -> Option<String> {
    let environment = real.parent()?.parent()?;
    let libraries = std::fs::read_dir(environment.join("lib")).ok()?;
    libraries.flatten().find_map(|python| version_among(&python.path().join("site-packages"), package))
}

fn in_environment(
    reader: &mut ManifestReader<'_>,
    root: &WorkspacePath,
    package: &str,
) -> Option<PinnedVersion> {
    let found = python::search(reader.workspace, root, &UserWord::default());
    reader.inspected_paths.extend(found.inspected_paths);
    let environment = found.environment?;
    let libraries = Libraries::discover(reader.workspace, &environment);
    reader.inspected_paths.extend(libraries.installed_in.iter().cloned());
    let version = libraries.installed_in.iter().find_map(|folder| version_among(folder, package))?;
    let folder = reader.workspace.workspace_path(&environment.folder)?;
    Some(PinnedVersion::new(package, VersionRequirement::Exact(version), &folder))
}

/// The version of `package` in a folder of packages, by the name of its metadata.
fn version_among(folder: &Path, package: &str) -> Option<String> {
    let entries = std::fs::read_dir(folder).ok()?;
    entries.flatten().find_map(|entry| {
        let name = entry.file_name();
        let (name, version) = name.to_str()?.strip_suffix(".dist-info")?.split_once('-')?;
        (normalized(name) == normalized(package) && is_version(version)).then(|| version.to_owned())
    })
}

fn locked(reader: &mut ManifestReader<'_>, folder: &WorkspacePath, package: &str) -> Option<PinnedVersion> {
    LOCKS.iter().find_map(|file| {
        let text = reader.text(folder, file, MAX_LOCK_BYTES)?.ok()?;
        if crate::text::toml_fault(&text).is_some() {
            return None;
        }
        let lock: PythonLock = toml::from_str(&text).ok()?;
        let named = |locked: &LockedDistribution| normalized(&locked.name) == normalized(package);
        let version = lock.package.into_iter().find(named)?.version.filter(|version| is_version(version))?;
        Some(PinnedVersion::new(package, VersionRequirement::Exact(version), &folder.join(file).ok()?))
    })
}

fn listed(reader: &mut ManifestReader<'_>, folder: &WorkspacePath, package: &str) -> Option<PinnedVersion> {
    std::iter::once(PROJECT).chain(REQUIREMENTS).find_map(|file| {
        let text = reader.text(folder, file, MAX_MANIFEST_BYTES)?.ok()?;
        let lines = if file == PROJECT { dependencies(&text)?.join("\n") } else { text };
        let requirement = lines.lines().find_map(|line| requirement_of(line, package))?;
        Some(PinnedVersion::new(package, requirement, &folder.join(file).ok()?))
    })
}

/// The dependencies that a `pyproject.toml` states, one in each text.
fn dependencies(text: &str) -> Option<Vec<String>> {
    if crate::text::toml_fault(text).is_some() {
        return None;
    }
    let table: toml::Table = toml::from_str(text).ok()?;
    let project = table.get("project");
    let groups = [project.and_then(|it| it.get("optional-dependencies")), table.get("dependency-groups")];
    let groups = groups.into_iter().flatten().filter_map(|it| it.as_table()).flat_map(|it| it.values());
    let lists = groups.chain(project.and_then(|project| project.get("dependencies")));
    let texts = lists.filter_map(|list| list.as_array()).flatten();
    Some(texts.filter_map(|text| text.as_str().map(str::to_owned)).collect())
}

/// The requirement in a line of a list, if it is about `package` and limits its version.
fn requirement_of(line: &str, package: &str) -> Option<VersionRequirement> {
    static LINE: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"^\s*([A-Za-z0-9._-]+)\s*(?:\[[^\]]*\])?\s*([=<>!~][^;#\\]*)").ok());
    let found = LINE.as_ref()?.captures(line)?;
    let (name, specifiers) = (found.get(1)?.as_str(), found.get(2)?.as_str());
    (normalized(name) == normalized(package)).then(|| VersionRequirement::of_python(specifiers))?
}

/// A package's name as PyPI compares it.
fn normalized(name: &str) -> String {
    name.to_lowercase().replace(['_', '.'], "-")
}
