//! The handler of a mounted server's requests: roots and elicitation. A form is filled in by whoever can answer for the call
//! that the server works on ([`super::elicitation`]). Sampling is not offered, nor are addresses opened.

#![expect(
    deprecated,
    reason = "servers of the revisions before the newest know the workspace by roots alone"
)]

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use rmcp::ErrorData;
use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, ElicitationCapability, ErrorCode, FormElicitationCapability, Implementation,
    ListRootsResult, ProgressNotificationParam, ProgressToken, Root,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use tokio::sync::mpsc::UnboundedSender;
use url::Url;

use super::elicitation::ElicitationRouter;
use crate::lsp::progress::ProgressEvent;
use crate::tools::hidden::escape_hidden;

/// Of a message about progress so much is shown.
const MAX_MOUNT_PROGRESS_CHARS: usize = 200;
/// So much that nobody is known to wait for is kept, for a moment.
const MAX_UNROUTED_PROGRESS_EVENTS: usize = 16;

/// Who waits for which call, by the token that its progress is told with.
#[derive(Debug, Clone, Default)]
pub(super) struct ProgressRouter(Arc<Mutex<ProgressRoutes>>);

#[derive(Debug, Default)]
struct ProgressRoutes {
    known: HashMap<ProgressToken, UnboundedSender<ProgressEvent>>,
    /// Told before it was known who waits: a server may be quicker than we learn our own request's token.
    early: VecDeque<(ProgressToken, ProgressEvent)>,
}

impl ProgressRouter {
    /// From now on `hearer` is told, until what is returned is dropped.
    pub(super) fn add(
        &self,
        token: ProgressToken,
        hearer: UnboundedSender<ProgressEvent>,
    ) -> ProgressRouteGuard {
        let mut hearers = self.0.lock();
        for (_, event) in hearers.early.iter().rev().filter(|(early, _)| *early == token) {
            // Whoever waits may have gone away.
            let _unheard = hearer.send(event.clone());
        }
        hearers.early.retain(|(early, _)| *early != token);
        hearers.known.insert(token.clone(), hearer);
        ProgressRouteGuard { router: self.clone(), token }
    }

    fn route_progress(&self, token: ProgressToken, event: ProgressEvent) {
        let mut hearers = self.0.lock();
        match hearers.known.get(&token) {
            Some(hearer) => {
                let _unheard = hearer.send(event);
            }
            None => {
                hearers.early.truncate(MAX_UNROUTED_PROGRESS_EVENTS - 1);
                hearers.early.push_front((token, event));
            }
        }
    }
}

/// While it lives, someone hears of a call's progress.
#[derive(Debug)]
pub(super) struct ProgressRouteGuard {
    router: ProgressRouter,
    token: ProgressToken,
}

impl Drop for ProgressRouteGuard {
    fn drop(&mut self) {
        self.router.0.lock().known.remove(&self.token);
    }
}

/// Our side of one connection.
#[derive(Debug, Clone)]
pub(super) struct MountClientHandler {
    /// The server's name among ours.
    pub(super) name: String,
    /// The workspace.
    pub(super) root: Option<Url>,
    pub(super) progress: ProgressRouter,
    /// Who is asked.
    pub(super) elicitations: ElicitationRouter,
    /// Counts how often the server said that its tools are others now.
    pub(super) changed: Arc<AtomicU64>,
}

impl MountClientHandler {
    /// The workspace, as servers are told of it.
    pub(super) fn roots(&self) -> ListRootsResult {
        ListRootsResult::new(self.root.iter().map(|root| Root::new(root.as_str())).collect())
    }
}

impl ClientHandler for MountClientHandler {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::builder().enable_roots().build();
        let mut elicitation = ElicitationCapability::default();
        elicitation.form = Some(FormElicitationCapability::new());
        capabilities.elicitation = Some(elicitation);
        ClientConfig::new(capabilities, Implementation::new("lsp-tools", env!("CARGO_PKG_VERSION")))
    }

    async fn list_roots(&self, _context: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Ok(self.roots())
    }

    async fn create_message(
        &self,
        _params: CreateMessageRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        tracing::info!(
            server = self.name,
            "a mounted server wants a model to be asked, which is not offered"
        );
        let what = "sampling is not supported";
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, what, None))
    }

    async fn create_elicitation(
        &self,
        form: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(self.elicitations.ask(&self.name, form).await)
    }

    async fn on_progress(&self, told: ProgressNotificationParam, _context: NotificationContext<RoleClient>) {
        let message: Option<String> = told
            .message
            .map(|message| escape_hidden(&message).chars().take(MAX_MOUNT_PROGRESS_CHARS).collect());
        let part = told.total.filter(|total| *total > 0.0).map(|total| told.progress / total * 100.0);
        // Saturates, and of what is no number makes 0.
        let percentage = part.map(|part| part.clamp(0.0, 100.0) as u8);
        let title = match (&message, percentage) {
            (None, None) => format!("{}", told.progress),
            _ => String::new(),
        };
        let server = self.name.clone();
        let event = ProgressEvent::ServerProgress { server, title, message, percentage };
        self.progress.route_progress(told.progress_token, event);
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.fetch_add(1, Ordering::SeqCst);
    }
}
