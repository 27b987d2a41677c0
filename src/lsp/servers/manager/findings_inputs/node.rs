//! The inputs of servers that Node.js runs: its program and variables, and packages that they load.

use std::path::Path;

use crate::lsp::servers::locate::LocatedProgram;
use crate::platform::canonicalize;
use crate::process::ProgramPath;
use crate::workspace::{FileStamp, Workspace};

/// Options of Node.js that load code.
const LOADING_OPTIONS: [&str; 5] = ["-r", "--require", "--import", "--loader", "--experimental-loader"];

/// Returns the state of the Node.js that runs a server of the installation `prefix`.
/// `None` if a variable or a folder above the installation may lead to further code: plug-ins that
/// the settings of a project name are searched for there.
pub(super) fn state(workspace: &Workspace, located: &LocatedProgram, prefix: &Path) -> Option<String> {
    let value = |name: &str| std::env::var(name).unwrap_or_default();
    let loads = |option: &str| LOADING_OPTIONS.contains(&option.split('=').next().unwrap_or_default());
    let is_plain = value("NODE_PATH").is_empty() && !value("NODE_OPTIONS").split_whitespace().any(loads);
    let has_packages = prefix.ancestors().any(|folder| folder.join("node_modules").exists());
    (is_plain && !has_packages).then_some(())?;
    let path = ProgramPath::of_user(workspace).after(located.path_folders.iter().cloned());
    let program = path.followed_by(located.fallback_folders.iter().cloned()).find("node")?;
    let program = canonicalize(program).ok()?;
    Some(format!("{program:?} {:?}", FileStamp::from_path(&program)))
}
