//! What keeps a server on Node.js from loading code of a project that is not trusted.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::own_file;

/// The module, but for the folders that it is about.
const MODULE: &str = include_str!("node_guard.cjs");
/// The line that gives way to them.
const FOLDERS: &str = "/* FOLDERS */\n";

/// The value of `NODE_OPTIONS` with which Node.js loads no code from below `closed`, apart from what lies below `open`; `given` is
/// its value until now. The module that sees to it is put into `cache`.
///
/// # Errors
/// When that cannot be written.
pub fn node_options(
    cache: &Path,
    closed: &Path,
    open: &[&Path],
    given: Option<&OsStr>,
) -> io::Result<OsString> {
    let module = own_file::put(&cache.join("node"), "guard.cjs", &module(closed, open), 0o600)?;
    // Words are parted at blanks there, but for those in quotes.
    let quoted = module.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    let mut options = OsString::from(format!("--require \"{quoted}\""));
    if let Some(given) = given.filter(|given| !given.is_empty()) {
        options.push(" ");
        options.push(given);
    }
    Ok(options)
}

fn module(closed: &Path, open: &[&Path]) -> String {
    let folders = format!("const CLOSED = {};\nconst OPEN = {};\n", list(&[closed]), list(open));
    MODULE.replace(FOLDERS, &folders)
}

/// The folders as they are named and as they are, as a literal of JavaScript, which JSON's are.
fn list(folders: &[&Path]) -> Value {
    let real = folders.iter().filter_map(|folder| folder.canonicalize().ok());
    let mut all: Vec<PathBuf> = folders.iter().map(|folder| folder.to_path_buf()).chain(real).collect();
    all.sort();
    all.dedup();
    all.iter().map(|folder| Value::from(folder.to_string_lossy())).collect()
}
