//! Stamps of the configuration, and the replacement of a runtime when they differ.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::server_choice::StampedServerChoice;
use super::{Runtime, RuntimeOptions, invalid};
use crate::config::{Config, ConfigError, ConfigOverrides, Folders, MAX_SETTINGS_FILE_BYTES, TrustStore};
use crate::lsp::manager::Manager;
use crate::tools::context::Context;
use crate::tools::error::{ErrorCode, ToolError};
use crate::tools::source::ToolSource;
use crate::workspace::Workspace;

/// What the file system says of the files that the configuration comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ConfigurationStamps {
    files: Vec<Option<InodeStamp>>,
    /// What they said when they were last read; written anew with the same text, they are the same.
    contents: Vec<Option<[u8; 32]>>,
    /// The store is that of all projects; what it says of this one may be as before.
    trust: Option<InodeStamp>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InodeStamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl ConfigurationStamps {
    /// As it is now; `listed` are files that the settings name.
    pub(super) fn current(folders: &Folders, root: &Path, listed: &[PathBuf]) -> Self {
        let files = all_files(folders, root, listed);
        Self {
            files: files.iter().map(stamp).collect(),
            contents: files.iter().map(|file| content_hash(file)).collect(),
            trust: stamp(&folders.trust_file()),
        }
    }

    /// Whether all files are as they were, which is told without reading them.
    fn are_current(&self, folders: &Folders, root: &Path, listed: &[PathBuf]) -> bool {
        self.trust == stamp(&folders.trust_file())
            && self.files.iter().cloned().eq(all_files(folders, root, listed).iter().map(stamp))
    }
}

fn all_files(folders: &Folders, root: &Path, listed: &[PathBuf]) -> Vec<PathBuf> {
    let mut files = Config::files(folders, root);
    files.extend_from_slice(listed);
    files
}

/// The configuration, `whole` or without what the project says, and what the file system said of its files before they were read.
pub(super) fn read(
    folders: &Folders,
    root: &Path,
    whole: bool,
    trust: &TrustStore,
) -> Result<(Config, ConfigurationStamps), ConfigError> {
    let load = || Config::load(folders, whole.then_some(root), &ConfigOverrides::default(), trust);
    let stamps = ConfigurationStamps::current(folders, root, &[]);
    let config = load()?;
    let listed = &config.settings.mounts.listed;
    if listed.is_empty() {
        return Ok((config, stamps));
    }
    // Which files are listed is known only now: what they say is read once more, after they were looked at.
    let stamps = ConfigurationStamps::current(folders, root, listed);
    Ok((load()?, stamps))
}

/// `None` also where it is no file that settings are read from; why not, is told by whoever reads them.
fn content_hash(path: &Path) -> Option<[u8; 32]> {
    Some(Sha256::digest(Workspace::read_bytes_outside(path, MAX_SETTINGS_FILE_BYTES).ok()?).into())
}

pub(super) fn stamp(path: &PathBuf) -> Option<InodeStamp> {
    let metadata = fs::metadata(path).ok()?;
    Some(InodeStamp {
        device: metadata.dev(),
        inode: metadata.ino(),
        size: metadata.size(),
        modified: (metadata.mtime(), metadata.mtime_nsec()),
        changed: (metadata.ctime(), metadata.ctime_nsec()),
    })
}

/// Counts the handles of one runtime.
#[derive(Debug, Clone)]
pub(super) struct RuntimeHandleCounter {
    all: TaskTracker,
    /// Of the handle that this lies in.
    _own: TaskTrackerToken,
}

impl Default for RuntimeHandleCounter {
    fn default() -> Self {
        let all = TaskTracker::new();
        Self { _own: all.token(), all }
    }
}

impl Runtime {
    /// The same workspace under the configuration as it is now; `None` where that has not changed. Commands in the
    /// background, overlays, the tools of an embedder and the counts of calls go over to it; what was agreed to for a session does
    /// not, since the rules may be others.
    ///
    /// # Errors
    /// As [`open`](Self::open): the new configuration cannot be used.
    pub fn reopen_if_changed(&self) -> Result<Option<Self>, ToolError> {
        let (folders, root) = (&self.context.folders, self.context.workspace.root());
        if self.is_withdrawn() {
            return self.reopen(folders).map(Some);
        }
        let mut seen = self.stamps.lock();
        let listed = &self.context.config.settings.mounts.listed;
        if seen.are_current(folders, root, listed) {
            if !self.server_choice_changed() {
                return Ok(None);
            }
            return self.reopen(folders).map(Some);
        }
        let now = ConfigurationStamps::current(folders, root, listed);
        if seen.contents == now.contents {
            let config = Config::load(folders, Some(root), &ConfigOverrides::default(), &self.context.trust);
            if config.map_err(|error| invalid(&error))?.trust == self.context.config.trust {
                *seen = now;
                return Ok(None);
            }
        }
        drop(seen);
        self.reopen(folders).map(Some)
    }

