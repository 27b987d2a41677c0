//! The replacement of a runtime after its configuration or the choice of servers changed.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::configuration_stamps::ConfigurationStamps;
use super::server_choice::StampedServerChoice;
use super::{Runtime, RuntimeOptions, invalid};
use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::config::{Config, ConfigOverrides, Folders};
use crate::lsp::servers::manager::Manager;
use crate::tools::api::source::ToolSource;
use crate::workspace::FileStamp;

impl Runtime {
    /// Reopens the workspace under the current configuration. Returns `None` if the configuration
    /// has not changed.
    ///
    /// Background commands, overlays, an embedder's tools and the statistics of calls move to the
    /// new runtime. Approvals for sessions do not, since the rules may differ.
    ///
    /// # Errors
    /// Those of [`open`](Self::open): the new configuration cannot be used.
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

    /// Returns an error if the owner has withdrawn the trust that this runtime was opened with.
    /// This happens if the replacement could not be opened, or before the next check.
    pub(super) fn check_trust(&self) -> Result<(), ToolError> {
        let Context { config, trust, workspace, .. } = &self.context;
        if !config.trust.is_trusted() || self.is_trust_current() {
            return Ok(());
        }
        trust.check_kept(workspace.root(), &config.launch).map_err(|what| {
            ToolError::new(ErrorCode::Denied, what).with_hint("check its settings with: lsp-tools doctor")
        })
    }

    /// Ends the servers for good, including mounted ones, if the owner has withdrawn the trust that
    /// this runtime was opened with.
    pub(super) fn end_without_trust(&self) {
        if self.check_trust().is_err() && !self.withdrawn.swap(true, Ordering::Relaxed) {
            tokio::spawn(shut_down(self.context.manager.clone(), self.sources.clone()));
        }
    }

    /// Returns true if the servers were ended because the trust was withdrawn.
    pub(super) fn is_withdrawn(&self) -> bool {
        self.withdrawn.load(Ordering::Relaxed)
    }

    /// Returns true if the trust store has not changed since this runtime was opened.
    pub(super) fn is_trust_current(&self) -> bool {
        self.stamps.lock().trust == FileStamp::from_path(&self.context.folders.trust_file())
    }

    /// Returns true if the choice of servers differs from the running ones: one was installed or
    /// removed, or the project configures another.
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

    /// Opens the same workspace again with a newly read configuration.
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
            let what =
                format!("the workspace {} was replaced by a link", self.context.workspace.root().display());
            return Err(ToolError::new(ErrorCode::Denied, what).with_hint("open it again by its own path"));
        }
        other.state = self.state.clone();
        other.take_over_tools(&self.tools);
        other.tally = self.tally.clone();
        other.feed = self.feed.clone();
        other.known_overlays = self.known_overlays.clone();
        for maker in self.makers.iter() {
            other.add_from_maker(maker.clone());
        }
        Ok(other)
    }

    /// Ends the servers once no other handle of this runtime exists, or after `longest`. Called on
    /// a runtime that has been replaced; its background commands belong to the replacement.
    pub(crate) async fn retire(self, longest: Duration) {
        let (manager, handles) = (self.context.manager.clone(), self.handles.all.clone());
        let sources = self.sources.clone();
        drop(self);
        handles.close();
        if tokio::time::timeout(longest, handles.wait()).await.is_err() {
            tracing::warn!("calls with the old settings are still running after {} s", longest.as_secs());
        }
        shut_down(manager, sources).await;
    }
}

async fn shut_down(manager: Arc<Manager>, sources: Arc<Vec<Arc<dyn ToolSource>>>) {
    let sources = futures::future::join_all(sources.iter().map(|source| source.shutdown()));
    tokio::join!(manager.shutdown(), sources);
}
