//! Versions of packages of npm: installed in `node_modules`, locked by npm, pnpm, Yarn or Bun, or
//! required in `package.json`.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use serde::Deserialize;

use super::requirement::{VersionRequirement, is_version};
use super::{MAX_LOCK_BYTES, MAX_MANIFEST_BYTES, ManifestReader, PinnedVersion};
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

/// A reader of a package's version in one kind of file of a folder; also returns the file's name.
type PinReader = fn(&mut ManifestReader<'_>, &WorkspacePath, &str) -> Option<(VersionRequirement, String)>;

/// Returns the version of `package` that is installed in one of `folders`, else locked in one, else
/// required in one; nearest first.
pub(super) fn pinned(
    reader: &mut ManifestReader<'_>,
    folders: &[WorkspacePath],
    package: &str,
) -> Option<PinnedVersion> {
    let ways: [PinReader; 3] = [installed, locked, asked_for];
    ways.iter().find_map(|way| {
        folders.iter().find_map(|folder| {
            let (requirement, file) = way(reader, folder, package)?;
            Some(PinnedVersion::new(package, requirement, &folder.join(&file).ok()?))
        })
    })
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

fn installed(
    reader: &mut ManifestReader<'_>,
    folder: &WorkspacePath,
    package: &str,
) -> Option<(VersionRequirement, String)> {
    let file = format!("node_modules/{package}/{MANIFEST}");
    let text = reader.text(folder, &file, MAX_MANIFEST_BYTES)?;
    let version = text.and_then(|text| {
        let manifest: NpmManifest =
            serde_json::from_str(&text).map_err(|error| format!("it is not a package.json: {error}"))?;
        manifest.version.filter(|version| is_version(version)).ok_or_else(|| "it has no version".to_owned())
    });
    Some((version.map_or_else(VersionRequirement::Unreadable, VersionRequirement::Exact), file))
}

fn locked(
    reader: &mut ManifestReader<'_>,
    folder: &WorkspacePath,
    package: &str,
) -> Option<(VersionRequirement, String)> {
    let mut version_in = |file: &str, version: fn(&str, &str) -> Option<String>| {
        let text = reader.text(folder, file, MAX_LOCK_BYTES)?.ok()?;
        let found = version(&text, package).filter(|version| is_version(version))?;
        Some((VersionRequirement::Exact(found), file.to_owned()))
    };
    let own = NPM_LOCKS.iter().find_map(|file| version_in(file, version_in_npm_lock));
    own.or_else(|| OTHER_LOCKS.iter().find_map(|file| version_in(file, version_in_text)))
}

fn version_in_npm_lock(text: &str, package: &str) -> Option<String> {
    let mut lock: NpmLockFile = serde_json::from_str(text).ok()?;
    let entry = lock.packages.remove(&format!("node_modules/{package}"));
    entry.or_else(|| lock.dependencies.remove(package))?.version
}

/// Returns the version in the entries of a package, if all have the same.
fn version_in_text(text: &str, package: &str) -> Option<String> {
    let package = regex::escape(package);
    let pattern = [
        // Yarn: the entry's ranges on a line of their own, the version below.
        format!(r#"(?m)^"?{package}@[^\n]*:\r?\n\s+version:? "?([^"\s]+)"#),
        // pnpm: the version in the entry's name.
        format!(r#"(?m)^ +['"/]*{package}[@/](\d[^:('"\s]*)[^:\n]*:"#),
        // Bun: a list whose first text is the package with its version.
        format!(r#""{package}": \["{package}@(\d[^"]*)""#),
    ]
    .join("|");
    let pattern = regex::Regex::new(&pattern).ok()?;
    let versions: BTreeSet<&str> = pattern
        .captures_iter(text)
        .filter_map(|found| Some(found.iter().flatten().nth(1)?.as_str()))
        .collect();
    if versions.len() == 1 { versions.first().map(|version| (*version).to_owned()) } else { None }
}

fn asked_for(
    reader: &mut ManifestReader<'_>,
    folder: &WorkspacePath,
    package: &str,
) -> Option<(VersionRequirement, String)> {
    let file = MANIFEST.to_owned();
    let text = match reader.text(folder, &file, MAX_MANIFEST_BYTES)? {
        Ok(text) => text,
        Err(reason) => return Some((VersionRequirement::Unreadable(reason), file)),
    };
    let manifest: NpmManifest = match serde_json::from_str(&text) {
        Ok(manifest) => manifest,
        Err(error) => {
            let reason = format!("it cannot be read as JSON: {error}");
            return Some((VersionRequirement::Unreadable(reason), file));
        }
    };
    let groups = [&manifest.dev_dependencies, &manifest.dependencies, &manifest.peer_dependencies];
    let range = groups.into_iter().find_map(|group| group.get(package))?.as_str()?;
    Some((VersionRequirement::of_npm(range)?, file))
}
