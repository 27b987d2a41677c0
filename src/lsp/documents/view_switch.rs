//! The switch of a server from one view to another.
//!
//! A server has one text per document, so callers with the same view share it. A caller with
//! another view has exclusive use of the server during its question: [`Session::enter_view`] makes
//! the smallest change to the server's texts, and other callers wait. The next caller with another
//! view changes them back. Callers are served in the order of their requests. If two callers with
//! different unsaved texts of the same files keep alternating, the manager starts a second server
//! for one of them.

use tokio::sync::{RwLockReadGuard, RwLockWriteGuard};
use tokio::time::Instant;

use super::view::{ShownView, View};
use crate::lsp::session::ask::AskError;
use crate::lsp::session::live_session::Session;
use crate::rpc::RequestError;
use crate::text::Buffer;
use crate::workspace::WorkspacePath;

/// Keeps one view at the server while it lives. Callers must not enter a session twice at once.
#[derive(Debug)]
pub(crate) struct ViewGuard<'a>(#[allow(dead_code)] /* held, not read */ RwLockReadGuard<'a, ShownView>);

impl Session {
    /// Switches the server to `view`; waits, at most until `deadline`, for callers with other
    /// views. Only the part of the view that concerns this server counts: callers that differ in
    /// nothing else do not wait for each other.
    pub(crate) async fn enter_view(&self, view: &View, deadline: Instant) -> Result<ViewGuard<'_>, AskError> {
        let began = Instant::now();
        let view = &view.filtered(|path, unsaved| self.concerns_text(path, unsaved.first_line().as_deref()));
        let entered = tokio::time::timeout_at(deadline, async {
            let shown = self.view.read().await;
            if shown.shows(view) {
                return shown;
            }
            drop(shown);
            let mut shown = self.view.write().await;
            if !shown.shows(view) {
                self.switch_view(&mut shown, view).await;
            }
            RwLockWriteGuard::downgrade(shown)
        });
        let shown = entered.await.map_err(|_| RequestError::Timeout {
            method: "the end of another caller's questions about unsaved text".to_owned(),
            waited: began.elapsed(),
        })?;
        Ok(ViewGuard(shown))
    }

    /// Returns true once when two holders of texts over the same files keep taking the session from
    /// each other, and again after as many switches.
    pub(crate) fn take_contention(&self) -> bool {
        self.contention.lock().take_exceeded()
    }

    /// Returns true if the present caller's view is the disk.
    pub(crate) fn sees_disk(&self) -> bool {
        self.unsaved.lock().is_disk()
    }

    /// The text that hides `path` in the present caller's view.
    pub(crate) fn unsaved_buffer(&self, path: &WorkspacePath) -> Option<Buffer> {
        let unsaved = self.unsaved.lock();
        unsaved.unsaved(path).map(|unsaved| unsaved.buffer().clone())
    }

    /// Sends the differences between two views.
    async fn switch_view(&self, shown: &mut ShownView, wanted: &View) {
        shown.begin_switch(wanted);
        self.contention.lock().record_holder(wanted, Instant::now());
        *self.unsaved.lock() = wanted.clone();
        self.state.advance_epoch();
        self.sync_all(&shown.stale_paths().iter().collect::<Vec<_>>()).await;
        self.note_shown(shown.stale_paths().iter());
        shown.finish_switch();
    }
}
