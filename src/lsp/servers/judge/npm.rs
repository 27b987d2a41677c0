//! Versions of packages of npm: installed in `node_modules`, locked by npm, pnpm, Yarn or Bun, or
//! required in `package.json`.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde::Deserialize;

use super::requirement::{VersionRequirement, is_version};
use super::{LockedVersions, MAX_LOCK_BYTES, MAX_MANIFEST_BYTES, ManifestReader, PinnedVersion};
use crate::workspace::{Workspace, WorkspacePath};

/// The file that makes a folder a package.
pub(super) const MANIFEST: &str = "package.json";
/// Lock files in npm's own format.
const NPM_LOCKS: [&str; 2] = ["package-lock.json", "npm-shrinkwrap.json"];
/// Lock files in which an entry is found by its text.
const OTHER_LOCKS: [&str; 3] = ["pnpm-lock.yaml", "yarn.lock", "bun.lock"];

/// The parts of `package.json` that state versions.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct NpmManifest {
    version: Option<String>,
    dependencies: HashMap<String, serde_json::Value>,
    dev_dependencies: HashMap<String, serde_json::Value>,
    peer_dependencies: HashMap<String, serde_json::Value>,
}

/// The parts of `package-lock.json` that state versions: of version 2 and later, and of version 1.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct NpmLockFile {
    packages: HashMap<String, LockedVersion>,
    dependencies: HashMap<String, LockedVersion>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct LockedVersion {
    version: Option<String>,
}

/// Returns the version of `package` that is installed in one of `folders`, else locked in one for
/// the first of them, else required in one; nearest first.
pub(super) fn pinned(
    reader: &mut ManifestReader<'_>,
    folders: &[WorkspacePath],
    package: &str,
) -> Option<PinnedVersion> {
    if let Some(found) = folders.iter().find_map(|folder| installed(reader, folder, package)) {
        return Some(found);
    }
    let asked = folders.iter().find_map(|folder| asked_for(reader, folder, package));
    let asker = (folders.first()?, asked.as_ref().map(|asked| &asked.requirement));
    folders.iter().find_map(|folder| locked(reader, folder, package, asker)).or(asked)
}

/// Returns the version of `package` beside the program `real`, whose links were followed.
pub(super) fn installed_around(real: &Path, package: &str) -> Option<String> {
    let modules = real.ancestors().filter(|folder| folder.ends_with("node_modules"));
    modules.into_iter().find_map(|folder| {
        let manifest = folder.join(package).join(MANIFEST);
        let text = Workspace::read_outside(&manifest, MAX_MANIFEST_BYTES).ok()?;
        serde_json::from_str::<NpmManifest>(&text).ok()?.version
    })
}

/// The manifest of an installed package, relative to the folder that it is installed in.
pub(super) fn installed_manifest(package: &str) -> String {
    format!("node_modules/{package}/{MANIFEST}")
}

fn installed(
    reader: &mut ManifestReader<'_>,
    folder: &WorkspacePath,
    package: &str,
) -> Option<PinnedVersion> {
    let file = installed_manifest(package);
    let text = reader.text(folder, &file, MAX_MANIFEST_BYTES)?;
    let version = text.and_then(|text| {
        let manifest: NpmManifest =
            serde_json::from_str(&text).map_err(|error| format!("it is not a package.json: {error}"))?;
        manifest.version.filter(|version| is_version(version)).ok_or_else(|| "it has no version".to_owned())
    });
    let requirement = version.map_or_else(VersionRequirement::Unreadable, VersionRequirement::Exact);
    Some(PinnedVersion::new(package, requirement, &folder.join(&file).ok()?))
}

/// Returns the version that the locks of `folder` hold for the folder of `asker`: in the lock of
/// npm by the place of the installation, in that of pnpm by the importer, elsewhere the only one
/// that its requirement admits.
fn locked(
    reader: &mut ManifestReader<'_>,
    folder: &WorkspacePath,
    package: &str,
    (asker, asked): (&WorkspacePath, Option<&VersionRequirement>),
) -> Option<PinnedVersion> {
    let within = asker.as_path().strip_prefix(folder.as_path()).ok()?;
    let is_admitted = |version: &str| match asked {
        None | Some(VersionRequirement::Unreadable(_)) => true,
        Some(asked) => asked.admits(version),
    };
    NPM_LOCKS.iter().chain(&OTHER_LOCKS).find_map(|file| {
        let versions = locked_versions(reader, folder, file, package)?;
        let in_place = |place: &Path| versions.iter().find(|(of, _)| of.as_deref() == Some(place));
        let unplaced = versions.iter().filter(|(of, version)| of.is_none() && is_admitted(version));
        let admitted: BTreeSet<&str> = unplaced.map(|(_, version)| version.as_str()).collect();
        let only = admitted.first().filter(|_| admitted.len() == 1).copied();
        let placed = within.ancestors().find_map(in_place).map(|(_, version)| version.as_str());
        let found = placed.filter(|version| is_admitted(version)).or(only)?;
        let requirement = VersionRequirement::Exact(found.to_owned());
        Some(PinnedVersion::new(package, requirement, &folder.join(file).ok()?))
    })
}

