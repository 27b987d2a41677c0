//! The inputs of servers that Node.js runs: its programs and variables, and packages that they load.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::lsp::servers::locate::LocatedProgram;
use crate::platform::canonicalize;
use crate::workspace::FileStamp;

/// Options of Node.js that load code.
const LOADING_OPTIONS: [&str; 5] = ["-r", "--require", "--import", "--loader", "--experimental-loader"];

/// Returns the states of the programs of Node.js that may run a server of the installation `prefix`.
/// `None` if a variable or a folder above the installation may lead to further code: plug-ins that
/// the settings of a project name are searched for there.
pub(super) fn state(located: &LocatedProgram, prefix: &Path) -> Option<String> {
    let value = |name: &str| std::env::var(name).unwrap_or_default();
    let loads = |option: &str| LOADING_OPTIONS.contains(&option.split('=').next().unwrap_or_default());
    let is_plain = value("NODE_PATH").is_empty() && !value("NODE_OPTIONS").split_whitespace().any(loads);
    let has_packages = prefix.ancestors().any(|folder| folder.join("node_modules").exists());
    (is_plain && !has_packages).then_some(())?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.extend(located.path_folders.iter().chain(&located.fallback_folders).cloned());
    let mut state = String::new();
    for program in folders.iter().filter_map(|folder| canonicalize(folder.join("node")).ok()) {
        write!(state, "{program:?} {:?}", FileStamp::from_path(&program)).ok()?;
    }
    Some(state)
}
