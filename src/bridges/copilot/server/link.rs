//! One running Copilot server: its process, conversation, open documents, and end.

use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::context::CopilotContext;
use super::documents::CopilotDocuments;
use super::error::CopilotError;
use super::register::{self, CopilotRegistration};
use crate::process::ServerProcess;
use crate::rpc::Peer;
use crate::workspace::WorkspacePath;

/// How long a short question may take.
pub(super) const COPILOT_REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// How long `shutdown` may take.
const COPILOT_SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);
/// How long the server has to leave after `exit`.
const COPILOT_EXIT_GRACE_PERIOD: Duration = Duration::from_millis(500);
/// How long after the end of its output its exit status is waited for.
const COPILOT_EXIT_STATUS_TIMEOUT: Duration = Duration::from_secs(2);

/// The way from what the server asks to the link it asks on, which is there a moment later.
#[derive(Debug, Default)]
pub(super) struct WeakCopilotLink(OnceLock<Weak<CopilotLink>>);

impl WeakCopilotLink {
    /// The link, while it lives.
    pub(super) fn link(&self) -> Option<Arc<CopilotLink>> {
        self.0.get().and_then(Weak::upgrade)
    }

    /// Makes it the way to `link`; once.
    pub(super) fn set(&self, link: &Arc<CopilotLink>) {
        let _first = self.0.set(Arc::downgrade(link));
    }
}

/// A running server that has been through its handshake and knows our tools.
#[derive(Debug)]
pub(crate) struct CopilotLink {
    pub(super) connection: Peer,
    pub(super) documents: CopilotDocuments,
    pub(super) process: ServerProcess,
    /// What the server says of itself (LSP 3.17, `serverInfo`).
    pub(crate) info: OnceLock<Value>,
    /// What came of the registration.
    pub(crate) registration: OnceLock<CopilotRegistration>,
}

impl CopilotLink {
    /// Asks, and waits for the answer so long at most.
    pub(super) async fn request(
        &self,
        method: &str,
        params: &Value,
        limit: Duration,
    ) -> Result<Value, CopilotError> {
        let answer = self.connection.request(method, params, Instant::now() + limit).await;
        answer.map_err(CopilotError::from_request_error)
    }

    /// Opens a file in the server, or brings it in step.
    pub(super) async fn open_document(&self, context: &CopilotContext, path: WorkspacePath) {
        self.documents.open(path, &context.runtime(), &context.caller, &self.connection).await;
    }

    /// Whether it still runs.
    pub(super) fn is_alive(&self) -> bool {
        self.connection.close_reason().is_none()
    }

    /// `error`; where the server has ended, with how it ended and its last words.
    pub(super) async fn with_exit_report(&self, error: CopilotError) -> CopilotError {
        match error {
            CopilotError::Ended { .. } => CopilotError::Ended { detail: self.exit_report().await },
            other => other,
        }
    }

    /// How it ended, and what it wrote last.
    pub(super) async fn exit_report(&self) -> String {
        let exit = tokio::time::timeout(COPILOT_EXIT_STATUS_TIMEOUT, self.process.wait()).await;
        let exit = match exit {
            Ok(exit) => exit.to_string(),
            Err(_) => self.connection.close_reason().unwrap_or_else(|| "it does not answer".to_owned()),
        };
        match self.process.stderr_tail().last() {
            Some(line) => format!("{exit}; its last words: {line}"),
            None => exit,
        }
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.process.pid()
    }

    /// Takes our tools back and ends it.
    pub(super) async fn end(&self) {
        if self.is_alive() {
            if let Some(registration) = self.registration.get() {
                register::unregister(&self.connection, registration).await;
            }
            let asked = self
                .connection
                .request::<Value>("shutdown", &(), Instant::now() + COPILOT_SHUTDOWN_TIMEOUT)
                .await;
            if let Err(error) = asked {
                tracing::debug!("the Copilot language server is killed, since it did not shut down: {error}");
            }
            self.connection.notify("exit", &());
        }
        self.process.terminate(COPILOT_EXIT_GRACE_PERIOD).await;
        self.connection.close("it was ended");
    }
}