/// Returns the versions of `package` in a lock file, which is read once.
fn locked_versions(
    reader: &mut ManifestReader<'_>,
    folder: &WorkspacePath,
    file: &str,
    package: &str,
) -> Option<Rc<LockedVersions>> {
    let key = (folder.join(file).ok()?, package.to_owned());
    if let Some(known) = reader.locks.get(&key) {
        return Some(known.clone());
    }
    let text = reader.text(folder, file, MAX_LOCK_BYTES)?.ok()?;
    let mut versions = match NPM_LOCKS.contains(&file) {
        true => versions_in_npm_lock(&text, package),
        false => versions_in_text(&text, package),
    };
    versions.retain(|(_, version)| is_version(version));
    Some(reader.locks.entry(key).or_insert(versions.into()).clone())
}

fn versions_in_npm_lock(text: &str, package: &str) -> LockedVersions {
    let Ok(lock) = serde_json::from_str::<NpmLockFile>(text) else { return Vec::new() };
    let ending = format!("node_modules/{package}");
    let placed = lock.packages.into_iter().filter_map(|(place, locked)| {
        let place = place.strip_suffix(&ending)?.trim_end_matches('/');
        Some((Some(PathBuf::from(place)), locked.version?))
    });
    let mut versions: LockedVersions = placed.collect();
    let of_version_1 = lock.dependencies.get(package).and_then(|locked| locked.version.clone());
    versions.extend(of_version_1.map(|version| (Some(PathBuf::new()), version)));
    versions
}

/// Returns the versions in the entries of a package.
fn versions_in_text(text: &str, package: &str) -> LockedVersions {
    let (name, package) = (package, regex::escape(package));
    let pattern = [
        // Yarn: the entry's ranges on a line of their own, the version below.
        format!(r#"(?m)^"?{package}@[^\n]*:\r?\n\s+version:? "?([^"\s]+)"#),
        // pnpm: the version in the entry's name.
        format!(r#"(?m)^ +['"/]*{package}[@/](\d[^:('"\s]*)[^:\n]*:"#),
        // Bun: a list whose first text is the package with its version.
        format!(r#""(?:[^"\n]+/)?{package}": \["{package}@(\d[^"]*)""#),
    ]
    .join("|");
    let Ok(pattern) = regex::Regex::new(&pattern) else { return Vec::new() };
    let version = |found: regex::Captures<'_>| found.iter().flatten().nth(1).map(|it| it.as_str().to_owned());
    let unplaced = pattern.captures_iter(text).filter_map(version).map(|version| (None, version));
    unplaced.chain(versions_of_importers(text, name)).collect()
}

/// Returns the versions of a package that the importers in pnpm's lock, which are folders, have.
fn versions_of_importers(text: &str, package: &str) -> LockedVersions {
    let importers = text.split("\nimporters:").nth(1).and_then(|rest| rest.split("\npackages:").next());
    let folder = r#"^  ['"]?(?:\.|([^\s'":]+))['"]?:\s*$"#;
    let key = format!(r#"^      ['"]?{}['"]?:(?:\s+specifier: [^\n]*\s+version:)?"#, regex::escape(package));
    let pattern = regex::Regex::new(&format!(r#"(?m){folder}|{key} ['"]?(\d[^\s('"_]*)"#));
    let (mut place, mut versions) = (PathBuf::new(), Vec::new());
    for found in pattern.iter().flat_map(|it| it.captures_iter(importers.unwrap_or_default())) {
        match found.get(2) {
            Some(version) => versions.push((Some(place.clone()), version.as_str().to_owned())),
            None => place = found.get(1).map(|folder| folder.as_str().into()).unwrap_or_default(),
        }
    }
    versions
}

fn asked_for(
    reader: &mut ManifestReader<'_>,
    folder: &WorkspacePath,
    package: &str,
) -> Option<PinnedVersion> {
    let text = reader.text(folder, MANIFEST, MAX_MANIFEST_BYTES)?;
    let manifest = text.and_then(|text| {
        serde_json::from_str::<NpmManifest>(&text)
            .map_err(|error| format!("it cannot be read as JSON: {error}"))
    });
    let requirement = match manifest {
        Ok(manifest) => {
            let groups = [&manifest.dev_dependencies, &manifest.dependencies, &manifest.peer_dependencies];
            VersionRequirement::of_npm(groups.into_iter().find_map(|group| group.get(package))?.as_str()?)
        }
        Err(reason) => VersionRequirement::Unreadable(reason),
    };
    Some(PinnedVersion::new(package, requirement, &folder.join(MANIFEST).ok()?))
}
