//! The handler of a mounted server's requests: roots and elicitation.
//!
//! The approver of the running call answers forms ([`super::elicitation`]). Sampling is not
//! offered, and URLs are not opened.

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
use crate::lsp::session::progress::ProgressEvent;
use crate::tools::api::hidden::escape_hidden;

/// The length limit of a displayed progress message, in characters.
const MAX_MOUNT_PROGRESS_CHARS: usize = 200;
/// The number of progress events kept while their receiver is unknown.
const MAX_UNROUTED_PROGRESS_EVENTS: usize = 16;

/// The receivers of progress, by token.
#[derive(Debug, Clone, Default)]
pub(super) struct ProgressRouter(Arc<Mutex<ProgressRoutes>>);

#[derive(Debug, Default)]
struct ProgressRoutes {
    known: HashMap<ProgressToken, UnboundedSender<ProgressEvent>>,
    /// Events that arrived before their receiver. A server may send progress before we know our own
    /// request's token.
    early: VecDeque<(ProgressToken, ProgressEvent)>,
}

impl ProgressRouter {
    /// Sends progress with `token` to `hearer` until the returned guard is dropped.
    pub(super) fn add(
        &self,
        token: ProgressToken,
        hearer: UnboundedSender<ProgressEvent>,
    ) -> ProgressRouteGuard {
        let mut hearers = self.0.lock();
        for (_, event) in hearers.early.iter().rev().filter(|(early, _)| *early == token) {
            // The receiver may be closed.
            let _ignored = hearer.send(event.clone());
        }
        hearers.early.retain(|(early, _)| *early != token);
        hearers.known.insert(token.clone(), hearer);
        ProgressRouteGuard { router: self.clone(), token }
    }

    fn route_progress(&self, token: ProgressToken, event: ProgressEvent) {
        let mut hearers = self.0.lock();
        match hearers.known.get(&token) {
            Some(hearer) => {
                let _ignored = hearer.send(event);
            }
            None => {
                hearers.early.truncate(MAX_UNROUTED_PROGRESS_EVENTS - 1);
                hearers.early.push_front((token, event));
            }
        }
    }
}

/// Routes the progress of a call while it lives.
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

/// The client side of one connection.
#[derive(Debug, Clone)]
pub(super) struct MountClientHandler {
    /// The server's name in the settings.
    pub(super) name: String,
    /// The root of the workspace.
    pub(super) root: Option<Url>,
    pub(super) progress: ProgressRouter,
    /// Routes elicitations to approvers.
    pub(super) elicitations: ElicitationRouter,
    /// Counts change notifications for the list of tools.
    pub(super) changed: Arc<AtomicU64>,
}

impl MountClientHandler {
    /// The workspace as an MCP root.
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
        tracing::info!(server = self.name, "a mounted server requested sampling, which is not supported");
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

    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        let message: Option<String> = progress
            .message
            .map(|message| escape_hidden(&message).chars().take(MAX_MOUNT_PROGRESS_CHARS).collect());
        let part = progress.total.filter(|total| *total > 0.0).map(|total| progress.progress / total * 100.0);
        // Saturates, and converts NaN to 0.
        let percentage = part.map(|part| part.clamp(0.0, 100.0) as u8);
        let title = match (&message, percentage) {
            (None, None) => format!("{}", progress.progress),
            _ => String::new(),
        };
        let server = self.name.clone();
        let event = ProgressEvent::ServerProgress { server, title, message, percentage };
        self.progress.route_progress(progress.progress_token, event);
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.fetch_add(1, Ordering::SeqCst);
    }
}