    /// Says no where the project's owner took back what this runtime was opened with: another one was to take its place, and could not be
    /// opened, or nobody has looked yet.
    pub(super) fn check_trust(&self) -> Result<(), ToolError> {
        let Context { config, trust, workspace, .. } = &self.context;
        if !config.trust.is_trusted() || self.is_trust_current() {
            return Ok(());
        }
        trust.check_kept(workspace.root(), &config.launch).map_err(|what| {
            ToolError::new(ErrorCode::Denied, what)
                .with_hint("see whether its settings can be read: lsp-tools doctor")
        })
    }

    /// Ends the servers for good, mounted ones as well, where the project's owner took back what this runtime was opened with.
    pub(super) fn end_without_trust(&self) {
        if self.check_trust().is_err() && !self.withdrawn.swap(true, Ordering::Relaxed) {
            tokio::spawn(shut_down(self.context.manager.clone(), self.sources.clone()));
        }
    }

    /// Whether its servers were ended for want of trust.
    pub(super) fn is_withdrawn(&self) -> bool {
        self.withdrawn.load(Ordering::Relaxed)
    }

    /// Whether the store of trusted projects is the one that this runtime was opened by.
    pub(super) fn is_trust_current(&self) -> bool {
        self.stamps.lock().trust == stamp(&self.context.folders.trust_file())
    }

    /// Whether other servers are to run than those that do: one was installed or removed, or the project configures another.
    fn server_choice_changed(&self) -> bool {
        let mut chosen = self.chosen.lock();
        if chosen.is_current() {
            return false;
        }
        let context = &self.context;
        let now = StampedServerChoice::detect(
            &context.config,
            &context.workspace,
            &context.folders,
            &context.trust,
        );
        if !now.is_same(&chosen) {
            return true;
        }
        *chosen = now;
        false
    }

    /// The same workspace, with the configuration read anew.
    fn reopen(&self, folders: &Folders) -> Result<Self, ToolError> {
        let options = RuntimeOptions {
            workspace: Some(self.context.workspace.root().to_owned()),
            cwd: self.context.cwd.clone(),
            without_project_settings: false,
            supervisor: self.spawner.supervisor().map(Path::to_owned),
            timeout: self.context.timeout,
            install_missing: self.context.install_missing,
            patience: self.context.patience,
            trace: None,
            progress: self.context.progress.clone(),
        };
        let mut other = Self::open_with_trace(options, folders.clone(), self.context.manager.trace())?;
        if other.context.workspace.root() != self.context.workspace.root() {
            let what = format!(
                "a link was put in the place of the workspace {}",
                self.context.workspace.root().display()
            );
            return Err(ToolError::new(ErrorCode::Denied, what).with_hint("open it anew by its own path"));
        }
        other.context.shells = self.context.shells.clone();
        other.context.overlays = self.context.overlays.clone();
        other.tools = self.tools.clone();
        other.tally = self.tally.clone();
        other.feed = self.feed.clone();
        other.known_overlays = self.known_overlays.clone();
        for maker in self.makers.iter() {
            other.add_from_maker(maker.clone());
        }
        Ok(other)
    }

    /// Ends the servers once nobody holds another handle of this runtime, or after `longest`: for one whose place another
    /// one has taken. Commands in the background belong to that other one by now.
    pub(crate) async fn retire(self, longest: Duration) {
        let (manager, handles) = (self.context.manager.clone(), self.handles.all.clone());
        let sources = self.sources.clone();
        drop(self);
        handles.close();
        if tokio::time::timeout(longest, handles.wait()).await.is_err() {
            tracing::warn!("calls under former settings are still running after {} s", longest.as_secs());
        }
        shut_down(manager, sources).await;
    }
}

async fn shut_down(manager: Arc<Manager>, sources: Arc<Vec<Arc<dyn ToolSource>>>) {
    let sources = futures::future::join_all(sources.iter().map(|source| source.shutdown()));
    tokio::join!(manager.shutdown(), sources);
}
