//! A stand-in interpreter that answers for an environment and runs nothing of it.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Libraries;
use crate::lsp::servers::generated_file;
use crate::platform::canonicalize;
use crate::workspace::Workspace;

/// The program, without the description of its environment.
const PROGRAM: &str = include_str!("stand_in.py");
/// The placeholder line for that description.
const ENVIRONMENT: &str = "# ENVIRONMENT\n";

/// Returns the program that replaces the interpreter of `libraries`, run by `base`; it is written
/// to `cache` if it does not exist yet.
///
/// # Errors
/// The program cannot be written.
pub(crate) fn ensure_wrapper(
    cache: &Path,
    base: &Path,
    workspace: &Workspace,
    libraries: &Libraries,
) -> io::Result<PathBuf> {
    generated_file::ensure_written(
        &cache.join("python"),
        "python",
        &program(base, workspace, libraries),
        0o700,
    )
}

fn program(base: &Path, workspace: &Workspace, libraries: &Libraries) -> String {
    let mut closed: Vec<PathBuf> = vec![workspace.root().to_owned(), libraries.environment.clone()];
    closed.extend(libraries.folders.iter().cloned());
    let real: Vec<PathBuf> = closed.iter().filter_map(|folder| canonicalize(folder).ok()).collect();
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

/// Formats a path as a Python literal, which is JSON.
fn text(path: &Path) -> Value {
    Value::from(path.to_string_lossy())
}

fn list(paths: &[PathBuf]) -> Value {
    paths.iter().map(|path| text(path)).collect()
}
