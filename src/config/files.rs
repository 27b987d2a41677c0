//! The texts of settings files, the user's own and the project's. Both are bounded, and both may be
//! missing.

use std::path::Path;

use crate::workspace::{ReadError, Workspace};

/// The largest file of settings, in bytes.
pub(crate) const MAX_SETTINGS_FILE_BYTES: u64 = 1 << 20;

/// Reads a file of the user's own, through links; `Err` describes the fault.
pub(super) fn user_text(path: &Path) -> Result<Option<String>, String> {
    match Workspace::read_outside(path, MAX_SETTINGS_FILE_BYTES) {
        Ok(text) => Ok(Some(text)),
        Err(ReadError::NotFound { .. }) => Ok(None),
        Err(ReadError::Special { .. } | ReadError::Directory { .. }) => {
            Err("it is not a file; delete it or replace it with a settings file".to_owned())
        }
        Err(ReadError::TooLarge { size, .. }) => {
            Err(format!("it has {size} bytes, more than the {MAX_SETTINGS_FILE_BYTES} allowed"))
        }
        Err(error) => Err(error.to_string()),
    }
}

/// Reads a file of the project, like every file of the project: a file outside cannot take its
/// place.
pub(super) fn project_text(project: &Path, name: &str) -> Result<Option<String>, String> {
    let workspace = Workspace::open(project).map_err(|error| error.to_string())?;
    let path = workspace.path(Path::new(name)).map_err(|error| error.to_string())?;
    match workspace.read_text_up_to(&path, MAX_SETTINGS_FILE_BYTES) {
        Ok(file) => Ok(Some(file.text)),
        Err(ReadError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}
