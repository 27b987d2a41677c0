//! Versions of packages of PyPI: required by settings, installed in the project's environment,
//! locked, or listed as requirements.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use regex::Regex;
use serde_json::Value;

use super::requirement::{VersionRequirement, is_version};
use super::{MAX_LOCK_BYTES, MAX_MANIFEST_BYTES, ManifestReader, PinnedVersion};
use crate::config::settings_of;
use crate::lsp::servers::python;
use crate::lsp::servers::python::{Libraries, UserWord};
use crate::workspace::{ListQuery, WorkDeadline, WorkspacePath};

/// Lock files of uv, Poetry, PDM, pip and Pipenv, of which all but the last have the same form.
const LOCKS: [&str; 5] = ["uv.lock", "poetry.lock", "pdm.lock", "pylock.toml", PIPENV_LOCK];
const PIPENV_LOCK: &str = "Pipfile.lock";
/// Files that state requirements, beside lists with one in each line.
const PROJECT: &str = "pyproject.toml";
const PIPFILE: &str = "Pipfile";
const HOOKS: &str = ".pre-commit-config.yaml";
/// Words in the names of lists that come before others.
const FIRST_LISTS: [&str; 3] = ["dev", "lint", "test"];
/// The maximum number of lists that are read for one folder.
const MAX_LISTS: usize = 100;
/// The maximum number of entries of a folder among which lists are searched, and the longest time.
const MAX_ENTRIES: usize = 10_000;
const LISTING_TIMEOUT: Duration = Duration::from_secs(2);

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
    let value = |key: &str, value: &str| format!(r#"(?:[\w-]+ *=[^\n]*\s+)*?{key} *= *["']{value}["']\s+"#);
    let (name, version) = (value("name", &regex::escape(package)), value("version", "([^\"']+)"));
    // Found as text, since a lock has too many tables for the parser.
    let entry = Regex::new(&format!(r"(?im)^\[\[packages?\]\]\s+{name}{version}")).ok()?;
    LOCKS.iter().find_map(|file| {
        let text = reader.text(folder, file, MAX_LOCK_BYTES)?.ok()? + "\n";
        let requirement = match *file {
            PIPENV_LOCK => stated_in(&serde_json::from_str(&text).ok()?, package).into_iter().next()?,
            _ => {
                let version = entry.captures(&text)?.get(1)?.as_str();
                VersionRequirement::Exact(Some(version).filter(|version| is_version(version))?.to_owned())
            }
        };
        Some(PinnedVersion::new(package, requirement, &folder.join(file).ok()?))
    })
}

/// Returns the first requirement in the lists of `folder` and those that they include, or the first
/// single version that it admits.
fn listed(reader: &mut ManifestReader<'_>, folder: &WorkspacePath, package: &str) -> Option<PinnedVersion> {
    static INCLUDED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?m)^\s*(?:[\w-]+\s*[=:]\s*)?(?:-[rc]|--requirement|--constraint)[\s=]*([^\s#]+)").ok()
    });
    let mut files: Vec<WorkspacePath> = folder.join(PROJECT).into_iter().collect();
    files.extend(lists_in_text(reader, folder));
    files.extend([PIPFILE, "setup.cfg", "tox.ini", HOOKS].iter().filter_map(|file| folder.join(file).ok()));
    let mut found: Vec<PinnedVersion> = Vec::new();
    let mut count = 0;
    while let Some(file) = files.get(count).filter(|_| count < MAX_LISTS).cloned() {
        count += 1;
        let (Some(name), Some(parent)) = (file.as_path().to_str(), file.parent()) else { continue };
        let text = reader.text(&WorkspacePath::root(), name, MAX_MANIFEST_BYTES);
        let Some(Ok(text)) = text else { continue };
        let mut add = |stated| found.push(PinnedVersion::new(package, stated, &file));
        match name.rsplit('/').next() {
            Some(PROJECT | PIPFILE) => {
                settings_of(PROJECT, &text).iter().flat_map(|tree| stated_in(tree, package)).for_each(add);
            }
            Some(HOOKS) => revision_of_hook(&text, package).into_iter().for_each(add),
            _ => {
                text.lines().filter_map(|line| requirement_of(line, package)).for_each(&mut add);
                for included in INCLUDED.as_ref()?.captures_iter(&text) {
                    let path = included.get(1)?.as_str();
                    let path = parent.join(path.strip_prefix("{toxinidir}/").unwrap_or(path)).ok();
                    files.extend(path.filter(|path| !files.contains(path)));
                }
            }
        }
    }
    let first = found.first()?;
    let is_admitted = |other: &&PinnedVersion| other.exact().is_some_and(|it| first.requirement.admits(it));
    Some(found.iter().find(is_admitted).unwrap_or(first).clone())
}

