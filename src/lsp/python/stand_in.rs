//! An interpreter that answers for an environment, and runs nothing of it.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::Libraries;
use crate::text::hex;
use crate::workspace::{Workspace, private};

/// The program, but for what it stands in for.
const PROGRAM: &str = include_str!("stand_in.py");
/// The line that gives way to that.
const ENVIRONMENT: &str = "# ENVIRONMENT\n";

/// The program that stands in for the interpreter of `libraries`, run by `base`; it is put into `cache` if it is not there yet.
///
/// # Errors
/// When it cannot be written.
pub fn stand_in(
    cache: &Path,
    base: &Path,
    workspace: &Workspace,
    libraries: &Libraries,
) -> io::Result<PathBuf> {
    let text = program(base, workspace, libraries);
    // By its content: whoever needs the same has the same, and none is written while it runs.
    let folder = cache.join("python").join(&hex(&Sha256::digest(&text))[..16]);
    let path = folder.join("python");
    if Workspace::read_outside(&path, text.len() as u64).is_ok_and(|there| there == text) {
        return Ok(path);
    }
    private::make_folder(&folder)?;
    let mut file = tempfile::NamedTempFile::new_in(&folder)?;
    io::Write::write_all(&mut file, text.as_bytes())?;
    file.as_file().set_permissions(fs::Permissions::from_mode(0o700))?;
    // Closed before it takes its name: what is open for writing cannot be run.
    let written = file.into_temp_path();
    written.persist(&path)?;
    Ok(path)
}

fn program(base: &Path, workspace: &Workspace, libraries: &Libraries) -> String {
    let mut closed: Vec<PathBuf> = vec![workspace.root().to_owned(), libraries.environment.clone()];
    closed.extend(libraries.folders.iter().cloned());
    let real: Vec<PathBuf> = closed.iter().filter_map(|folder| folder.canonicalize().ok()).collect();
    closed.extend(real);
    closed.sort();
    closed.dedup();
    let version = libraries.version.map_or("None".to_owned(), |(major, minor)| format!("({major}, {minor})"));
    let environment = format!(
        "LIBRARIES = {}\nPREFIX = {}\nCLOSED = {}\nVERSION = {version}\n",
        list(&libraries.folders),
        text(&libraries.environment),
        list(&closed),
    );
    format!("#!{} -ISB\n{}", base.display(), PROGRAM.replace(ENVIRONMENT, &environment))
}

/// A path as a literal of Python, which JSON's are.
fn text(path: &Path) -> Value {
    Value::from(path.to_string_lossy())
}

fn list(paths: &[PathBuf]) -> Value {
    paths.iter().map(|path| text(path)).collect()
}
