//! The stores of this machine, and what they have of one workspace.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::super::context::Context;
use super::session::{ChatSession, ChatSessionFinder, ChatSource, Skipped, WorkspaceChats};
use super::{copilot_cli, vscode};
use crate::workspace::{EntryKind, FileStamp, ListQuery, WorkDeadline, Workspace, WorkspacePath};

/// Names of VS Code and editors made of it, as their folders are called.
const EDITORS: [&str; 3] = ["Code", "Code - Insiders", "VSCodium"];
/// The largest file of a session that is read, in bytes.
pub(super) const MOST_BYTES: u64 = 128 << 20;
/// Entries of one folder of a store that are looked at.
const MOST_ENTRIES: usize = 20_000;
/// How long the look into one folder may take.
const LOOK: Duration = Duration::from_secs(5);

/// All stores that the settings name, or where they usually are.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Stores;

impl ChatSessionFinder for Stores {
    fn find(&self, context: &Context) -> WorkspaceChats {
        let settings = &context.config.settings.chats;
        let root = context.workspace.root();
        let mut harvest = ChatStoreFindings::default();
        let home = context.folders.home.as_deref();
        for folder in named(settings.vscode.as_deref(), home, vscode_folders) {
            vscode::find(&folder, root, &mut harvest);
        }
        for folder in named(settings.copilot_cli.as_deref(), home, copilot_folders) {
            copilot_cli::find(&folder, root, &mut harvest);
        }
        WorkspaceChats::new(harvest.sessions, harvest.skipped)
    }
}

/// What is found, store by store.
#[derive(Debug, Default)]
pub(super) struct ChatStoreFindings {
    pub sessions: Vec<ChatSession>,
    pub skipped: Vec<Skipped>,
}

impl ChatStoreFindings {
    pub(super) fn skip(&mut self, source: ChatSource, name: &str, reason: impl ToString) {
        let (name, reason) = (name.escape_debug().to_string(), reason.to_string());
        self.skipped.push(Skipped { source, name, reason });
    }
}

/// The folders that settings name, else the usual ones.
fn named(
    given: Option<&[String]>,
    home: Option<&Path>,
    usual: fn(Option<&Path>) -> Vec<PathBuf>,
) -> Vec<PathBuf> {
    match given {
        None => usual(home),
        Some(given) => given.iter().filter_map(|path| expanded(path, home)).collect(),
    }
}

/// A path from `/` or `~/`; others are refused when settings are read.
fn expanded(given: &str, home: Option<&Path>) -> Option<PathBuf> {
    match given.strip_prefix("~/") {
        None => Some(PathBuf::from(given)),
        Some(below) => Some(home?.join(below)),
    }
}

/// The folders called `User` of VS Code and its kin.
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

/// A folder of a store, which nothing is read outside of; `None` where there is none.
pub(super) fn jail(folder: &Path) -> Option<Workspace> {
    folder.is_dir().then(|| Workspace::open(folder).ok()).flatten()
}

/// What is in `folder`: names, and whether each is a folder. Links are not followed.
pub(super) fn entries(store: &Workspace, folder: &WorkspacePath) -> Vec<(String, bool)> {
    let until = WorkDeadline::new(Instant::now() + LOOK);
    let query = ListQuery { under: folder.clone(), recursive: false, max: MOST_ENTRIES, until };
    let entries = store.list(&query).map(|listing| listing.entries).unwrap_or_default();
    let kept = entries.into_iter().filter_map(|entry| {
        let name = entry.path.file_name()?.to_owned();
        match entry.kind {
            EntryKind::File => Some((name, false)),
            EntryKind::Directory => Some((name, true)),
            EntryKind::Symlink(_) | EntryKind::Special(_) => None,
        }
    });
    kept.collect()
}

/// When a file was written, in milliseconds since 1970.
pub(super) fn written(stamp: &FileStamp) -> i64 {
    stamp.mtime_ns.div_euclid(1_000_000)
}

/// Whether a session held in `folder` belongs to the workspace at `root`: there, or below it.
pub(super) fn belongs(folder: &Path, root: &Path) -> bool {
    // A folder that is gone cannot be asked where its links led.
    let real = std::fs::canonicalize(folder);
    real.as_deref().unwrap_or(folder).starts_with(root)
}
