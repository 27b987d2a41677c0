//! What is wanted of a session of the Copilot command line, what happens in it, and what came of it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use crate::policy::approval::Approver;
use crate::policy::caller::CallerAccess;
use crate::runtime::tool_backend::ToolBackend;

/// What is wanted.
pub(crate) struct HostOptions {
    /// What is asked of the model.
    pub(crate) prompt: String,
    /// The model's name; by default what `COPILOT_MODEL` says, or the account's own.
    pub(crate) model: Option<String>,
    /// The command line; by default the one on PATH or in the private prefix.
    pub(crate) program: Option<PathBuf>,
    /// A file with `mcpServers` for the session.
    pub(crate) mcp_config: Option<PathBuf>,
    /// The session that goes on, with the tools, agents and servers of now.
    pub(crate) resume: Option<String>,
    /// The agent of the settings as which the session begins.
    pub(crate) agent: Option<String>,
    /// Which tools there are; names of the command line's own tools count as well.
    pub(crate) access: CallerAccess,
    /// Whether the model's words come as they are made.
    pub(crate) streaming: bool,
    /// How long the whole may take.
    pub(crate) limit: Duration,
    /// Install the command line where it is missing.
    pub(crate) install: bool,
    /// The backend whose tools are offered.
    pub(crate) backend: Arc<dyn ToolBackend>,
    /// Who is asked where rules leave a call open.
    pub(crate) approver: Arc<dyn Approver>,
    /// Who sees the session.
    pub(crate) events: UnboundedSender<HostEvent>,
    /// Ends it, in order.
    pub(crate) stop: CancellationToken,
}

impl HostOptions {
    /// Tells whoever sees the session.
    pub(super) fn send_event(&self, told: HostEvent) {
        // Whoever looked on may have gone.
        let _unseen = self.events.send(told);
    }
}

/// What happens in a session.
#[derive(Debug, Clone)]
pub(crate) enum HostEvent {
    /// Something that is done beside the session, in a sentence.
    Note(String),
    /// An event as the command line sent it: `type`, `data`, `agentId`.
    Event(Value),
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostOutcome {
    /// The model's last words.
    pub(crate) answer: String,
    /// The session; also the group under which its edits are undone.
    pub(crate) session: String,
    /// Calls of our tools.
    pub(crate) calls: usize,
    /// Whether it was stopped before its end.
    pub(crate) stopped: bool,
}
