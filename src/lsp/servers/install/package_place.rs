//! Packages in a folder, for machines without a network: `pip/` has the files of pip, `npm/` a
//! cache of npm. The locks verify them during installation, like packages of a registry.

use std::path::PathBuf;

use super::error::InstallError;
use super::step::InstallStep;

/// The place that packages come from, or go to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PackagePlace {
    /// Packages of the registries are installed.
    Registries,
    /// Packages saved in this folder are installed. The path is absolute.
    From(PathBuf),
    /// Packages of the registries are saved in this folder, and not installed. The path is absolute.
    Download(PathBuf),
}

impl PackagePlace {
    /// Fails if there is no folder to install from.
    pub(super) fn check(&self) -> Result<(), InstallError> {
        match self {
            Self::From(folder) if !folder.is_dir() => {
                Err(InstallError::NoSavedPackages { folder: folder.clone() })
            }
            _ => Ok(()),
        }
    }

    /// Returns pip's command with its options for this place.
    pub(super) fn pip_options(&self) -> (&'static str, Vec<PathBuf>) {
        match self {
            Self::Registries => ("install", Vec::new()),
            Self::From(folder) => {
                ("install", vec!["--no-index".into(), "--find-links".into(), folder.join("pip")])
            }
            Self::Download(folder) => ("download", vec!["--dest".into(), folder.join("pip")]),
        }
    }

    /// Adds npm's options for this place.
    pub(super) fn with_npm_options(&self, step: InstallStep) -> InstallStep {
        match self {
            Self::Registries => step,
            Self::From(folder) => step.arg("--offline").arg("--cache").arg(folder.join("npm")),
            Self::Download(folder) => step.arg("--cache").arg(folder.join("npm")),
        }
    }
}
