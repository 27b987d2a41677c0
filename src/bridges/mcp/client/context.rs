//! The context that all mounted servers of a workspace share.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::chain::Chain;
use crate::analysis::context::Context;
use crate::config::{Folders, TrustStore};
use crate::process::Spawner;
use crate::workspace::Workspace;

/// The state shared by all mounted servers of a workspace.
#[derive(Debug)]
pub(super) struct MountContext {
    workspace: Workspace,
    spawner: Spawner,
    trust: TrustStore,
    folders: Folders,
    allowed_hosts: Vec<String>,
    idle_stop: Duration,
    chain: Chain,
    generation: Arc<watch::Sender<u64>>,
}

impl MountContext {
    pub(super) fn new(context: &Context, generation: Arc<watch::Sender<u64>>) -> Self {
        let settings = &context.config.settings;
        Self {
            workspace: context.workspace.clone(),
            spawner: context.manager.spawner().clone(),
            trust: context.trust.clone(),
            folders: context.folders.clone(),
            allowed_hosts: settings.fetch.allow_hosts.clone(),
            idle_stop: settings.servers.idle_stop(),
            chain: Chain::from_environment(),
            generation,
        }
    }

    pub(super) fn root(&self) -> &Path {
        self.workspace.root()
    }

    pub(super) fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    pub(super) fn spawner(&self) -> &Spawner {
        &self.spawner
    }

    pub(super) fn trust(&self) -> &TrustStore {
        &self.trust
    }

    /// Private hosts that may be contacted.
    pub(super) fn allowed_hosts(&self) -> &[String] {
        &self.allowed_hosts
    }

    /// The user's folders.
    pub(super) fn folders(&self) -> &Folders {
        &self.folders
    }

    /// The chain of mounts of this process.
    pub(super) fn chain(&self) -> &Chain {
        &self.chain
    }

    /// The time until an idle server is stopped.
    pub(super) fn idle_stop(&self) -> Duration {
        self.idle_stop
    }

    /// Notifies receivers that the offered tools, or the reasons for the others, have changed.
    pub(super) fn notify_changed(&self) {
        self.generation.send_modify(|generation| *generation += 1);
    }
}
