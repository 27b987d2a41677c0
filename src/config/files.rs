//! Texts of settings: a file of the user's own, and one of the project's. Both are bounded, and both may be missing.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use crate::workspace::{ReadError, Workspace};

/// No file of settings has more bytes.
const MOST_BYTES: u64 = 1 << 20;

/// The text of a file, read as the user's own are, through links; `Err` says what is wrong with it.
pub(super) fn user_text(path: &Path) -> Result<Option<String>, String> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    if !metadata.is_file() {
        return Err("it is not a file; delete it or put a file of settings there".to_owned());
    }
    if metadata.len() > MOST_BYTES {
        return Err(format!("it has {} bytes, more than the {MOST_BYTES} allowed", metadata.len()));
    }
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(MOST_BYTES).read_to_string(&mut text))
        .map_err(|error| error.to_string())?;
    Ok(Some(text))
}

/// The text of a file of the project, read as every file of the project is: nothing that lies outside can stand in for it.
pub(super) fn project_text(project: &Path, name: &str) -> Result<Option<String>, String> {
    let workspace = Workspace::open(project).map_err(|error| error.to_string())?;
    let path = workspace.path(Path::new(name)).map_err(|error| error.to_string())?;
    match workspace.read_text_up_to(&path, MOST_BYTES) {
        Ok(file) => Ok(Some(file.text)),
        Err(ReadError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
