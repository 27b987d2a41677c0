//! A server for one caller alone. If two callers with unsaved texts of the same files keep
//! alternating, a second server is faster than switching one.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::slot::ServerSlot;
use super::{Manager, ManagerState, SessionUnavailable, SlotKey};
use crate::lsp::documents::view::View;
use crate::lsp::session::live_session::Session;
use crate::workspace::WorkspacePath;

/// The idle time after which a private server is stopped.
pub(super) const PRIVATE_SERVER_IDLE_TIMEOUT: Duration = Duration::from_secs(60);

impl Manager {
    /// Returns the session of `server` for `path`, for a caller with `view`. If a server runs for
    /// the view's holder alone, it is used; otherwise the shared one, like
    /// [`session`](Self::session). The private server is started beside the shared one, which
    /// answers meanwhile.
    pub(crate) async fn session_for(
        &self,
        server: &str,
        path: &WorkspacePath,
        view: &View,
        deadline: Instant,
    ) -> Result<Arc<Session>, SessionUnavailable> {
        let Some(holder) = view.holder() else { return self.session(server, path, deadline).await };
        let shared = &self.shared;
        let common = shared.key(server, path)?;
        let own = SlotKey { holder: Some(holder), ..common.clone() };
        let running = shared.slots.get(&own).and_then(|slot| slot.running_session());
        if let Some(session) = running {
            return Ok(session);
        }
        let session = self.session_of(common, deadline).await?;
        if session.take_contention() && shared.fits_another_server(&session).await {
            tracing::info!(
                server,
                "two clients have unsaved texts of the same files: one of them gets its own server"
            );
            // Begun while the entry is held: a slot at rest would be tidied away.
            shared
                .slots
                .entry(own.clone())
                .or_insert_with(|| Arc::new(ServerSlot::new(own)))
                .start_in_background(shared);
        }
        Ok(session)
    }

    /// Returns the running sessions that answer a caller with `view`: the shared ones, and the
    /// caller's own; none that serve another caller alone.
    pub(crate) fn sessions_for(&self, view: &View) -> Vec<Arc<Session>> {
        let slots: BTreeMap<SlotKey, Arc<ServerSlot>> =
            self.shared.slots.iter().map(|entry| (entry.key().clone(), entry.value().clone())).collect();
        let theirs = |key: &SlotKey| key.holder.is_none() || key.holder == view.holder();
        slots.iter().filter(|(key, _)| theirs(key)).filter_map(|(_, slot)| slot.running_session()).collect()
    }
}

impl ManagerState {
    /// Returns true if the memory budgets of the workspace and of the machine allow one more server
    /// as large as `session`.
    async fn fits_another_server(&self, session: &Session) -> bool {
        let size = session.resident_bytes().await.unwrap_or(0);
        let mut total = size;
        for running in self.running_sessions() {
            total += running.resident_bytes().await.unwrap_or(0);
        }
        let machine = self.setup.machine.clone();
        let fits = tokio::task::spawn_blocking(move || machine.has_room(size));
        total <= self.setup.settings.servers.memory_budget() && fits.await.unwrap_or(false)
    }
}
