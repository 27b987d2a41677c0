//! Notification of a server about changes on disk, and a reload if it misses them.
//!
//! The catalogue defines the necessary steps ([`ReloadRule`]).
//! They are done right before the next question, so that many changes cause one reload, and idle
//! servers none.

use std::time::{Duration, Instant as Clock};

use lsp_types::notification::DidChangeWatchedFiles;
use lsp_types::{DidChangeWatchedFilesParams, FileChangeType, FileEvent};
use serde_json::Value;
use tokio::time::Instant;

use super::live_session::Session;
use super::request::notify_server;
use crate::config::spec::ReloadRule;
use crate::lsp::diagnostics::findings::DiagnosticsCompleteness;
use crate::lsp::documents::open_documents::{Snapshot, SyncedDocument};
use crate::lsp::uri;
use crate::rpc::RequestError;
use crate::workspace::{ChangeBatch, ChangeKind, ReadError, WorkspacePath};

/// The maximum time that one question waits for a reload; the server answers it after that all the
/// same.
const RELOAD_WAIT_TIMEOUT: Duration = Duration::from_secs(20);

impl Session {
    /// Notifies the server of changes on disk (LSP 3.17, *DidChangeWatchedFiles*) as far as it
    /// registered for them, and synchronizes its open documents.
    pub(crate) async fn files_changed(&self, batch: &ChangeBatch) {
        let changes = &[&batch.changes[..], &batch.aside].concat();
        // Some servers look for the files of a new folder only at an event of that itself.
        let folders: Vec<FileEvent> =
            batch.folders.iter().filter_map(|(path, kind)| self.event(path, *kind)).collect();
        let before = self.state.epoch();
        self.forget_configuration_state(changes);
        // First, so that documents synced below count as checked after these changes.
        // A build reads files of any kind.
        let is_built = self.state.spec.diagnostics.background_check.is_some();
        let counts = |(path, _): &(WorkspacePath, ChangeKind)| is_built || self.is_affected_by(path);
        if !folders.is_empty() || changes.iter().any(counts) {
            self.disk_changed();
            let changed: Vec<WorkspacePath> = changes.iter().map(|(path, _)| path.clone()).collect();
            let mut kept = self.diagnostics_cache.lock();
            kept.note_change(self.disk_revision(), changed.clone());
            if self.state.spec.diagnostics.own_text {
                kept.carry_over(self.disk_revision(), |_| true, |path| !changed.contains(path), true);
            }
            drop(kept);
            self.state.advance_epoch();
        }
        if !self.state.spec.diagnostics.own_text
            && changes.iter().any(|(path, _)| self.catalogue.may_be_settings(&path.name_lossy()))
        {
            self.diagnostics_cache.lock().note_settings_change();
        }
        let open: Vec<&WorkspacePath> =
            changes.iter().map(|(path, _)| path).filter(|path| self.documents.contains(path)).collect();
        self.sync_all(&open).await;
        if let ([(changed, _)], [_], []) = (changes.as_slice(), open.as_slice(), folders.as_slice()) {
            self.mark_settled(changed, before).await;
        }
        let mut events = folders;
        events.extend(changes.iter().filter_map(|(path, kind)| self.event(path, *kind)));
        if !events.is_empty() {
            let params = DidChangeWatchedFilesParams { changes: events };
            notify_server::<DidChangeWatchedFiles>(&self.connection, &params);
        }
    }

    /// The event of a change, if the server registered for it.
    fn event(&self, path: &WorkspacePath, kind: ChangeKind) -> Option<FileEvent> {
        let (kind, bit) = match kind {
            ChangeKind::Created => (FileChangeType::CREATED, 1),
            ChangeKind::Changed => (FileChangeType::CHANGED, 2),
            ChangeKind::Deleted => (FileChangeType::DELETED, 4),
        };
        let absolute = self.workspace.absolute(path);
        let is_watched = self.state.with_registrations(|known| known.watches(&absolute, bit));
        is_watched.then(|| FileEvent::new(uri::from_path(&absolute), kind))
    }

