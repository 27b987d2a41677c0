//! Loading of the whole configuration: the user's and the project's files, overrides of the command
//! line, trust.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::catalogue::{CATALOGUE_FIELDS, Catalogue};
use super::error::ConfigError;
use super::files::{project_text, user_text};
use super::folders::Folders;
use super::launch::LaunchFields;
use super::layer::{Layer, LayerOrigin};
use super::settings::{SETTINGS_FIELDS, Settings};
use super::trust::{TrustError, TrustState, TrustStore};

const PROJECT_FOLDER: &str = ".lsp-tools";
const SERVERS_FILE: &str = "servers.toml";
const SETTINGS_FILE: &str = "lsp-tools.toml";

/// The settings of the command line, which override all files, as TOML texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ConfigOverrides {
    /// The keys of `servers.toml`.
    pub(crate) servers: Option<String>,
    /// The keys of `lsp-tools.toml`.
    pub(crate) settings: Option<String>,
}

/// The configuration in force for one project.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    /// Languages and servers, the settings' choices applied.
    pub catalogue: Arc<Catalogue>,
    /// Everything else.
    pub settings: Settings,
    /// The trust in the project's launch fields.
    pub(crate) trust: TrustState,
    /// The project's launch fields; `lsp-tools trust` approves exactly these.
    pub(crate) launch: LaunchFields,
    /// One sentence for each ignored setting of the project.
    pub(crate) left_out: Vec<String>,
}

impl Config {
    /// The files that [`load`](Self::load) always reads for the project at `root`, trust aside;
    /// they need not exist. Settings may name more
    /// ([`MountConfig::listed`](super::mounts::MountConfig::listed)).
    pub(crate) fn files(folders: &Folders, root: &Path) -> Vec<PathBuf> {
        let project = root.join(PROJECT_FOLDER);
        let files = [SERVERS_FILE, SETTINGS_FILE].map(|name| project.join(name));
        [folders.servers_file(), folders.settings_file()].into_iter().chain(files).collect()
    }

    /// Loads the configuration of `project` (the root of the workspace), or of no project.
    ///
    /// # Errors
    /// A file cannot be read or has an invalid setting, or the trust store is not reliable.
    pub(crate) fn load(
        folders: &Folders,
        project: Option<&Path>,
        flags: &ConfigOverrides,
        trust: &TrustStore,
    ) -> Result<Self, ConfigError> {
        let project_layer = |name| project.map_or(Ok(None), |project| project_file(project, name));
        let (mut servers, mut settings) = (project_layer(SERVERS_FILE)?, project_layer(SETTINGS_FILE)?);
        let mut launch = LaunchFields::default();
        for (layer, fields) in [(&servers, &CATALOGUE_FIELDS), (&settings, &SETTINGS_FIELDS)] {
            if let Some(layer) = layer {
                launch.add_layer(layer, fields)?;
            }
        }
        let mut disbelieved = None;
        let state = match project {
            Some(project) => match trust.is_trusted(project, &launch) {
                // Nothing is trusted because of a file that others can write; everything that needs
                // no trust continues.
                Err(error @ (TrustError::Foreign { .. } | TrustError::Open { .. })) => {
                    disbelieved = Some(format!("{error}; until then this project is not trusted"));
                    TrustState::Untrusted
                }
                state => state?,
            },
            None => TrustState::Untrusted,
        };
        for layer in [&mut servers, &mut settings].into_iter().flatten() {
            layer.origin = LayerOrigin::Project { trusted: state.is_trusted() };
        }
        let flag = |text: &Option<String>| {
            text.clone().map(|text| Layer::new(LayerOrigin::Flags, "command line", text))
        };
        let servers = [user_file(&folders.servers_file())?, servers, flag(&flags.servers)];
        let settings = [user_file(&folders.settings_file())?, settings, flag(&flags.settings)];

        let loaded = Catalogue::load(&servers.into_iter().flatten().collect::<Vec<_>>())?;
        let (mut catalogue, mut left_out) = (loaded.catalogue, loaded.left_out);
        left_out.extend(disbelieved);
        let (mut settings, also_left_out) =
            Settings::load(&settings.into_iter().flatten().collect::<Vec<_>>(), &catalogue)?;
        settings.choose_servers(&mut catalogue);
        left_out.extend(also_left_out);
        let home = etcetera::home_dir().ok();
        left_out.extend(settings.mounts.read_files(home.as_deref(), project, &mut launch, trust)?);
        Ok(Self { catalogue: Arc::new(catalogue), settings, trust: state, launch, left_out })
    }
}

fn user_file(path: &Path) -> Result<Option<Layer>, ConfigError> {
    let file = path.display().to_string();
    match user_text(path) {
        Ok(text) => Ok(text.map(|text| Layer::new(LayerOrigin::User, file, text))),
        Err(reason) => Err(ConfigError::Unreadable { file, reason }),
    }
}

fn project_file(project: &Path, name: &str) -> Result<Option<Layer>, ConfigError> {
    let file = format!("{PROJECT_FOLDER}/{name}");
    match project_text(project, &file) {
        Ok(text) => Ok(text.map(|text| Layer::new(LayerOrigin::Project { trusted: false }, file, text))),
        Err(reason) => Err(ConfigError::Unreadable { file, reason }),
    }
}

#[cfg(all(test, unix))]
mod tests;
