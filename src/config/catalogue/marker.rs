//! Markers of a project's configuration: a file, or a section of one.

use std::borrow::Cow;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::CstRootNode;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::workspace::{Workspace, WorkspacePath};

/// The largest file of settings that is examined, in bytes.
const MAX_MARKER_FILE_BYTES: u64 = 1 << 20;

/// The greatest depth of a table of dependencies: `target.'cfg(unix)'.dependencies`.
const MAX_TABLE_DEPTH: u8 = 3;

/// A file or folder in a project's root, and the section in it that counts: `pyrightconfig.json`,
/// `pyproject.toml#tool.pyright`, `setup.cfg#pycodestyle`.
///
/// A section is a path of keys, with dots between them, in TOML and JSON; in `go.mod` and `go.work`
/// the first word of a line; elsewhere a line `[section]`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(from = "String")]
pub(crate) struct ConfigMarker {
    file: String,
    section: Option<String>,
}

impl From<String> for ConfigMarker {
    fn from(text: String) -> Self {
        match text.split_once('#') {
            Some((file, section)) => Self { file: file.to_owned(), section: Some(section.to_owned()) },
            None => Self { file: text, section: None },
        }
    }
}

impl fmt::Display for ConfigMarker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.section {
            Some(section) => write!(f, "`{section}` in {}", self.file),
            None => f.write_str(&self.file),
        }
    }
}

impl ConfigMarker {
    /// The name of the file.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// Returns the name of the file, if its existence alone is not enough.
    pub(crate) fn section_file(&self) -> Option<&str> {
        self.section.as_ref().map(|_| self.file.as_str())
    }

    /// Returns the texts of a list that it names; empty if there is none.
    pub(crate) fn list_in(&self, workspace: &Workspace, root: &WorkspacePath) -> Vec<String> {
        root.join(&self.file).map(|file| self.texts_of(workspace, &file)).unwrap_or_default()
    }

    /// Returns the text, or the texts of the list, that it names in `file`, which has the format of
    /// the marker's own file; empty if there is none.
    pub(crate) fn texts_of(&self, workspace: &Workspace, file: &WorkspacePath) -> Vec<String> {
        let read = || {
            let table = self.settings_in(workspace, file)?;
            let value = self.section.as_ref()?.split('.').try_fold(&table, |at, key| at.get(key))?;
            let one = value.as_str().map(|text| vec![text.to_owned()]);
            one.or_else(|| {
                let list = value.as_array()?.iter();
                Some(list.filter_map(|text| text.as_str().map(str::to_owned)).collect())
            })
        };
        read().unwrap_or_default()
    }

    /// Returns the texts under its last key in the entries of each table, also within others, whose
    /// name ends with its first key; empty if there is none.
    pub(crate) fn texts_in_tables(&self, workspace: &Workspace, root: &WorkspacePath) -> Vec<String> {
        let mut found = Vec::new();
        let settings = root.join(&self.file).ok().and_then(|file| self.settings_in(workspace, &file));
        let keys = self.section.as_ref().and_then(|section| section.split_once('.'));
        if let (Some(settings), Some(keys)) = (settings, keys) {
            collect_texts(&settings, keys, MAX_TABLE_DEPTH, &mut found);
        }
        found
    }

    /// The settings in `file`, which has the format of the marker's own file.
    fn settings_in(&self, workspace: &Workspace, file: &WorkspacePath) -> Option<serde_json::Value> {
        let text = workspace.read_text_up_to(file, MAX_MARKER_FILE_BYTES).ok()?.text;
        settings_of(&self.file, &text)
    }

    /// Returns a hash of its value in `root`; `None` if it is missing.
    pub(crate) fn content(&self, workspace: &Workspace, root: &WorkspacePath) -> Option<u64> {
        let path = root.join(&self.file).ok()?;
        let text = workspace.read_text_up_to(&path, MAX_MARKER_FILE_BYTES).ok()?.text;
        let mut hasher = DefaultHasher::new();
        self.value_in(&text)?.hash(&mut hasher);
        Some(hasher.finish())
    }

