//! The chat stores of this machine, and their sessions of one workspace.

use std::path::{Path, PathBuf};

use super::session::{ChatSessionFinder, WorkspaceChats};
use super::store_files::ChatStoreFindings;
use super::{copilot_cli, vscode};
use crate::analysis::context::Context;

/// The configuration folder names of VS Code and its derivatives.
const EDITORS: [&str; 3] = ["Code", "Code - Insiders", "VSCodium"];

/// All stores in the settings, or at their usual locations.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Stores;

impl ChatSessionFinder for Stores {
    fn find(&self, context: &Context) -> WorkspaceChats {
        let settings = &context.config.settings.chats;
        let root = context.workspace.root();
        let mut harvest = ChatStoreFindings::default();
        let home = context.folders.home.as_deref();
        for folder in store_folders(settings.vscode.as_deref(), home, vscode_folders) {
            vscode::find(&folder, root, &mut harvest);
        }
        for folder in store_folders(settings.copilot_cli.as_deref(), home, copilot_folders) {
            copilot_cli::find(&folder, root, &mut harvest);
        }
        WorkspaceChats::new(harvest.sessions, harvest.skipped)
    }
}

/// The folders in the settings, else the usual ones.
fn store_folders(
    given: Option<&[String]>,
    home: Option<&Path>,
    usual: fn(Option<&Path>) -> Vec<PathBuf>,
) -> Vec<PathBuf> {
    match given {
        None => usual(home),
        Some(given) => given.iter().filter_map(|path| expand_home(path, home)).collect(),
    }
}

/// Resolves a path that starts with `/` or `~/`. The settings reject other paths.
fn expand_home(given: &str, home: Option<&Path>) -> Option<PathBuf> {
    match given.strip_prefix("~/") {
        None => Some(PathBuf::from(given)),
        Some(below) => Some(home?.join(below)),
    }
}

/// The `User` folders of VS Code and its derivatives.
fn vscode_folders(home: Option<&Path>) -> Vec<PathBuf> {
    let set = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
    let config = set.or_else(|| Some(home?.join(".config")));
    let installed = config.iter().flat_map(|config| EDITORS.map(|editor| config.join(editor).join("User")));
    let portable =
        std::env::var_os("VSCODE_PORTABLE").map(|folder| Path::new(&folder).join("user-data/User"));
    installed.chain(portable).collect()
}

/// The folder of Copilot's command line.
fn copilot_folders(home: Option<&Path>) -> Vec<PathBuf> {
    let set = std::env::var_os("COPILOT_HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    set.or_else(|| Some(home?.join(".copilot"))).into_iter().collect()
}
