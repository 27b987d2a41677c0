//! Files of the product that other programs read or run, stored under the hash of their content.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::platform::files::set_mode;
use crate::platform::private;
use crate::text::hex;
use crate::workspace::Workspace;

/// Returns the file `name` with `text`, in a folder of its own below `folder`; it is written if it
/// does not exist yet.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn ensure_written(folder: &Path, name: &str, text: &str, mode: u32) -> io::Result<PathBuf> {
    // By its content: none is written while it runs.
    let folder = folder.join(&hex(&Sha256::digest(text))[..16]);
    let path = folder.join(name);
    if Workspace::read_outside(&path, text.len() as u64).is_ok_and(|there| there == text) {
        return Ok(path);
    }
    private::make_folder(&folder)?;
    let mut file = tempfile::NamedTempFile::new_in(&folder)?;
    file.write_all(text.as_bytes())?;
    set_mode(file.as_file(), mode)?;
    // The file is closed before it gets its name: a file that is open for writing cannot be run.
    let written = file.into_temp_path();
    written.persist(&path)?;
    Ok(path)
}