    /// Returns the marker's value in the text of its file: the section's value as text, or the
    /// whole text. `None` if the section is missing.
    pub(crate) fn value_in<'a>(&self, text: &'a str) -> Option<Cow<'a, str>> {
        match &self.section {
            None => Some(text.into()),
            Some(section) => section_of(&self.file, text, section).map(Cow::Owned),
        }
    }

    /// Returns true if `root` has the marker with settings in it, or a file that may have them: it
    /// cannot be read, or is malformed. Empty files and folders have none.
    pub(crate) fn may_be_in(&self, workspace: &Workspace, root: &WorkspacePath) -> bool {
        let Ok(path) = root.join(&self.file) else { return false };
        let has_text = |file: std::fs::Metadata| file.is_file() && file.len() > 0;
        let is_there = || workspace.absolute(&path).metadata().is_ok_and(has_text);
        let Some(section) = &self.section else { return is_there() };
        let text = workspace.read_text_up_to(&path, MAX_MARKER_FILE_BYTES).map(|file| file.text);
        match text.ok().filter(|text| settings_of(&self.file, text).is_some()) {
            Some(text) => has_section(&self.file, &text, section),
            None => is_there(),
        }
    }

    /// Returns true if `root` has the marker. An unreadable or malformed file counts as missing.
    pub(crate) fn is_in(&self, workspace: &Workspace, root: &WorkspacePath) -> bool {
        let Ok(path) = root.join(&self.file) else { return false };
        let Some(section) = &self.section else { return workspace.absolute(&path).exists() };
        let Ok(file) = workspace.read_text_up_to(&path, MAX_MARKER_FILE_BYTES) else { return false };
        has_section(&self.file, &file.text, section)
    }
}

fn collect_texts(table: &serde_json::Value, (tables, key): (&str, &str), depth: u8, found: &mut Vec<String>) {
    for (name, inner) in table.as_object().into_iter().flatten() {
        if name.ends_with(tables) {
            let entries = inner.as_object().into_iter().flat_map(|entries| entries.values());
            found.extend(entries.filter_map(|entry| entry.get(key)?.as_str().map(str::to_owned)));
        } else if depth > 0 {
            collect_texts(inner, (tables, key), depth - 1, found);
        }
    }
}

fn has_section(file: &str, text: &str, section: &str) -> bool {
    section_of(file, text, section).is_some()
}

/// Parses a file in TOML, or in JSON with or without comments. `None` if it is neither.
pub(crate) fn settings_of(file: &str, text: &str) -> Option<serde_json::Value> {
    if file.ends_with(".json") {
        return CstRootNode::parse(text, &ParseOptions::default()).ok()?.to_serde_value();
    }
    if crate::text::toml_fault(text).is_some() {
        return None;
    }
    let table: toml::Table = toml::from_str(text).ok()?;
    serde_json::to_value(table).ok()
}

/// Returns the content of a section: its value as text, or the lines up to the next section.
fn section_of(file: &str, text: &str, section: &str) -> Option<String> {
    let mut keys = section.split('.');
    if file.ends_with(".toml") || file.ends_with(".json") {
        let table = settings_of(file, text)?;
        return keys.try_fold(&table, |at, key| at.get(key)).map(ToString::to_string);
    }
    if file.ends_with(".mod") || file.ends_with(".work") {
        let line =
            text.lines().find_map(|line| line.trim_start().strip_prefix(section)?.strip_prefix([' ', '\t']));
        return line.map(|value| serde_json::Value::from(value.trim()).to_string());
    }
    let named = |line: &&str| {
        let header = line.trim_end().strip_prefix('[').and_then(|header| header.split_once(']'));
        header.is_some_and(|(name, _)| name.trim() == section)
    };
    let lines = text.lines().skip_while(|line| !named(line));
    let mut own = lines.enumerate().take_while(|(number, line)| *number == 0 || !line.starts_with('['));
    let (_, header) = own.next()?;
    Some(own.fold(header.to_owned(), |section, (_, line)| section + "\n" + line))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sign(text: &str) -> ConfigMarker {
        ConfigMarker::from(text.to_owned())
    }

    #[test]
    fn sign_matches_existing_file_or_section_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("pyproject.toml", "[tool.pyright]\n[tool.x.y]\nz = 1\n");
        write(
            "setup.cfg",
            "[metadata]\nname = x\n\n[pycodestyle]  # ours\nmax-line-length = 100\n# [flake8]\n",
        );
        write("package.json", r#"{"eslintConfig": {"rules": {}}}"#);
        write("broken.toml", "[tool.pyright\n");
        write("empty.cfg", "");
        std::fs::create_dir_all(folder.path().join("build/sub")).unwrap();
        write("build/x.json", "{}");
        let workspace = Workspace::open(folder.path()).unwrap();
        let has = |text: &str| sign(text).is_in(&workspace, &WorkspacePath::root());
        for there in [
            "pyproject.toml",
            "pyproject.toml#tool.pyright",
            "pyproject.toml#tool.x.y.z",
            "setup.cfg#pycodestyle",
            "package.json#eslintConfig.rules",
            "empty.cfg",
            "build",
            "build/x.json",
        ] {
            assert!(has(there), "{there}");
        }
        for absent in [
            "pyrightconfig.json",
            "pyproject.toml#tool.ruff",
            "pyproject.toml#tool.pyright.x",
            "setup.cfg#flake8",
            "setup.cfg#tool",
            "package.json#jest",
            "broken.toml#tool.pyright",
            "none.cfg#x",
        ] {
            assert!(!has(absent), "{absent}");
        }
    }
}
