//! What a mounted server may ask of us: which folder the workspace is. Sampling is not offered, and nobody can be asked for
//! input on its behalf, which it is told by what we do not declare.

#![expect(
    deprecated,
    reason = "servers of the revisions before the newest know the workspace by roots alone"
)]

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::ErrorData;
use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, Implementation, ListRootsResult, ProgressNotificationParam,
    ProgressToken, Root,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use tokio::sync::mpsc::UnboundedSender;
use url::Url;

use crate::lsp::progress::ProgressEvent;
use crate::tools::hidden::escaped;

/// Of a message about progress so much is shown.
const MOST_CHARS: usize = 200;

/// Who waits for which call, by the token that its progress is told with.
#[derive(Debug, Clone, Default)]
pub(super) struct Waiting(Arc<Mutex<HashMap<ProgressToken, UnboundedSender<ProgressEvent>>>>);

impl Waiting {
    /// From now on `hearer` is told, until what is returned is dropped.
    pub(super) fn add(&self, token: ProgressToken, hearer: UnboundedSender<ProgressEvent>) -> Hearing {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(token.clone(), hearer);
        Hearing { waiting: self.clone(), token }
    }

    fn of(&self, token: &ProgressToken) -> Option<UnboundedSender<ProgressEvent>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(token).cloned()
    }
}

/// While it lives, someone hears of a call's progress.
#[derive(Debug)]
pub(super) struct Hearing {
    waiting: Waiting,
    token: ProgressToken,
}

impl Drop for Hearing {
    fn drop(&mut self) {
        self.waiting.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.token);
    }
}

/// Our side of one connection.
#[derive(Debug, Clone)]
pub(super) struct Handler {
    /// The server's name among ours.
    pub(super) name: String,
    /// The workspace.
    pub(super) root: Option<Url>,
    pub(super) waiting: Waiting,
    /// Counts how often the server said that its tools are others now.
    pub(super) changed: Arc<AtomicU64>,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_roots().build();
        ClientConfig::new(capabilities, Implementation::new("lsp-tools", env!("CARGO_PKG_VERSION")))
    }

    async fn list_roots(&self, _context: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Ok(ListRootsResult::new(self.root.iter().map(|root| Root::new(root.as_str())).collect()))
    }

    async fn on_progress(&self, told: ProgressNotificationParam, _context: NotificationContext<RoleClient>) {
        let Some(hearer) = self.waiting.of(&told.progress_token) else { return };
        let message: Option<String> =
            told.message.map(|message| escaped(&message).chars().take(MOST_CHARS).collect());
        let part = told.total.filter(|total| *total > 0.0).map(|total| told.progress / total * 100.0);
        // Saturates, and of what is no number makes 0.
        let percentage = part.map(|part| part.clamp(0.0, 100.0) as u8);
        let title = match (&message, percentage) {
            (None, None) => format!("{}", told.progress),
            _ => String::new(),
        };
        // Whoever waited may have gone away.
        let _unheard = hearer.send(ProgressEvent::ServerProgress {
            server: self.name.clone(),
            title,
            message,
            percentage,
        });
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.fetch_add(1, Ordering::SeqCst);
    }
}
