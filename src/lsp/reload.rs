//! Having a server see other files as they are on disk, where it does not do so by itself, or only later.
//!
//! What it takes is a rule of the catalogue ([`ReloadRule`](crate::config::spec::ReloadRule)). It is done right before the next question,
//! so that many changes cost one reload, and servers that nobody asks cost none.

use std::sync::PoisonError;
use std::time::{Duration, Instant as Clock};

use serde_json::Value;
use tokio::time::Instant;

use super::documents::{Snapshot, Synced};
use super::session::Session;
use crate::workspace::{ChangeKind, ReadError, WorkspacePath};

/// The longest that one question waits for a reload; the server answers it after that all the same.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a server may still have to take in.
#[derive(Debug, Default)]
pub(super) struct Reload {
    /// Files that it has not open came, went or changed since it was last told to look.
    due: std::sync::Mutex<bool>,
    /// Held while it looks: whoever asks meanwhile waits.
    turn: tokio::sync::Mutex<()>,
}

impl Session {
    /// Notes that these files changed on disk.
    pub(super) fn note_changes(&self, changes: &[(WorkspacePath, ChangeKind)]) {
        let rule = &self.state.spec.reload;
        let unseen = |(path, kind): &(WorkspacePath, ChangeKind)| {
            rule.is_about(&path.name_lossy())
                && (*kind != ChangeKind::Changed || !self.documents.contains(path))
                && self.concerns(path)
        };
        if changes.iter().any(unseen) {
            self.reload_soon();
        }
    }

    /// Notes that of these files the server was shown other texts: one that is not on disk is a new file to it, or one that went.
    pub(super) fn note_shown<'a>(&self, mut paths: impl Iterator<Item = &'a WorkspacePath>) {
        if paths.any(|path| !self.workspace.exists(path)) {
            self.reload_soon();
        }
    }

    /// Notes that nobody can say what changed.
    pub(super) fn reload_soon(&self) {
        let rule = &self.state.spec.reload;
        *self.reload.due.lock().unwrap_or_else(PoisonError::into_inner) = rule.method.is_some();
        if let Some(settle) = rule.settle() {
            self.state.readiness(|readiness| readiness.settle(Clock::now() + settle));
        }
    }

    /// Has the server look at the disk where that is due.
    pub(super) async fn take_in(&self, deadline: Instant) {
        let rule = &self.state.spec.reload;
        let Some(method) = &rule.method else { return };
        let _turn = self.reload.turn.lock().await;
        let is_due = std::mem::take(&mut *self.reload.due.lock().unwrap_or_else(PoisonError::into_inner));
        if !is_due {
            return;
        }
        let params = serde_json::to_value(&rule.params).unwrap_or_default();
        let until = deadline.min(Instant::now() + PATIENCE);
        if let Err(error) = self.connection.request::<Value>(method, &params, until).await {
            tracing::debug!(server = self.server(), method, "not reloaded: {error}");
        }
    }

    /// Brings `path` in step with the disk, and what the server knows of other files with it.
    pub(super) async fn in_step(
        &self,
        path: &WorkspacePath,
        deadline: Instant,
    ) -> Result<(Synced, Snapshot), ReadError> {
        self.take_in(deadline).await;
        let (mut synced, mut snapshot) = self.sync(path).await?;
        let needs_touch = self.state.spec.reload.touch;
        if let Some(document) =
            synced.document().filter(|document| needs_touch && document.epoch != self.state.epoch())
        {
            self.touch(document);
            snapshot = document.snapshot();
        }
        Ok((synced, snapshot))
    }
}
