//! The manifest of a complete installation: its recipe, its locks and its date.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::config::spec::Recipe;
use crate::platform::private;
use crate::text::hex;

const NAME: &str = "manifest.json";

/// The manifest, written when everything else of an installation is in place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InstallationManifest {
    /// The packages that it was made of, with the pinned versions.
    pub(crate) recipe: Recipe,
    /// The hash of the locks that it was made by.
    #[serde(default)]
    pub(crate) locks: Option<String>,
    /// The programs that it needs beside itself, with their paths at the time of the installation.
    #[serde(default)]
    pub(crate) programs: BTreeMap<String, PathBuf>,
    /// The installer that made it.
    pub(crate) installer: String,
    /// The time of its completion, in seconds since 1970.
    pub(crate) finished: u64,
}

impl InstallationManifest {
    /// Creates the manifest of an installation that is complete now.
    pub(crate) fn now(recipe: Recipe, locks: Option<String>) -> Self {
        let installer = concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION")).to_owned();
        let finished = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Self { recipe, locks, programs: BTreeMap::new(), installer, finished }
    }

    /// Reads the manifest of `folder`; `None` if the installation there is incomplete, or was made
    /// by a version with another form of manifest.
    pub(crate) fn read(folder: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(folder.join(NAME)).ok()?).ok()
    }

    /// Marks `folder` as complete.
    pub(crate) fn write(&self, folder: &Path) -> io::Result<()> {
        let unfinished = folder.join("manifest.json.new");
        private::write(&unfinished, &serde_json::to_vec_pretty(self)?)?;
        fs::OpenOptions::new().write(true).open(&unfinished)?.sync_all()?;
        fs::rename(unfinished, folder.join(NAME))
    }
}

/// Returns an unused folder name that identifies the recipe.
pub(super) fn folder_name(recipe: &Recipe) -> io::Result<String> {
    let hash = Sha256::digest(serde_json::to_vec(recipe)?);
    let hash = hex(&hash[..6]);
    let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
    Ok(format!("{hash}-{time:x}"))
}