/// The lists with one requirement in each line in `folder` and its folder `requirements`.
fn lists_in_text(reader: &mut ManifestReader<'_>, folder: &WorkspacePath) -> Vec<WorkspacePath> {
    let name_of = |path: &WorkspacePath| path.as_path().file_name()?.to_str().map(str::to_owned);
    let mut lists = Vec::new();
    for under in [Some(folder.clone()), folder.join("requirements").ok()].into_iter().flatten() {
        reader.inspected_paths.insert(reader.workspace.absolute(&under));
        let deadline = WorkDeadline::new(Instant::now() + LISTING_TIMEOUT);
        let query = ListQuery { under, recursive: false, max: MAX_ENTRIES, deadline };
        let paths =
            reader.workspace.list(&query).unwrap_or_default().entries.into_iter().map(|entry| entry.path);
        lists.extend(paths.filter_map(|path| {
            let name = name_of(&path).filter(|name| name.ends_with(".txt"))?;
            let is_named = name.contains("requirements") || name.starts_with("constraints");
            let rank = FIRST_LISTS.iter().position(|word| name.contains(word)).unwrap_or(FIRST_LISTS.len());
            (is_named || query.under != *folder).then(|| (rank, path.as_path().as_os_str().len(), path))
        }));
    }
    lists.sort();
    lists.into_iter().map(|(_, _, path)| path).collect()
}

/// The requirements of `package` in all lists of a tree, and at all keys with its name.
fn stated_in(tree: &Value, package: &str) -> Vec<VersionRequirement> {
    let (mut values, mut stated) = (VecDeque::from([tree]), Vec::new());
    while let Some(value) = values.pop_front() {
        let list = value.as_array().into_iter().flatten();
        stated.extend(list.clone().filter_map(|line| requirement_of(line.as_str()?, package)));
        values.extend(list);
        for (name, value) in value.as_object().into_iter().flatten() {
            // Several platforms may have versions of their own.
            let of_platforms = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            let lines = of_platforms.iter().filter_map(|value| line_of(name, value));
            stated.extend(lines.filter_map(|line| requirement_of(&line, package)));
            values.push_back(value);
        }
    }
    stated
}

/// The line of a list for a key and its value: a version, or a table with a version or place.
fn line_of(name: &str, value: &Value) -> Option<String> {
    if let Some(version) = value.as_str().or_else(|| value.get("version")?.as_str()) {
        let sign = if version.starts_with(|first: char| first.is_ascii_digit()) { "==" } else { "" };
        return Some(format!("{name} {sign}{version}"));
    }
    let place = ["url", "file", "path", "git"].iter().find_map(|key| value.get(key)?.as_str())?;
    Some(format!("{name} @ {place}"))
}

/// The requirement by the revision of the package's own hook in pre-commit's settings.
fn revision_of_hook(text: &str, package: &str) -> Option<VersionRequirement> {
    let package_of_hook = format!("{}(?:-python|-pre-commit|-prek)?(?:-mirror)?", regex::escape(package));
    let repo = format!(r#"repo:\s*['"]?https://[^\s'"]+/{package_of_hook}(?:\.git)?/?['"]?\s"#);
    // A revision may be a commit, with the version in a comment.
    let commit = r#"(?:[0-9a-f]{40}['"]?\s*#\s*frozen:\s*)?"#;
    let pattern = format!(r#"{repo}\s*(?:#[^\n]*\s+)*rev:\s*['"]?{commit}v?([^\s#'"]+)"#);
    let found = Regex::new(&pattern).ok()?.captures(text)?;
    requirement_of(&format!("{package} =={}", found.get(1)?.as_str()), package)
}

/// The requirement in a line of a list, if it is about `package` and limits its version.
fn requirement_of(line: &str, package: &str) -> Option<VersionRequirement> {
    static LINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let key = r"^\s*(?:[\w-]+\s*[=:]\s*)?";
        let name = r"([A-Za-z0-9._-]+)\s*(?:\[[^\]]*\])?\s*\(?\s*";
        Regex::new(&format!(r"{key}{name}((?:[=!~]=|[<>~^@])[^;#\\)]*)")).ok()
    });
    static PLACE: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"[-/@]v?(\d[\w.]*?)(?:-[^/]*\.whl|\.tar\.gz|\.zip)?$").ok());
    let found = LINE.as_ref()?.captures(line)?;
    let stated = found.get(2)?.as_str().split(" --").next()?.trim_end_matches([' ', '\t', ',']);
    if normalized(found.get(1)?.as_str()) != normalized(package) {
        return None;
    }
    let in_place = || PLACE.as_ref()?.captures(stated)?.get(1);
    let requirement = match stated.as_bytes() {
        [b'@', ..] => in_place().and_then(|version| VersionRequirement::of_python(version.as_str())),
        [b'~', b'=', ..] => VersionRequirement::of_python(stated),
        // Caret and tilde of Poetry mean those of npm.
        [b'^' | b'~', ..] => Some(VersionRequirement::of_npm(&stated.replace(',', " "))),
        _ => VersionRequirement::of_python(stated),
    };
    let unknown = || VersionRequirement::Unreadable(format!("`{stated}` names no version"));
    Some(requirement.unwrap_or_else(unknown))
}

/// A package's name as PyPI compares it.
fn normalized(name: &str) -> String {
    name.to_lowercase().replace(['_', '.'], "-")
}

#[cfg(test)]
mod tests;
