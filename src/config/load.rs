//! All configuration at once: the files of the user and of the project, what the command line says, and trust.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::catalogue::Catalogue;
use super::error::ConfigError;
use super::folders::Folders;
use super::launch::LaunchFields;
use super::layer::{Layer, Origin};
use super::settings::Settings;
use super::trust::{Trust, TrustState};
use crate::workspace::{ReadError, Workspace};

const PROJECT_FOLDER: &str = ".lsp-tools";
const SERVERS_FILE: &str = "servers.toml";
const SETTINGS_FILE: &str = "lsp-tools.toml";
const MOST_BYTES: u64 = 1 << 20;

/// What the command line says over all files, as TOML texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flags {
    /// In the words of `servers.toml`.
    pub servers: Option<String>,
    /// In the words of `lsp-tools.toml`.
    pub settings: Option<String>,
}

/// The configuration in force for one project.
#[derive(Debug, Clone)]
pub struct Config {
    /// Languages and servers, the settings' choices applied.
    pub catalogue: Catalogue,
    /// Everything else.
    pub settings: Settings,
    /// Whether the project's word on what to run counts.
    pub trust: TrustState,
    /// What the project says about running programs; `lsp-tools trust` grants exactly this.
    pub launch: LaunchFields,
    /// One sentence for each thing that the project said and that does not count.
    pub left_out: Vec<String>,
}

impl Config {
    /// The files that [`load`](Self::load) reads for the project at `root`, trust aside; they need not be there.
    pub fn files(folders: &Folders, root: &Path) -> Vec<PathBuf> {
        let project = root.join(PROJECT_FOLDER);
        let files = [SERVERS_FILE, SETTINGS_FILE].map(|name| project.join(name));
        [folders.servers_file(), folders.settings_file()].into_iter().chain(files).collect()
    }

    /// The configuration of `project` (the root of the workspace), or of no project.
    ///
    /// # Errors
    /// When a file cannot be read or says something that it cannot say, or when the trust store cannot be believed.
    pub fn load(
        folders: &Folders,
        project: Option<&Path>,
        flags: &Flags,
        trust: &Trust,
    ) -> Result<Self, ConfigError> {
        let project_layer = |name| project.map_or(Ok(None), |project| project_file(project, name));
        let (mut servers, mut settings) = (project_layer(SERVERS_FILE)?, project_layer(SETTINGS_FILE)?);
        let mut launch = LaunchFields::of(servers.as_ref(), settings.as_ref())?;
        let state = match project {
            Some(project) => trust.is_trusted(project, &launch)?,
            None => TrustState::Untrusted,
        };
        for layer in [&mut servers, &mut settings].into_iter().flatten() {
            layer.origin = Origin::Project { trusted: state.is_trusted() };
        }
        let flag =
            |text: &Option<String>| text.clone().map(|text| Layer::new(Origin::Flags, "command line", text));
        let servers = [user_file(&folders.servers_file())?, servers, flag(&flags.servers)];
        let settings = [user_file(&folders.settings_file())?, settings, flag(&flags.settings)];

        let loaded = Catalogue::load(&servers.into_iter().flatten().collect::<Vec<_>>())?;
        let (mut catalogue, mut left_out) = (loaded.catalogue, loaded.left_out);
        let (mut settings, also_left_out) =
            Settings::load(&settings.into_iter().flatten().collect::<Vec<_>>(), &catalogue)?;
        settings.choose_servers(&mut catalogue);
        left_out.extend(also_left_out);
        let home = etcetera::home_dir().ok();
        left_out.extend(settings.mounts.read_files(home.as_deref(), project, &mut launch, trust)?);
        Ok(Self { catalogue, settings, trust: state, launch, left_out })
    }
}

fn user_file(path: &Path) -> Result<Option<Layer>, ConfigError> {
    let name = path.display().to_string();
    Ok(text_of(path, &name)?.map(|text| Layer::new(Origin::User, name, text)))
}

/// A file of the project's own folder, read as every file of the project is: nothing that lies outside can stand in for it.
fn project_file(project: &Path, name: &str) -> Result<Option<Layer>, ConfigError> {
    let name = format!("{PROJECT_FOLDER}/{name}");
    let unreadable = |reason: String| ConfigError::Unreadable { file: name.clone(), reason };
    let workspace = Workspace::open(project).map_err(|error| unreadable(error.to_string()))?;
    let path = workspace.path(Path::new(&name)).map_err(|error| unreadable(error.to_string()))?;
    match workspace.read_text_up_to(&path, MOST_BYTES) {
        Ok(file) => Ok(Some(Layer::new(Origin::Project { trusted: false }, name, file.text))),
        Err(ReadError::NotFound { .. }) => Ok(None),
        Err(error) => Err(unreadable(error.to_string())),
    }
}

fn text_of(path: &Path, name: &str) -> Result<Option<String>, ConfigError> {
    let unreadable = |reason: String| ConfigError::Unreadable { file: name.to_owned(), reason };
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(unreadable(error.to_string())),
    };
    if !metadata.is_file() {
        return Err(unreadable("it is not a file; delete it or put a TOML file there".to_owned()));
    }
    if metadata.len() > MOST_BYTES {
        return Err(unreadable(format!(
            "it has {} bytes, more than the {MOST_BYTES} allowed",
            metadata.len()
        )));
    }
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(MOST_BYTES).read_to_string(&mut text))
        .map_err(|error| unreadable(error.to_string()))?;
    Ok(Some(text))
}

fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests;
