//! The signs that a server has read a document for the first time. An answer about the document
//! before such a sign may be empty, or made from the words of its text.

use std::time::Duration;

use tokio::time::Instant;

use super::ask::{AskError, readiness_deadline};
use super::live_session::Session;
use super::readiness::{UnfinishedWork, WorkProgress};
use crate::config::spec::DiagnosticsSource;
use crate::workspace::WorkspacePath;

/// The longest wait for the first push for a document.
const FIRST_PUSH_TIMEOUT: Duration = Duration::from_secs(2);
/// The longest wait for an idle sign of a server that has sent no sign for the document at all.
const FIRST_SIGN_TIMEOUT: Duration = Duration::from_secs(3);

impl Session {
    /// Returns true if the server pushes diagnostics, and has pushed none for `path` yet.
    pub(super) fn awaits_first_push(&self, path: &WorkspacePath) -> bool {
        let pushes = match self.state.spec.diagnostics.source {
            DiagnosticsSource::Push | DiagnosticsSource::VersionedPush | DiagnosticsSource::Auto => true,
            DiagnosticsSource::Pull | DiagnosticsSource::Tsserver | DiagnosticsSource::None => false,
        };
        pushes && self.state.push_count(path) == 0 && !self.state.leaves_documents_unpushed()
    }

    /// Waits for the first push for `path`; false if none comes in time. A server that leaves one
    /// document without a push is not awaited again.
    pub(super) async fn wait_for_first_push(&self, path: &WorkspacePath, deadline: Instant) -> bool {
        let limit = Instant::now() + FIRST_PUSH_TIMEOUT;
        let until = limit.min(readiness_deadline(deadline));
        let mut changes = self.state.listen();
        while self.state.push_count(path) == 0 {
            tokio::select! {
                outcome = changes.changed() => if outcome.is_err() { return false },
                _ = self.connection.wait_closed() => return false,
                () = tokio::time::sleep_until(until) => {
                    if until == limit {
                        self.state.mark_document_unpushed();
                    }
                    return false;
                }
            }
        }
        true
    }

    /// Opens `path` and waits until a server with an idle sign has read it once. Returns the
    /// unfinished work if it has not done so in time.
    pub(super) async fn wait_until_read(
        &self,
        path: &WorkspacePath,
        deadline: Instant,
    ) -> Result<Option<UnfinishedWork>, AskError> {
        if self.state.spec.diagnostics.idle.is_none() || self.state.pushes(path).idle > 0 {
            return Ok(None);
        }
        let mut changes = self.state.listen();
        drop(self.sync_with_disk(path, deadline).await?);
        let started = Instant::now();
        let until = readiness_deadline(deadline);
        loop {
            let pushes = self.state.pushes(path);
            if pushes.idle > 0 {
                return Ok(None);
            }
            let limit = if pushes.busy { until } else { until.min(started + FIRST_SIGN_TIMEOUT) };
            tokio::select! {
                outcome = changes.changed() => if outcome.is_err() { return Ok(None) },
                _ = self.connection.wait_closed() => return Ok(None),
                () = tokio::time::sleep_until(limit) => {
                    let work = WorkProgress::from("reading the file");
                    let unfinished =
                        UnfinishedWork { work, so_far: started.elapsed(), files_are_right: false };
                    return Ok(pushes.busy.then_some(unfinished));
                }
            }
        }
    }
}
