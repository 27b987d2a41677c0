//! The folders in which Poetry, Pipenv, Hatch and PDM keep environments beside `.venv`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE;
use etcetera::BaseStrategy;
use etcetera::base_strategy::Xdg;
use sha2::{Digest, Sha256};

use super::libraries::is_bare;
use crate::platform::canonicalize;
use crate::workspace::{Workspace, WorkspacePath};

/// The largest file with the location of an environment, in bytes.
const MAX_ENVIRONMENT_CONFIG_BYTES: u64 = 64 << 10;
/// The length of the hash of a project's path in the name of its environment, in characters.
const ENVIRONMENT_HASH_CHARS: usize = 8;

/// The folders of the user's in which tools keep environments.
#[derive(Debug, Clone, Default)]
pub(crate) struct ToolFolders {
    /// Poetry's: `NAME-HASH-py3.12`, the hash is the project's.
    pub(crate) poetry: Option<PathBuf>,
    /// Pipenv's: `NAME-HASH`, the hash is the Pipfile's.
    pub(crate) pipenv: Option<PathBuf>,
    /// Hatch's: `NAME/HASH/ENVIRONMENT`, the hash is the project's; its default environment bears
    /// the project's name.
    pub(crate) hatch: Option<PathBuf>,
    /// PDM's: a project's `.pdm-python` leads into it.
    pub(crate) pdm: Option<PathBuf>,
}

impl ToolFolders {
    /// Finds the folders by the user's variables, the settings of Poetry, and else the tools' own
    /// defaults.
    pub(crate) fn of_user() -> Self {
        let variable = |name: &str| {
            let path = std::env::var_os(name).map(PathBuf::from);
            path.filter(|path| path.is_absolute())
        };
        let xdg = Xdg::new().ok();
        let data = xdg.as_ref().map(Xdg::data_dir);
        let below = |name: &str| data.as_ref().map(|data| data.join(name));
        let config = xdg.as_ref().map(|xdg| xdg.config_dir().join("pypoetry/config.toml"));
        let cache = xdg.as_ref().map(|xdg| xdg.cache_dir().join("pypoetry"));
        let poetry = || poetry_folder(config.as_deref(), variable("POETRY_CACHE_DIR").or(cache));
        Self {
            poetry: variable("POETRY_VIRTUALENVS_PATH").or_else(poetry),
            pipenv: variable("WORKON_HOME").or_else(|| below("virtualenvs")),
            hatch: variable("HATCH_DATA_DIR").or_else(|| below("hatch")).map(|data| data.join("env/virtual")),
            pdm: below("pdm/venvs"),
        }
    }

    /// Returns true if `folder`, whose links are followed, lies where one of them keeps
    /// environments.
    pub(super) fn contains_environment(&self, folder: &Path) -> bool {
        let all = [&self.poetry, &self.pipenv, &self.hatch, &self.pdm];
        let real = all.into_iter().flatten().filter_map(|tool| canonicalize(tool).ok());
        real.into_iter().any(|tool| folder.starts_with(&tool) && folder != tool)
    }

    /// Returns the environments that tools keep for the project in `folder`, if it uses one of
    /// them. The inspected paths are recorded.
    pub(super) fn tool_environments(
        &self,
        workspace: &Workspace,
        folder: &WorkspacePath,
        looked_at: &mut BTreeSet<PathBuf>,
    ) -> Vec<PathBuf> {
        let absolute = workspace.absolute(folder);
        let mut found = Vec::new();
        found.extend(pdm(workspace, folder, looked_at));
        found.extend(packages(&absolute));
        let is_there = |name: &str| absolute.join(name).is_file();
        let has_tables = is_there("pyproject.toml");
        if let Some(poetry) = self.poetry.as_ref().filter(|_| has_tables) {
            looked_at.insert(poetry.clone());
            let hash = hash_of(&absolute);
            let named = |name: &str| name.contains(&format!("-{hash}-py"));
            // If there are several, the newest Python comes first.
            found.extend(entries(poetry, named).into_iter().rev());
        }
        if let Some(pipenv) = self.pipenv.as_ref().filter(|_| is_there("Pipfile")) {
            looked_at.insert(pipenv.clone());
            let hash = hash_of(&absolute.join("Pipfile"));
            found.extend(entries(pipenv, |name| name.ends_with(&format!("-{hash}"))));
        }
        if let Some(hatch) = self.hatch.as_ref().filter(|_| has_tables || is_there("hatch.toml")) {
            looked_at.insert(hatch.clone());
            let hash = hash_of(&absolute);
            for project in entries(hatch, |_| true) {
                let environments = project.join(&hash);
                looked_at.insert(environments.clone());
                found.extend(project.file_name().map(|name| environments.join(name)));
            }
        }
        found
    }
}

