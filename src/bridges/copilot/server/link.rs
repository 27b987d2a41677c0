//! One running Copilot server: its process, connection, open documents, and end.

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

/// The time limit for short requests.
pub(super) const COPILOT_REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// The time limit for `shutdown`.
const COPILOT_SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);
/// The time for the server to exit after `exit`.
const COPILOT_EXIT_GRACE_PERIOD: Duration = Duration::from_millis(500);
/// The time to wait for the exit status after the end of the output.
const COPILOT_EXIT_STATUS_TIMEOUT: Duration = Duration::from_secs(2);

/// A weak reference to the link of the server's requests, set shortly after its creation.
#[derive(Debug, Default)]
pub(super) struct WeakCopilotLink(OnceLock<Weak<CopilotLink>>);

impl WeakCopilotLink {
    /// Returns the link while it lives.
    pub(super) fn link(&self) -> Option<Arc<CopilotLink>> {
        self.0.get().and_then(Weak::upgrade)
    }

    /// Sets the reference to `link`, once.
    pub(super) fn set(&self, link: &Arc<CopilotLink>) {
        let _first = self.0.set(Arc::downgrade(link));
    }
}

/// A running server after its handshake and the registration of our tools.
#[derive(Debug)]
pub(crate) struct CopilotLink {
    pub(super) connection: Peer,
    pub(super) documents: CopilotDocuments,
    pub(super) process: ServerProcess,
    /// The server's `serverInfo` (LSP 3.17).
    pub(crate) info: OnceLock<Value>,
    /// The registration of the tools.
    pub(crate) registration: OnceLock<CopilotRegistration>,
}

impl CopilotLink {
    /// Sends a request, and waits for the response at most `limit`.
    pub(super) async fn request(
        &self,
        method: &str,
        params: &Value,
        limit: Duration,
    ) -> Result<Value, CopilotError> {
        let answer = self.connection.request(method, params, Instant::now() + limit).await;
        answer.map_err(CopilotError::from_request_error)
    }

    /// Opens a file in the server, or syncs it.
    pub(super) async fn open_document(&self, context: &CopilotContext, path: WorkspacePath) {
        self.documents.open(path, &context.runtime(), &context.caller, &self.connection).await;
    }

    /// Returns true while the connection is open.
    pub(super) fn is_alive(&self) -> bool {
        self.connection.close_reason().is_none()
    }

    /// Returns `error`; if the server has exited, with its exit report.
    pub(super) async fn with_exit_report(&self, error: CopilotError) -> CopilotError {
        match error {
            CopilotError::Ended { .. } => CopilotError::Ended { detail: self.exit_report().await },
            other => other,
        }
    }

    /// The exit status and the last line of the standard error.
    pub(super) async fn exit_report(&self) -> String {
        let exit = tokio::time::timeout(COPILOT_EXIT_STATUS_TIMEOUT, self.process.wait()).await;
        let exit = match exit {
            Ok(exit) => exit.to_string(),
            Err(_) => self.connection.close_reason().unwrap_or_else(|| "it does not answer".to_owned()),
        };
        match self.process.stderr_tail().last() {
            Some(line) => format!("{exit}; its last output: {line}"),
            None => exit,
        }
    }

    /// The server's process id.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.process.pid()
    }

    /// Unregisters our tools and ends the server.
    pub(super) async fn end(&self) {
        if self.is_alive() {
            if let Some(registration) = self.registration.get() {
                register::unregister(&self.connection, registration).await;
            }
            let shutdown = self
                .connection
                .request::<Value>("shutdown", &(), Instant::now() + COPILOT_SHUTDOWN_TIMEOUT)
                .await;
            if let Err(error) = shutdown {
                tracing::debug!(
                    "the Copilot language server is killed, because it did not shut down: {error}"
                );
            }
            self.connection.notify("exit", &());
        }
        self.process.terminate(COPILOT_EXIT_GRACE_PERIOD).await;
        self.connection.close("it was ended");
    }
}
