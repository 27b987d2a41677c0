//! The folder of one server's installations: `<data>/servers/<key>/{current -> NAME, NAME, …}`.
//! Each installation is made in a new folder with an unused name, because programs of an
//! interrupted one may still write for a moment. `current` is switched to it when it is complete.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::error::InstallError;
use super::manifest::{self, InstallationManifest};
use super::recipes::CheckedRecipe;
use crate::lsp::servers::locate::{CURRENT, program_folders};
use crate::platform::canonicalize;
use crate::platform::paths::{
    ENVIRONMENT_PROGRAMS, PYTHON, point_to_sibling, program_at, sibling_at, through_sibling,
};
use crate::platform::private;
use crate::process::is_program;

/// The interval between attempts to take another process's lock: the system offers no wait that can
/// be cancelled.
const PREFIX_LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// One server's installations, locked against other installers.
#[derive(Debug)]
pub(super) struct InstallPrefix {
    folder: PathBuf,
    _lock: File,
}

impl InstallPrefix {
    /// Opens the folder for `key`, after no other process installs the same server. `waiting` is
    /// called once if one does.
    pub(super) async fn open(
        data: &Path,
        key: &str,
        deadline: Instant,
        waiting: impl Fn(),
    ) -> Result<Self, InstallError> {
        let servers = data.join("servers");
        let folder = servers.join(key);
        private::make_folder(&folder).map_err(InstallError::file("make", &folder))?;
        let path = servers.join(format!("{key}.lock"));
        let mut options = private::open_options();
        let lock = private::open(options.write(true).create(true).truncate(false), &path);
        let lock = lock.map_err(InstallError::file("open", &path))?;
        let mut reported = false;
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(Self { folder, _lock: lock }),
                Err(TryLockError::Error(error)) => return Err(InstallError::file("lock", &path)(error)),
                Err(TryLockError::WouldBlock) if Instant::now() >= deadline => {
                    return Err(InstallError::Busy { server: key.to_owned() });
                }
                Err(TryLockError::WouldBlock) => {}
            }
            if !std::mem::replace(&mut reported, true) {
                waiting();
            }
            sleep(PREFIX_LOCK_RETRY_INTERVAL).await;
        }
    }

    /// Returns the path of the installation in use, as servers are found: on Unix through a symbolic
    /// link.
    pub(super) fn current(&self) -> PathBuf {
        through_sibling(self.folder.join(CURRENT))
    }

    /// Returns the program of the installation in use, if that was made of `recipes`, by the same
    /// locks, and still works: an environment's interpreter disappears when the system's is
    /// upgraded.
    pub(super) fn working_program(&self, recipes: &CheckedRecipe, program: &str) -> Option<PathBuf> {
        let current = self.current();
        let same = InstallationManifest::read(&current).is_some_and(|manifest| {
            manifest.recipe == *recipes.recipe() && manifest.locks == recipes.locks().digest()
        });
        let interpreter = !recipes.has_python()
            || is_program(&current.join("venv").join(ENVIRONMENT_PROGRAMS).join(PYTHON[0]));
        if same && interpreter { program_in(&current, program) } else { None }
    }

    /// Records the paths of programs that the installation in use needs.
    pub(super) fn record_programs(&self, programs: BTreeMap<String, PathBuf>) -> Result<(), InstallError> {
        let current = self.current();
        let Some(mut manifest) = InstallationManifest::read(&current) else { return Ok(()) };
        let before = manifest.programs.clone();
        manifest.programs.extend(programs);
        if manifest.programs == before {
            return Ok(());
        }
        manifest.write(&current).map_err(InstallError::file("write the manifest of", &current))
    }

    /// Removes all but the installation in use: interrupted ones, and the one before it.
    pub(super) async fn clean(&self) -> Result<(), InstallError> {
        let in_use = sibling_at(&self.folder.join(CURRENT));
        let entries = fs::read_dir(&self.folder).map_err(InstallError::file("read", &self.folder))?;
        for entry in entries.flatten() {
            let name = PathBuf::from(entry.file_name());
            if name == Path::new(CURRENT) || Some(&name) == in_use.as_ref() {
                continue;
            }
            let removed = match entry.file_type() {
                Ok(kind) if kind.is_dir() => tokio::fs::remove_dir_all(entry.path()).await,
                _ => tokio::fs::remove_file(entry.path()).await,
            };
            if let Err(error) = removed {
                tracing::warn!("{} stays until the next installation: {error}", entry.path().display());
            }
        }
        Ok(())
    }

    /// A new folder to install into, by its path without symbolic links.
    pub(super) fn create_folder(&self, recipes: &CheckedRecipe) -> Result<PathBuf, InstallError> {
        let name =
            manifest::folder_name(recipes.recipe()).map_err(InstallError::file("name", &self.folder))?;
        let folder = self.folder.join(name);
        private::create_folder(&folder).map_err(InstallError::file("make", &folder))?;
        // `npm ci` refuses a prefix below a symbolic link, because it reads it as another package
        // than the lock's.
        canonicalize(&folder).map_err(InstallError::file("find", &folder))
    }

    /// Marks `folder` as complete and activates it. The earlier installation stays until the next
    /// one, for servers that still run from it.
    pub(super) fn activate(
        &self,
        folder: &Path,
        recipes: &CheckedRecipe,
        programs: BTreeMap<String, PathBuf>,
    ) -> Result<(), InstallError> {
        let manifest = InstallationManifest::now(recipes.recipe().clone(), recipes.locks().digest());
        let manifest = InstallationManifest { programs, ..manifest };
        manifest.write(folder).map_err(InstallError::file("write the manifest of", folder))?;
        let place = self.folder.join(CURRENT);
        let pointed = point_to_sibling(&place, folder.file_name().unwrap_or_default());
        pointed.map_err(InstallError::file("switch", &place))
    }
}

/// Returns the path of `program` in an installation.
pub(super) fn program_in(folder: &Path, program: &str) -> Option<PathBuf> {
    program_folders(folder).into_iter().find_map(|folder| program_at(folder.join(program)))
}