/// Poetry's folder of environments, by its own settings.
fn poetry_folder(config: Option<&Path>, cache: Option<PathBuf>) -> Option<PathBuf> {
    let text = config
        .and_then(|config| Workspace::read_outside(config, MAX_ENVIRONMENT_CONFIG_BYTES).ok())
        .unwrap_or_default();
    let settings: toml::Table = toml::from_str(&text).unwrap_or_default();
    let text_of = |value: Option<&toml::Value>| value.and_then(toml::Value::as_str).map(ToOwned::to_owned);
    let cache = text_of(settings.get("cache-dir")).map(PathBuf::from).or(cache);
    let folder = text_of(settings.get("virtualenvs").and_then(|table| table.get("path")));
    match (folder, cache) {
        (Some(folder), Some(cache)) => {
            Some(PathBuf::from(folder.replace("{cache-dir}", &cache.to_string_lossy())))
        }
        (Some(folder), None) => Some(PathBuf::from(folder)),
        (None, cache) => cache.map(|cache| cache.join("virtualenvs")),
    }
    .filter(|folder| folder.is_absolute())
}

/// The hash by which Poetry, Pipenv and Hatch name the environment of the project at `path`.
pub(super) fn hash_of(path: &Path) -> String {
    let real = canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut hash = BASE64_URL_SAFE.encode(Sha256::digest(real.as_os_str().as_encoded_bytes()));
    hash.truncate(ENVIRONMENT_HASH_CHARS);
    hash
}

/// Returns the entries of one of the user's folders whose names are `wanted`, in the order of the
/// numbers in them.
fn entries(folder: &Path, wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let names = names.filter_map(|name| name.into_string().ok()).filter(|name| wanted(name));
    let mut names: Vec<String> = names.collect();
    names.sort_by_key(|name| (name.len(), name.clone()));
    names.into_iter().map(|name| folder.join(name)).collect()
}

/// The environment of the interpreter that `.pdm-python` names.
fn pdm(workspace: &Workspace, folder: &WorkspacePath, looked_at: &mut BTreeSet<PathBuf>) -> Option<PathBuf> {
    let path = folder.join(".pdm-python").ok()?;
    looked_at.insert(workspace.absolute(&path));
    let text = workspace.read_text_up_to(&path, MAX_ENVIRONMENT_CONFIG_BYTES).ok()?.text;
    let interpreter = workspace.absolute(folder).join(text.lines().next()?.trim());
    Some(interpreter.parent()?.parent()?.to_owned())
}

/// The folders of PEP 582, `__pypackages__/3.12`, the newest Python first.
fn packages(folder: &Path) -> Vec<PathBuf> {
    let all = entries(&folder.join("__pypackages__"), |name| name.starts_with("3."));
    all.into_iter().rev().filter(|folder| is_bare(folder)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn project_hash_equals_the_hash_of_poetry_and_pipenv() {
        // The names that Poetry and Hatch give to the environment of such a folder, and Pipenv to
        // that of such a file.
        assert_eq!(hash_of(Path::new("/nowhere/acme")), "MJt9MXun");
        assert_eq!(hash_of(Path::new("/nowhere/acme/Pipfile")), "vV86BBWz");
    }

    #[test]
    fn poetry_virtualenvs_folder_follows_its_config() {
        let temp = tempfile::tempdir().unwrap();
        let config = temp.path().join("config.toml");
        let top = if cfg!(windows) { "C:" } else { "" };
        let at = |text: &str| {
            fs::write(&config, text).unwrap();
            poetry_folder(Some(&config), Some(format!("{top}/cache").into())).unwrap()
        };
        let below = |path: &str| PathBuf::from(format!("{top}{path}"));
        assert_eq!(at(""), below("/cache/virtualenvs"));
        assert_eq!(at(&format!("cache-dir = \"{top}/c\"")), below("/c/virtualenvs"));
        assert_eq!(at("[virtualenvs]\npath = \"{cache-dir}/v\""), below("/cache/v"));
        assert_eq!(at(&format!("[virtualenvs]\npath = \"{top}/envs\"")), below("/envs"));
        assert_eq!(poetry_folder(None, None), None);
    }
}
