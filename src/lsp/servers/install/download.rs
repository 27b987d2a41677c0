//! Saving of a server's packages in a folder, without installing them.

use std::fs;
use std::path::Path;

use tokio::time::Instant;

use super::error::InstallError;
use super::package_place::PackagePlace;
use super::recipes::CheckedRecipe;
use super::{InstallJob, InstallProgress, Installer, check_key, manual_install_error};
use crate::config::spec::ServerSpec;
use crate::platform::canonicalize;

impl Installer {
    /// Saves the packages of `server`, and of the program that it needs beside itself, in `target`,
    /// for machines of this kind. Returns the packages that the catalogue names, and notes on them.
    ///
    /// # Errors
    /// [`InstallError::Online`] if no recipe of the server has packages of pip and npm alone; those
    /// of the package managers.
    pub(crate) async fn download(
        &self,
        key: &str,
        server: &ServerSpec,
        target: &Path,
        progress: &(dyn Fn(InstallProgress<'_>) + Send + Sync),
    ) -> Result<(Vec<String>, Vec<String>), InstallError> {
        check_key(key)?;
        let mut online = None;
        for recipe in server.install.recipes() {
            let mut recipe = CheckedRecipe::new(key, recipe)?;
            if let Some(manager) = recipe.online_manager() {
                online = online.or(Some(manager));
                continue;
            }
            if let Some(needs) = &server.install.needs {
                recipe = recipe.with_packages_of(needs);
            }
            let longest = recipe.max_duration();
            let job = InstallJob { key, server, progress, deadline: Instant::now() + longest, longest };
            let packages = recipe.recipe().packages().cloned().collect();
            return Ok((packages, self.save(&job, &recipe, target).await?));
        }
        Err(match online {
            Some(manager) => InstallError::Online { server: key.to_owned(), manager },
            None => manual_install_error(key, server),
        })
    }

    /// Runs the package managers in a temporary folder.
    async fn save(
        &self,
        job: &InstallJob<'_>,
        recipe: &CheckedRecipe,
        target: &Path,
    ) -> Result<Vec<String>, InstallError> {
        fs::create_dir_all(target).map_err(InstallError::file("make", target))?;
        let made = tempfile::Builder::new().prefix("lsp-tools-download-").tempdir();
        let made = made.map_err(InstallError::file("make a folder in", &std::env::temp_dir()))?;
        // npm refuses a prefix below a symbolic link.
        let folder = canonicalize(made.path()).map_err(InstallError::file("find", made.path()))?;
        self.run_steps(job, recipe, &folder, &PackagePlace::Download(target.to_owned())).await
    }
}