    /// Compares every open document with the disk, after changes that could not be listed.
    pub(crate) async fn rescan(&self) {
        self.forget_configuration_state(&[]);
        self.disk_changed();
        self.state.advance_epoch();
        for path in self.documents.paths() {
            self.sync_if_readable(&path).await;
        }
    }

    /// Returns true if it may miss some of these changes, so that its rule applies.
    pub(crate) fn may_miss(&self, changes: &ChangeBatch) -> bool {
        let ReloadRule { files, also_open, .. } = &self.state.spec.reload;
        let concerns = |path: &WorkspacePath| match files.is_empty() {
            true => self.is_affected_by(path),
            false => files.iter().any(|name| path.as_path().ends_with(name)),
        };
        let missed = |(path, kind): &(WorkspacePath, ChangeKind)| {
            concerns(path) && (*also_open || *kind != ChangeKind::Changed || !self.documents.contains(path))
        };
        changes.overflowed || changes.changes.iter().chain(&changes.aside).any(missed)
    }

    /// Records that the server was shown other texts of these files: one that is not on disk is
    /// like a new file to it, or a deleted one.
    pub(crate) fn note_shown<'a>(&self, mut paths: impl Iterator<Item = &'a WorkspacePath>) {
        if paths.any(|path| !self.workspace.exists(path)) {
            self.reload_soon();
        }
    }

    /// Records a change of files that it may not notice by itself.
    pub(crate) fn reload_soon(&self) {
        let rule = &self.state.spec.reload;
        self.unseen_changes.add();
        if let Some(settle) = rule.settle() {
            self.state.with_readiness(|readiness| readiness.mark_settling(Clock::now() + settle));
        }
    }

    /// Makes the server examine the disk if that is due.
    pub(crate) async fn reload_if_due(&self, deadline: Instant) {
        let rule = &self.state.spec.reload;
        let Some(method) = &rule.method else { return };
        let mut seen = self.unseen_changes.lock_seen().await;
        let changes = self.unseen_changes.count();
        if *seen == changes {
            return;
        }
        let params = serde_json::to_value(&rule.params).unwrap_or_default();
        let until = deadline.min(Instant::now() + RELOAD_WAIT_TIMEOUT);
        match self.connection.request::<Value>(method, &params, until).await {
            // The next question tries again.
            Err(error @ RequestError::Timeout { .. }) => {
                tracing::debug!(server = self.server(), method, "not reloaded: {error}");
            }
            Err(error) => {
                tracing::warn!(server = self.server(), method, "not reloaded: {error}");
                *seen = changes;
            }
            Ok(_) => *seen = changes,
        }
    }

    /// Records that nothing changed since `before` except the open document of `path` itself.
    pub(super) async fn mark_settled(&self, path: &WorkspacePath, before: u64) {
        let Ok((mut synced, _)) = self.sync(path).await else { return };
        if let Some(document) = synced.document().filter(|document| document.settled == before) {
            document.settled = self.state.epoch();
        }
    }

    /// Synchronizes `path` with the disk, and the server's knowledge of other files with it.
    pub(super) async fn sync_with_disk(
        &self,
        path: &WorkspacePath,
        deadline: Instant,
    ) -> Result<(SyncedDocument, Snapshot), ReadError> {
        self.reload_if_due(deadline).await;
        let (mut synced, snapshot) = self.sync(path).await?;
        let epoch = self.state.epoch();
        let settled = synced.document().map_or(epoch, |document| document.settled);
        if !self.state.spec.reload.touch || settled == epoch {
            return Ok((synced, snapshot));
        }
        drop(synced);
        // New findings for the text show that the server has read the other files.
        let pushed = self.pushed_diagnostics(path, deadline).await;
        let (mut synced, snapshot) = self.sync(path).await?;
        match (pushed, synced.document()) {
            (Ok(raw), Some(document)) if !matches!(raw.known, DiagnosticsCompleteness::NoData(_)) => {
                document.settled = epoch
            }
            (Err(error), _) => tracing::debug!(server = self.server(), "not touched: {error}"),
            _ => {}
        }
        Ok((synced, snapshot))
    }
}
